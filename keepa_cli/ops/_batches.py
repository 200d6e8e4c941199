"""Splitting what was asked into requests, and accounting for every item in the answers."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from keepa_cli.research.facts import ABSENT, Reason

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
    with _uncollected():
        rows, unmatched = rows_of(params.get(by) or [], _listed(body.get("products")), by=by)
    return {"items": rows} | ({"unmatched": unmatched} if unmatched else {}) | {"body": body}


@contextmanager
def _uncollected() -> Iterator[None]:
    """Nothing here is garbage, and the collector would go through every row of a long batch again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def rows_of(asked: Sequence[str], products: Iterable[Any], *, by: str) -> tuple[list[dict[str, Any]], list[str]]:
    """One row per item: `status`, the `asins` that answer it, and the title where there is exactly one; and the ASINs
    of products that belong to no item."""
    named = [p for p in products if isinstance(p, Mapping) and isinstance(p.get("asin"), str)]
    name_of: Callable[[str], str]
    if by == "code":
        index, name_of = Index((code, p) for p in named for code in codes_of(p)), padded
    else:
        index, name_of = Index((p["asin"].upper(), p) for p in named), str.upper
    rows = [_row(item, index.get(name_of(item))) for item in asked]
    matched = {asin for row in rows for asin in row["asins"]}
    unmatched = dict.fromkeys(p["asin"] for p in named if p["asin"] not in matched and _usable(p))
    return rows, list(unmatched)


class Index:
    """Products by name. Names with one product hold no list: a long batch would be slow for its many objects."""

    def __init__(self, pairs: Iterable[tuple[str, Product]]) -> None:
        self._first: dict[str, Product] = {}
        self._more: dict[str, list[Product]] = {}
        for name, product in pairs:
            held = self._first.setdefault(name, product)
            if held is not product:
                self._more.setdefault(name, [held]).append(product)

    def get(self, name: str) -> Sequence[Product]:
        if name in self._more:
            return self._more[name]
        return (self._first[name],) if name in self._first else ()


def codes_of(product: Product) -> set[str]:
    """Every UPC, EAN and GTIN of a product, padded: leading zeros differ from list to list."""
    return {padded(code) for name in CODE_LISTS for code in _listed(product.get(name)) if isinstance(code, str | int)}


def padded(code: str | int) -> str:
    return str(code).strip().zfill(CODE_LENGTH)


def _row(item: str, products: Sequence[Product]) -> dict[str, Any]:
    """Of several products with one ASIN the usable one counts."""
    if len(products) == 1 and _usable(products[0]):
        return {"asked": item, "status": FOUND, "asins": [products[0]["asin"]]} | _title(products[0])
    usable = [p for p in products if _usable(p)]
    asins = sorted({p["asin"] for p in usable or products})
    if len(asins) == 1 and usable:
        return {"asked": item, "status": FOUND, "asins": asins} | _title(usable[0])
    status = AMBIGUOUS if usable else INVALID if products else NOT_FOUND
    return {"asked": item, "status": status, "asins": asins}


def _title(product: Product) -> dict[str, Any]:
    title = product.get("title")
    if isinstance(title, str):
        return {"title": title}
    reason = Reason.NOT_COLLECTED if title is None else Reason.UNREADABLE
    return {"title": None, ABSENT: {"title": reason.value}}


def _usable(product: Product) -> bool:
    kind = product.get("productType")
    return not (isinstance(kind, int) and kind in UNUSABLE_PRODUCT_TYPES)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
