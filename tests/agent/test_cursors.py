from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.agent.cursors import Pager
from keepa_cli.agent.problems import INVALID_PARAMS, ProtocolError

PAGER = Pager(b"key of this test")
ITEMS = list(range(57))


def walk(limit: int | None, first: int | None = None, filters: dict[str, Any] | None = None) -> list[list[int]]:
    pages, cursor = [], None
    while True:
        params = {"cursor": cursor} | ({"limit": limit} if limit else {})
        found = PAGER.page("tools", ITEMS, params, filters or {}, first)
        pages.append(found["tools"])
        assert found["_meta"]["total_count"] == len(ITEMS)
        assert found["_meta"]["has_more"] == ("nextCursor" in found)
        cursor = found.get("nextCursor")
        if cursor is None:
            return pages


@given(limit=st.integers(1, 100))
def test_pages_hold_every_item_once_in_order(limit: int) -> None:
    assert [i for page in walk(limit) for i in page] == ITEMS


def test_without_a_limit_everything_comes_at_once_unless_the_first_page_is_small() -> None:
    assert walk(None) == [ITEMS]
    assert list(map(len, walk(None, first=8))) == [8, 49]


@pytest.mark.parametrize("change", ["filters", "collection", "edited", "other server", "junk", "number", "long"])
def test_a_cursor_is_good_for_its_list_only(change: str) -> None:
    cursor = PAGER.page("tools", ITEMS, {"limit": 5}, {"profile": "a"})["nextCursor"]
    pager = Pager(b"another key") if change == "other server" else PAGER
    edited = {"edited": cursor[:-2] + "AA", "junk": "ümlaut", "number": 5, "long": "A" * 5000}.get(change, cursor)
    with pytest.raises(ProtocolError) as caught:
        pager.page(
            "prompts" if change == "collection" else "tools",
            ITEMS,
            {"cursor": edited},
            {"profile": "b" if change == "filters" else "a"},
        )
    assert caught.value.code == INVALID_PARAMS


@pytest.mark.parametrize("limit", [0, 101, -1, "5", True, 1.5])
def test_a_limit_out_of_range_is_refused(limit: Any) -> None:
    with pytest.raises(ProtocolError, match="limit"):
        PAGER.page("tools", ITEMS, {"limit": limit}, {})
