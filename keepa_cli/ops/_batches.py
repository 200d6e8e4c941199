"""Splitting what was asked into requests, and accounting for every item in the answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

UNUSABLE_PRODUCT_TYPES = frozenset({3, 4})


def chunks(values: Sequence[str], size: int) -> Iterator[list[str]]:
    """`values` without repeats, in order, in lists of at most `size`."""
    distinct = list(dict.fromkeys(values))
    for start in range(0, len(distinct), size):
        yield distinct[start : start + size]


def merge_products(bodies: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One body out of several: the last envelope, all products in order, tokens consumed summed."""
    merged = dict(bodies[-1])
    merged["products"] = [p for body in bodies for p in body.get("products") or []]
    merged["tokensConsumed"] = sum(body.get("tokensConsumed") or 0 for body in bodies)
    return merged


def product_items(body: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    """`items`: one row per ASIN or code asked, in the order asked, with its status; `body` as it came."""
    products = [p for p in body.get("products") or [] if isinstance(p, dict)]
    asked = params.get("asin") or params.get("code") or []
    status_of = _by_asin(products) if params.get("asin") else _by_code(products)
    rows = [{"asked": item} | status_of.get(_pad(item, params), {"status": "not_found"}) for item in asked]
    return {"items": rows, "body": body}


def _pad(item: str, params: dict[str, Any]) -> str:
    return item if params.get("asin") else item.zfill(14)


def _by_asin(products: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for product in products:
        usable = product.get("productType") not in UNUSABLE_PRODUCT_TYPES
        row = {"status": "found"} if usable else {"status": "invalid"}
        found[product.get("asin", "")] = row | {"title": product.get("title")}
    return found


def _by_code(products: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    matches: dict[str, list[str]] = {}
    for product in products:
        codes = {c for name in ("upcList", "eanList", "gtinList") for c in product.get(name) or []}
        for code in {str(c).zfill(14) for c in codes}:
            matches.setdefault(code, []).append(product.get("asin", ""))
    return {
        code: {"status": "found" if len(asins) == 1 else "ambiguous", "asins": asins} for code, asins in matches.items()
    }
