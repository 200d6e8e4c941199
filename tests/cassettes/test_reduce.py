"""The bounded view of a body agrees with the full parser about what is JSON, and shortens packed arrays only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes.reduce import reduced, summarized
from keepa_cli.keepa.strictjson import load_json

LONG = list(range(1000, 1200))
numbers = st.lists(st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False), max_size=400)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | numbers,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def structure(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: structure(v) for k, v in value.items()}
    if isinstance(value, list) and not all(isinstance(v, int | float) and not isinstance(v, bool) for v in value):
        return [structure(v) for v in value]
    return [] if isinstance(value, list) else value


@given(values)
@settings(max_examples=60, deadline=None)
def test_everything_but_packed_arrays_is_unchanged(value: Any) -> None:
    assert structure(reduced(json.dumps(value).encode())) == structure(value)


def test_a_long_array_is_shortened_and_keeps_its_remainder() -> None:
    for length in (300, 301, 302, 303):
        found = reduced(json.dumps({"csv": [list(range(length))]}).encode())["csv"][0]
        assert len(found) < 20
        assert len(found) % 2 == length % 2
        assert len(found) % 3 == length % 3
        assert found == list(range(len(found)))


@pytest.mark.parametrize(
    "broken",
    [
        lambda t: t.replace("1100,", "1100,,"),
        lambda t: t.replace("1100", "11.00.1"),
        lambda t: t.replace("1100", "01100"),
        lambda t: t[:-2] + ",]}",
        lambda t: t.replace("[", "[,"),
        lambda t: t[:-2],
        lambda t: t.replace("1100", "1e999"),
    ],
)
def test_a_defect_inside_a_long_array_is_still_a_defect(broken: Any) -> None:
    text = broken(json.dumps({"csv": LONG})).encode()
    with pytest.raises(ValueError):
        load_json(text)
    with pytest.raises(ValueError):
        reduced(text)


def test_a_defect_beyond_the_first_piece_is_found() -> None:
    good = json.dumps(list(range(100_000)))
    assert len(reduced(good.encode())) < 20
    with pytest.raises(ValueError):
        reduced(good.replace(" 99999", " 9999 9").encode())
    with pytest.raises(ValueError):
        reduced(good.replace("]", ",]").encode())


def test_brackets_and_dashes_inside_a_string_are_text() -> None:
    for text in ("[" + "-" * 400 + "]", "[" + "1, " * 300 + "]", "[" + " " * 300 + "]"):
        found = reduced(json.dumps({"title": text, "x": [1]}).encode())
        assert found["title"] == text
    inside = json.dumps({"title": str(LONG), "x": 1}).encode()
    assert reduced(inside)["x"] == 1
    assert summarized(inside)["x"] == 1


def test_a_long_list_of_codes_is_shortened_where_it_is_one() -> None:
    codes = [f"B{n:09}" for n in range(1000)]
    assert reduced(json.dumps({"asinList": codes}).encode())["asinList"] == codes[:12]
    mixed = [*codes, 7]
    assert reduced(json.dumps({"asinList": mixed}).encode())["asinList"] == mixed
    for broken in ('"B000000500" "', '"B000000500",,"', '"B000000500"X"'):
        with pytest.raises(ValueError):
            reduced(json.dumps({"asinList": codes}).replace('"B000000500", "', broken).encode())
    text = json.dumps({"title": "X[", "more": ["A", ",", "B"], "asinList": codes, "x": "]"})
    assert reduced(text.encode()) == json.loads(text) | {"asinList": codes[:12]}


def test_a_summary_changes_with_any_number() -> None:
    changed = [*LONG[:77], 5, *LONG[78:]]
    first, second = (summarized(json.dumps({"csv": [v]}).encode()) for v in (LONG, changed))
    assert first["csv"][0].startswith("200 numbers, last 1199")
    assert first != second


def test_real_bodies_shrink_and_keep_their_structure(shared_data: Path) -> None:
    for path in shared_data.glob("*.json"):
        data = path.read_bytes()
        view = reduced(data)
        assert len(json.dumps(view)) < len(data) / 8
        assert view["products"][0].keys() == json.loads(data)["products"][0].keys()
        assert len(view["products"][0]["csv"]) == len(json.loads(data)["products"][0]["csv"])
