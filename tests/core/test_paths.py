"""Paths into an envelope."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.core.paths import Missing, parse, render

BODY = {"data": {"body": {"products": [{"asin": "A"}, {"asin": "B", "a.key": 7}], "1": "one", "": "empty"}}}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.data.body.products[0].asin", "A"),
        ("data.body.products[1].asin", "B"),
        ("$.data.body.products[-1]['a.key']", 7),
        ('data.body.products[1]["a.key"]', 7),
        ("data.body.products.1.asin", "B"),
        ("data.body.1", "one"),
        ('data.body[""]', "empty"),
        ("$", BODY),
        ('["data"].body.1', "one"),
    ],
)
def test_finds(path: str, expected: object) -> None:
    assert parse(path).get(BODY) == expected


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("data.body.products[2].asin", "nothing at $.data.body.products[2]"),
        ("data.nobody.x", "nothing at $.data.nobody"),
        ("data.body.products[0].asin.length", "$.data.body.products[0].asin is string"),
        ("data.body.products[0][0]", "$.data.body.products[0] is object"),
        ("data.body.products.first", "is array"),
    ],
)
def test_says_where_the_path_ends(path: str, says: str) -> None:
    with pytest.raises(Missing) as caught:
        parse(path).get(BODY)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "path", ["", "  ", None, 3, ".data", "data..body", "data[", "data[x]", "data[*]", "$data", "data.", "a b", "data]"]
)
def test_refuses_what_is_no_path(path: object) -> None:
    with pytest.raises(ValueError, match="path"):
        parse(path)


@given(st.lists(st.one_of(st.text(max_size=8), st.integers(0, 9)), min_size=1, max_size=5))
def test_every_rendered_path_reads_back(parts: list[str | int]) -> None:
    value: object = "found"
    for part in reversed(parts):
        value = {part: value} if isinstance(part, str) else [None] * part + [value]
    assert parse(render(tuple(parts))).get(value) == "found"
