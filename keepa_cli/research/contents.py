"""What an answer of Keepa is about: the ASINs and titles in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MOST = 1000
_ROWS = ("products", "lightningDeals")
_LISTS = ("asinList",)
_BY_ID = (("categories", "name"), ("sellers", "sellerName"), ("categoryParents", "name"))


Item = tuple[str | None, str | None]


def contents(body: Any) -> list[Item]:
    """(ASIN, title) of each thing in the order in which they stand, each once, the first thousand; None where a thing
    has no ASIN or no title."""
    pairs = _pairs(body) if isinstance(body, Mapping) else iter(())
    known = ((_text(asin), _text(title)) for asin, title in pairs)
    return list(dict.fromkeys(p for p in known if p != (None, None)))[:MOST]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _pairs(body: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    deals, best = body.get("deals"), body.get("bestSellersList")
    for rows in [*(body.get(name) for name in _ROWS), deals.get("dr") if isinstance(deals, Mapping) else None]:
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, Mapping):
                yield row.get("asin"), row.get("title")
    for holder in (body, best):
        for name in _LISTS:
            listed = holder.get(name) if isinstance(holder, Mapping) else None
            yield from ((asin, None) for asin in (listed if isinstance(listed, list) else []))
    for name, label in _BY_ID:
        found = body.get(name)
        for row in found.values() if isinstance(found, Mapping) else []:
            if isinstance(row, Mapping):
                yield None, row.get(label)
