"""Products again, out of the rows of a history export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepa_cli.keepa.clock import from_iso
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.domains import DOMAINS, Domain
from keepa_cli.research.names import BY_VIEW_NAME
from keepa_cli.research.subject import Subject, subject

Points = dict[int, list[tuple[int, int]]]


def subjects_of_rows(data: Any, domain: Domain) -> Iterator[tuple[Subject, str]]:
    """(product, why its rows are not all that there are) for every product in rows of histories."""
    rows = data.get("rows") if isinstance(data, Mapping) else data
    if not isinstance(rows, list):
        return
    about = data if isinstance(data, Mapping) else {}
    total = about.get("row_count")
    cut = f"Only {len(rows):,} of {total:,} rows are in the input." if type(total) is int and total > len(rows) else ""
    found: dict[tuple[str, str], Points] = {}
    for row in rows:
        if isinstance(row, Mapping) and (point := _point(row)):
            index, time, raw = point
            key = (str(row["asin"]), str(row.get("domain") or domain.code))
            found.setdefault(key, {}).setdefault(index, []).append((time, raw))
    moments = _moments(about)
    by_code = {d.code: d for d in DOMAINS.values()}
    for (asin, code), points in found.items():
        own = by_code.get(code, domain)
        last = max(t for series in points.values() for t, _ in series)
        product = {"asin": asin, "domainId": own.id, "csv": _slots(points), "lastUpdate": moments.get(asin, last)}
        yield subject(product, "$", None, own, {}), cut


def _point(row: Mapping[str, Any]) -> tuple[int, int, int] | None:
    """(slot, minute, raw value) of a row of one of the series in `csv`; None for others and for what is no row."""
    t, raw = BY_VIEW_NAME.get(str(row.get("series"))), row.get("raw")
    if t is None or type(raw) is not int or not isinstance(row.get("asin"), str):
        return None
    try:
        return t.index, from_iso(str(row.get("time"))), raw
    except (ValueError, OverflowError):
        return None


def _slots(points: Points) -> list[list[int] | None]:
    """`csv` as Keepa sends it. The rows of a triple hold price and shipping as one amount."""
    slots: list[list[int] | None] = [None] * len(CSV_TYPES)
    for index, series in points.items():
        triple = CSV_TYPES[index].stride == 3
        slots[index] = [n for t, raw in sorted(series) for n in ((t, raw, min(raw, 0)) if triple else (t, raw))]
    return slots


def _moments(about: Mapping[str, Any]) -> dict[str, int]:
    """The "now" of each product, as the export tells it."""
    found: dict[str, int] = {}
    for product in about.get("products") or [] if isinstance(about.get("products"), list) else []:
        if isinstance(product, Mapping) and isinstance(product.get("now_at"), str):
            try:
                found[str(product.get("asin"))] = from_iso(product["now_at"])
            except (ValueError, OverflowError):
                continue
    return found
