"""What answers hold at their top: sellers, best sellers, categories. Null, absent and empty all read as none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli.keepa.clock import field_time
from keepa_cli.keepa.dealview import category_id


def sellers(body: Mapping[str, Any], asked: Sequence[str] = ()) -> dict[str, dict[str, Any] | None]:
    """Seller id -> facts, None for one that was asked for and is not there; those asked first, in their order."""
    found = _mapping(body.get("sellers"))
    ids = dict.fromkeys([*asked, *found])
    return {i: seller(found[i]) if isinstance(found.get(i), Mapping) else None for i in ids}


def seller(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A seller's public facts without addresses and other personal data."""
    storefront = raw.get("totalStorefrontAsins")
    count = storefront[1] if isinstance(storefront, list) and len(storefront) > 1 else None
    return {
        "id": raw.get("sellerId"),
        "name": raw.get("sellerName"),
        "tracked_since": field_time(raw.get("trackedSince", raw.get("trackingSince"))),
        "updated_at": field_time(raw.get("lastUpdate")),
        "rating_percent": _latest(raw, "currentRating", 0),
        "rating_count": _latest(raw, "currentRatingCount", 1),
        "has_fba": raw.get("hasFBA"),
        "storefront_asins": count,
        "asins": len(raw["asinList"]) if isinstance(raw.get("asinList"), list) else None,
    }


def best_sellers(body: Mapping[str, Any]) -> dict[str, Any]:
    """`{asins, at, category}` of a best seller list, nested as documented or at the top as some answers have it."""
    nested = _mapping(body.get("bestSellersList")) or body
    asins = nested.get("asinList")
    return {
        "asins": asins if isinstance(asins, list) else [],
        "at": field_time(nested.get("lastUpdate")),
        "category": category_id(nested.get("categoryId")),
    }


def categories(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The categories of an answer in its order; the parent of a root and an unknown id are None."""
    return [
        {
            "id": raw.get("catId"),
            "name": raw.get("name"),
            "parent": category_id(raw.get("parent")),
            "children": raw.get("children") if isinstance(raw.get("children"), list) else [],
        }
        for raw in _mapping(body.get("categories")).values()
        if isinstance(raw, Mapping)
    ]


def asins(body: Mapping[str, Any]) -> list[str]:
    """The ASINs of a finder or search answer."""
    found = body.get("asinList")
    return [a for a in found if isinstance(a, str)] if isinstance(found, list) else []


def _latest(raw: Mapping[str, Any], name: str, slot: int) -> int | None:
    """A figure that stands beside its history, else the newest value of the history."""
    value = raw.get(name)
    if value is None:
        csv = raw.get("csv")
        packed = csv[slot] if isinstance(csv, list) and len(csv) > slot else None
        value = packed[-1] if isinstance(packed, list) and packed else None
    return value if isinstance(value, int) and value >= 0 else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
