from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.ops._jsonc import Broken, load, put

ENTRY = {"command": "kc", "args": ["mcp", "serve"]}
COMMENTED = """// my servers
{
    "mcpServers": {
        "other": {"command": "x", "args": [1.50, 1e3]}, // keep
        /* and this */ "last": {"command": "y"} // behind it
    }, "theme": "dark", // trailing
}
"""


def test_a_new_entry_leaves_every_other_character_as_it_was() -> None:
    found = put(COMMENTED, ("mcpServers", "keepa"), ENTRY)
    assert load(found) == load(COMMENTED) | {"mcpServers": load(COMMENTED)["mcpServers"] | {"keepa": ENTRY}}
    kept = [line for line in COMMENTED.splitlines() if '"last"' not in line]
    assert [line for line in found.splitlines() if line in kept] == kept
    assert '"last": {"command": "y"}, // behind it\n        "keepa": {\n            "command": "kc",' in found


def test_a_value_that_is_there_is_replaced_alone() -> None:
    found = put(COMMENTED, ("mcpServers", "last", "command"), "z")
    assert found == COMMENTED.replace('"y"', '"z"')


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "{\n}\n", "{ // nothing yet\n}",
        '{"a": 1}', '{"a": 1,}', '{\n\t"a": 1\n}\n', '{\r\n  "a": {}\r\n}\r\n',
        '{"mcpServers": {}}', '{\n  "mcpServers": {\n  }\n}', '{\n  "mcpServers": {"a": {}}}', '\n{"a":\n[1,2,],}\n',
    ],
)  # fmt: skip
def test_any_layout_takes_an_entry(text: str) -> None:
    found = put(text, ("mcpServers", "keepa"), ENTRY)
    before = load(text) if text.strip() else {}
    assert load(found) == before | {"mcpServers": before.get("mcpServers", {}) | {"keepa": ENTRY}}
    assert "\r\n" not in text or "\n" not in found.replace("\r\n", "")
    assert put(found, ("mcpServers", "keepa", "command"), "kc") == found


@pytest.mark.parametrize(
    "text",
    ["{", "[1]", '{"a" 1}', '{"a": }', "{'a': 1}", '{"a": 1 "b": 2}', '{"a": 1} x', '"text"', '{"a": tru}', "[" * 999],
)
def test_broken_files_are_refused_with_the_line(text: str) -> None:
    with pytest.raises(Broken, match="line 1"):
        put(text, ("mcpServers", "keepa"), ENTRY)


def test_something_else_in_the_place_of_an_object_is_refused() -> None:
    with pytest.raises(Broken, match="line 2: mcpServers is no object"):
        put('{\n"mcpServers": []}', ("mcpServers", "keepa"), ENTRY)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.sampled_from([None, 1, 2, "\t"]), st.booleans())
def test_any_object_keeps_its_data(data: dict[str, Any], indent: Any, ascii_only: bool) -> None:
    data.pop("mcpServers", None)
    text = json.dumps(data, indent=indent, ensure_ascii=ascii_only)
    assert load(text) == data
    found = put(text, ("mcpServers", "keepa"), ENTRY)
    assert load(found) == data | {"mcpServers": {"keepa": ENTRY}}
    assert put(found, ("mcpServers", "keepa"), ENTRY) == found
    assert list(load(found)) == [*data, "mcpServers"]
