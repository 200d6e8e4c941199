"""Every product that an input holds, whatever the input is, as one kind of record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from keepa_cli.keepa.domains import NAMES as DOMAIN_NAMES
from keepa_cli.keepa.domains import Domain
from keepa_cli.research.business import raw, views
from keepa_cli.research.business.record import Metrics, Source, member
from keepa_cli.research.inputs import PRODUCT_VIEW, product_views, raw_products, unwrapped

RAW_NAMES = frozenset({"csv", "productType", "monthlySold", "domainId", "stats"})
ROW_NAMES = frozenset({"new_price", "buy_box_price", "monthly_sold", "sales_rank"})
VIEW_SECTIONS = ("identity", "pricing", "demand", "offers")


def records(data: Any, domain: Domain, source: Source) -> list[Metrics]:
    """The records of one input in its order; none where it holds no product."""
    found = unwrapped(data)
    source = replace(source, root=_root(data, found))
    domain = _asked(data) or domain
    rows = found.get("rows") if isinstance(found, Mapping) else found
    if isinstance(rows, list) and any(_is_row(r) for r in rows):
        return list(_rows(found, rows, domain, source))
    if _is_row(found):
        return [views.of_row(found, (), domain, source)]
    products = [raw.record(s, source) for s in raw_products(data, domain)]
    return products or list(_views(data, found, domain, source))


def merged(groups: list[list[Metrics]]) -> tuple[list[Metrics], list[Metrics]]:
    """One record per product, the newest of each, in the order first seen; and those that were left out."""
    kept: dict[tuple[str, str], Metrics] = {}
    dropped: list[Metrics] = []
    for one in (m for group in groups for m in group):
        before = kept.get(one.key())
        if before is None:
            kept[one.key()] = one
        elif (one.usable, one.now) > (before.usable, before.now):
            dropped.append(before)
            kept[one.key()] = one
        else:
            dropped.append(one)
    return list(kept.values()), dropped


def _asked(data: Any) -> Domain | None:
    """The marketplace that the request of an envelope names."""
    told = member(data, "request", "query", "domain")
    return DOMAIN_NAMES.get(str(told).lower()) if isinstance(told, str | int) else None


def _root(data: Any, found: Any) -> str:
    """The path in the input of what was unwrapped from it."""
    if found is data:
        return "$"
    inner = data.get("data") if isinstance(data, Mapping) else None
    if found is inner:
        return "$.data"
    return "$.data.body" if isinstance(inner, Mapping) and inner.get("body") is found else "$.body"


def _views(data: Any, found: Any, domain: Domain, source: Source) -> Iterator[Metrics]:
    """Product views of an answer, of a list, or one alone."""
    if isinstance(found, Mapping) and found.get("view") == PRODUCT_VIEW:
        known = [id(v) for v in product_views(data)]
        for i, view in enumerate(found.get("products") or []):
            if id(view) in known:
                yield views.of_view(view, ("products", i), domain, source)
    elif isinstance(found, list):
        for i, view in enumerate(found):
            if _is_view(view):
                yield views.of_view(view, (i,), domain, source)
    elif _is_view(found):
        yield views.of_view(found, (), domain, source)


def _rows(found: Any, rows: list[Any], domain: Domain, source: Source) -> Iterator[Metrics]:
    """Rows of products.compare, of its answer or by themselves."""
    steps: tuple[str | int, ...] = ("rows",) if isinstance(found, Mapping) else ()
    for i, row in enumerate(rows):
        if _is_row(row):
            yield views.of_row(row, (*steps, i), domain, source)


def _is_row(value: Any) -> bool:
    """Rows have our names; products have Keepa's."""
    named = isinstance(value, Mapping) and isinstance(value.get("asin"), str)
    return named and not RAW_NAMES & value.keys() and bool(ROW_NAMES & value.keys())


def _is_view(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(value.get(name), Mapping) for name in VIEW_SECTIONS)
