"""The facts of a product that a reader asks first: what it is, what it costs now, its lowest price.

Never raises on odd data. A price of one type never stands in for another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.clock import as_minute, field_time, iso
from keepa_cli.keepa.csvtypes import CSV_TYPES, CsvType, SeriesKind
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.series import NO_DATA, UNKNOWN, Series, fact, read_series

KINDS = ("standard", "downloadable", "ebook", "unaccessible", "invalid", "variation_parent")
"""By `productType`, which is to be read before anything else: only the first kind has all prices."""
SHOWN: tuple[CsvType, ...] = tuple(t for t in CSV_TYPES if t.kind is not SeriesKind.META)


def view_product(product: Any, domain: Domain) -> dict[str, Any]:
    """`{asin, title, kind, parent_asin, children, updated_at, history, current, lowest}`.

    `current` has every type, `no_data` where nothing is known. It comes from the history, else from `stats`; there
    a -1 does not tell "no offer" from "not collected", so the state is `unknown`. `lowest` comes from `stats`.
    """
    known = product if isinstance(product, Mapping) else {}
    kind = known.get("productType")
    is_known = isinstance(kind, int) and not isinstance(kind, bool) and 0 <= kind < len(KINDS)
    return {
        "asin": known.get("asin"),
        "title": known.get("title"),
        "kind": KINDS[kind] if is_known and isinstance(kind, int) else None,
        "parent_asin": known.get("parentAsin"),
        "children": children(known),
        "updated_at": field_time(known.get("lastUpdate")),
        "history": isinstance(known.get("csv"), list),
        "current": {t.name: _current(known, t, domain) for t in SHOWN},
        "lowest": {t.name: low for t in SHOWN if (low := _lowest(known, t, domain))},
    }


def children(product: Mapping[str, Any]) -> list[str]:
    """The ASINs of the variations: `variations`, or the comma text that older answers hold instead."""
    listed = product.get("variations")
    if isinstance(listed, list):
        return [v["asin"] for v in listed if isinstance(v, Mapping) and isinstance(v.get("asin"), str)]
    text = product.get("variationCSV")
    return [asin.strip() for asin in text.split(",") if asin.strip()] if isinstance(text, str) else []


def _current(product: Mapping[str, Any], t: CsvType, domain: Domain) -> dict[str, Any]:
    series = read_series(_slot(product.get("csv"), t.index), t)
    at = _newest(series, as_minute(product.get("lastUpdate")))
    if at >= 0:
        shipping = series.shipping[at] if series.shipping else None
        return {"at": iso(series.times[at]), **fact(t, domain, series.values[at], shipping)}
    stats = product.get("stats")
    value = _slot(stats.get("current"), t.index) if isinstance(stats, Mapping) else None
    if type(value) is not int:
        return {"state": NO_DATA}
    return fact(t, domain, value) | ({"state": UNKNOWN} if value < 0 else {})


def _newest(series: Series, updated: int | None) -> int:
    """The index of the point in force when the product was updated: a running lightning deal ends in the future."""
    last = len(series) - 1
    if updated is None or updated <= 0 or last < 0 or series.times[last] <= updated:
        return last
    return series.index_at(updated)


def _lowest(product: Mapping[str, Any], t: CsvType, domain: Domain) -> dict[str, Any] | None:
    stats = product.get("stats")
    pair = _slot(stats.get("min"), t.index) if isinstance(stats, Mapping) else None
    if not isinstance(pair, list) or len(pair) != 2 or type(pair[1]) is not int or pair[1] < 0:
        return None
    return {"at": field_time(pair[0]), **fact(t, domain, pair[1])}


def _slot(values: Any, index: int) -> Any:
    return values[index] if isinstance(values, list) and index < len(values) else None
