"""Eval files are read strictly: whatever is not understood is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.evals import find_files, load_file

GOOD: dict[str, Any] = {
    "id": "domains",
    "description": "Lists the marketplaces.",
    "command": "domains.list",
    "assertions": [{"path": "$.data.domains", "min": 1}],
}


def write(folder: Path, content: Any) -> Path:
    path = folder / "one.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def without(key: str) -> dict[str, Any]:
    return {k: v for k, v in GOOD.items() if k != key}


def with_check(**check: Any) -> dict[str, Any]:
    return GOOD | {"assertions": [{"path": "$.data"} | check]}


def test_a_good_file_is_read(tmp_path: Path) -> None:
    found = load_file(write(tmp_path, GOOD))
    assert (found.id, found.kind, len(found.steps)) == ("domains", "command", 1)
    assert found.steps[0].command == "domains.list"


BROKEN = [
    (b"", "not JSON"),
    (b"\xff\xfe", "not UTF-8"),
    (b"[]", "one JSON object"),
    (b'{"id": "a", "id": "b"}', "'id' stands twice"),
    (b'{"id": NaN}', "NaN is no JSON number"),
    (b'{"a":' * 100_000, "nested too deeply"),
    (GOOD | {"asertions": []}, "did you mean 'assertions'?"),
    (GOOD | {"expect": {}}, "the key 'expect' is not known"),
    (without("id"), "$.id"),
    (GOOD | {"id": "Not A Name"}, "$.id"),
    (without("description"), "$.description"),
    (without("command"), "either a command or steps"),
    (GOOD | {"steps": []}, "either a command or steps"),
    (without("command") | {"steps": []}, "at least one step"),
    (without("command") | {"steps": [{"command": "doctor", "asserts": []}]}, "did you mean 'assertions'?"),
    (without("command") | {"steps": [{"command": "doctor"}], "assertions": []}, "asserts nothing"),
    (without("command") | {"steps": [{"command": "doctor"}], "mode": "replay"}, "belongs to each step"),
    (GOOD | {"command": "kc domains list"}, "dotted name"),
    (GOOD | {"assertions": []}, "asserts nothing"),
    (GOOD | {"assertions": {}}, "list of assertions"),
    (without("assertions"), "asserts nothing"),
    (GOOD | {"params": []}, "$.params"),
    (GOOD | {"mode": "live"}, "spends tokens"),
    (GOOD | {"mode": "record"}, "spends tokens"),
    (GOOD | {"mode": "reply"}, "is no mode"),
    (GOOD | {"mode": "fixture"}, "goes with the mode fixture"),
    (GOOD | {"mode": "replay", "fixture": "x"}, "goes with the mode fixture"),
    (GOOD | {"kind": "comand"}, "did you mean 'command'?"),
    (with_check(), "has 0 checks"),
    (with_check(equals=1, min=1), "has 2 checks"),
    (with_check(equal=1), "did you mean 'equals'?"),
    (with_check(exists="yes"), "true or false"),
    (with_check(min="1"), "takes a number"),
    (with_check(max=True), "takes a number"),
    (with_check(length=-1), "at least 0"),
    (with_check(type="str"), "takes string, integer"),
    (with_check(type=[]), "takes string, integer"),
    (with_check(one_of=[]), "at least one value"),
    (with_check(matches="("), "not a regular expression"),
    (with_check(matches="(a+)+$"), "can take for ever"),
    (with_check(matches="(a|aa)*$"), "can take for ever"),
    (with_check(schema={"type": "strin"}), "is not a JSON Schema"),
    (with_check(schema=True), "JSON Schema object"),
    (GOOD | {"assertions": [{"path": "data..x", "min": 1}]}, "$.assertions[0].path"),
    (GOOD | {"assertions": [{"min": 1}]}, "$.assertions[0].path"),
]


@pytest.mark.parametrize(("content", "says"), BROKEN, ids=range(len(BROKEN)))
def test_a_defect_is_named(content: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(KeepaCliError) as caught:
        load_file(write(tmp_path, content))
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
    assert says in caught.value.message
    assert caught.value.message.startswith("one.json: ")


@pytest.mark.parametrize("pattern", [r"^\d{4}-\d\d", "(ab)?c+", "(?:x{3})+", "a|b", "^[A-Z0-9]{10}$"])
def test_harmless_patterns_are_taken(pattern: str, tmp_path: Path) -> None:
    load_file(write(tmp_path, with_check(matches=pattern)))


def test_files_are_found_in_sub_folders_in_order(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/z.json", "c.json", "a.json", "notes.txt"):
        (tmp_path / name).write_text("{}")
    assert [p.name for p in find_files(tmp_path)] == ["a.json", "z.json", "c.json"]
