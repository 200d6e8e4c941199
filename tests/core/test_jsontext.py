from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.jsontext import members, paths_at, value_end

TEXT = (
    b'{"a":{"key":"x\\"y","b":[1,{"Key":[{"q":"]"},2]}]},"KEY" :\n null,"c":"\\"key\\": 1","\\u006bEY":1.5,"monkey":2}'
)


def test_members_are_found_by_name_with_the_place_of_their_value() -> None:
    found = [(name, TEXT[start:end]) for name, start, end in members(TEXT, "key")]
    assert found == [("key", b'"x\\"y"'), ("Key", b'[{"q":"]"},2]'), ("KEY", b"null"), ("kEY", b"1.5")]


def test_members_inside_a_found_member_are_part_of_it() -> None:
    assert [name for name, _, _ in members(b'{"key":{"key":1},"token":[{"key":2}]}', "key|token")] == ["key", "token"]


def test_text_that_ends_early_is_read_as_far_as_it_goes() -> None:
    for cut in range(len(TEXT)):
        for _, start, end in members(TEXT[:cut], "key"):
            assert start <= end <= cut
    assert value_end(b'"never closed', 0) == len(b'"never closed')
    assert value_end(b'{"a":[1,2', 0) == len(b'{"a":[1,2')
    assert value_end(b'"x\\', 0) == 3


def test_paths() -> None:
    spots = {TEXT.index(b'"x'): "$.a.key", TEXT.index(b'"]"'): "$.a.b[1].Key[0].q", TEXT.index(b"1.5"): "$.kEY", 0: "$"}
    assert paths_at(TEXT, spots) == spots


def _strings(value: Any, path: str = "$") -> dict[str, str]:
    if isinstance(value, dict):
        return {k: v for name, item in value.items() for k, v in _strings(item, f"{path}.{name}").items()}
    if isinstance(value, list):
        return {k: v for i, item in enumerate(value) for k, v in _strings(item, f"{path}[{i}]").items()}
    return {path: value} if isinstance(value, str) else {}


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.integers() | st.none() | st.just("needle") | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1), inner, max_size=4),
        max_leaves=15,
    )
)
def test_every_string_has_its_path(value: Any) -> None:
    text = json.dumps(value).encode()
    wanted = [path for path, found in _strings(value).items() if found == "needle"]
    offsets = []
    at = text.find(b'"needle"')
    while at >= 0:
        if text[at + 8 : at + 9] != b":":
            offsets.append(at + 1)
        at = text.find(b'"needle"', at + 1)
    assert [paths_at(text, offsets)[o] for o in offsets] == wanted
