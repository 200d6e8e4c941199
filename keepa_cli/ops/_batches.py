"""Splitting what was asked into requests, and accounting for every item in the answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

UNUSABLE_PRODUCT_TYPES = frozenset({3, 4})
"""Inaccessible, and unknown or wrong: Keepa has no data of them (source: keepa-api.md §6.1)."""
CODE_LISTS = ("upcList", "eanList", "gtinList")
CODE_LENGTH = 14
FOUND, NOT_FOUND, INVALID, AMBIGUOUS = "found", "not_found", "invalid", "ambiguous"

Product = Mapping[str, Any]


def chunks(values: Sequence[str], size: int) -> Iterator[list[str]]:
    """`values` without repeats, in order, in lists of at most `size`."""
    distinct = list(dict.fromkeys(values))
    for start in range(0, len(distinct), size):
        yield distinct[start : start + size]


def merge_products(bodies: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One body out of several: the last envelope, all products in order, tokens consumed summed."""
    merged = dict(bodies[-1])
    merged["products"] = [p for body in bodies for p in _listed(body.get("products"))]
    consumed = [body.get("tokensConsumed") for body in bodies]
    merged["tokensConsumed"] = sum(n for n in consumed if isinstance(n, int | float))
    return merged


def product_items(body: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    """`items`: one row per ASIN or code asked, in the order asked, with its status; `body` as it came.

    `unmatched` names products that answer nothing that was asked, where there are any.
    """
    by = "asin" if params.get("asin") else "code"
    rows, unmatched = rows_of(params.get(by) or [], _listed(body.get("products")), by=by)
    return {"items": rows} | ({"unmatched": unmatched} if unmatched else {}) | {"body": body}


def rows_of(asked: Sequence[str], products: Iterable[Any], *, by: str) -> tuple[list[dict[str, Any]], list[str]]:
    """One row per item: `status`, the `asins` that answer it, and the title where there is exactly one; and the ASINs
    of products that belong to no item."""
    named = [p for p in products if isinstance(p, Mapping) and isinstance(p.get("asin"), str)]
    name_of = padded if by == "code" else str.upper
    groups = _grouped((n, p) for p in named for n in (codes_of(p) if by == "code" else (p["asin"].upper(),)))
    answers = {item: _answered(groups.get(name_of(item))) for item in asked}
    matched = {asin for answer in answers.values() for asin in answer["asins"]}
    unmatched = dict.fromkeys(p["asin"] for p in named if _usable(p) and p["asin"] not in matched)
    return [{"asked": item} | answers[item] for item in asked], list(unmatched)


def codes_of(product: Product) -> set[str]:
    """Every UPC, EAN and GTIN of a product, padded: leading zeros differ from list to list."""
    return {padded(code) for name in CODE_LISTS for code in _listed(product.get(name)) if isinstance(code, str | int)}


def padded(code: str | int) -> str:
    return str(code).strip().zfill(CODE_LENGTH)


def _grouped(pairs: Iterable[tuple[str, Product]]) -> dict[str, dict[str, Product]]:
    """What was asked -> ASIN -> product; of two products with one ASIN the usable one stays."""
    groups: dict[str, dict[str, Product]] = {}
    for name, product in pairs:
        group = groups.setdefault(name, {})
        asin = product["asin"]
        if asin not in group or (not _usable(group[asin]) and _usable(product)):
            group[asin] = product
    return groups


def _answered(group: dict[str, Product] | None) -> dict[str, Any]:
    if not group:
        return {"status": NOT_FOUND, "asins": []}
    usable = sorted(asin for asin, product in group.items() if _usable(product))
    if not usable:
        return {"status": INVALID, "asins": sorted(group)}
    if len(usable) > 1:
        return {"status": AMBIGUOUS, "asins": usable}
    return {"status": FOUND, "asins": usable, "title": group[usable[0]].get("title")}


def _usable(product: Product) -> bool:
    kind = product.get("productType")
    return not (isinstance(kind, int) and kind in UNUSABLE_PRODUCT_TYPES)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
