"""Deals with their amounts, the direction of every change, and what the change is measured against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.clock import field_time
from keepa_cli.keepa.csvtypes import BY_NAME, csv_type
from keepa_cli.keepa.deals import DATE_RANGES, PAGE_SIZE
from keepa_cli.keepa.dealview import CONDITIONS, NO_DATA, by_interval, category_id
from keepa_cli.keepa.domains import Domain
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.graph.model import EdgeType, Graph, NodeType
from keepa_cli.research.lists.profile import (
    Ask,
    Listing,
    Profile,
    at,
    compare_and_get,
    is_asin,
    text,
    value_of,
    whole,
)
from keepa_cli.research.names import name_of
from keepa_cli.research.needs import Need

VIEW = "deals_query"
AGAINST_NEW = frozenset({"LIGHTNING_DEAL", "WAREHOUSE", "PRIME_EXCL", "PRIME_EXCLUSIVE"})
BESIDE = ("NEW", "AMAZON", "BUY_BOX_SHIPPING", "SALES", "RATING", "COUNT_REVIEWS")
"""Types that a row shows beside the one that was asked for."""


def profile(listing: Listing, index: int, interval: str, page: int = 0) -> dict[str, Any]:
    """The profile of `deals query` for the price type `index` and the interval that were asked for."""
    table = listing.body.get("deals")
    listed = table.get("dr") if isinstance(table, Mapping) else None
    given = listed if isinstance(listed, list) else []
    usable = [(i, deal) for i, deal in enumerate(given) if isinstance(deal, Mapping) and is_asin(deal.get("asin"))]
    rows = [_row(listing.domain, i, deal, index, DATE_RANGES.index(interval)) for i, deal in usable]
    shown = rows[: listing.most]
    facts = Section(
        price_type=csv_type(index).name, interval=interval, currency=listing.domain.currency, page=page,
        more=len(given) >= PAGE_SIZE, reading=_reading(index, interval),
    )  # fmt: skip
    facts.put("categories", _categories(table), Reason.NONE)
    return Profile(
        view=VIEW,
        endpoint="/deal",
        one_line=_one_line(rows, index, interval),
        rows="deals",
        shown=shown,
        total=len(rows),
        graph=_graph(listing, shown, index, interval),
        facts=facts,
        key_facts=_key_facts(rows),
        context={"freshness": "Deals are products that changed in the last hours; Keepa caches a page for 120 s."},
        signals=_signals(rows),
        unreadable=len(given) - len(usable),
        evidence=_evidence(table),
        asked=_asked(listing, facts, rows),
    ).build(listing)


def _reading(index: int, interval: str) -> dict[str, str]:
    """How the figures of a row are to be read."""
    name = csv_type(index).name
    against = "the current Amazon or new price" if name in AGAINST_NEW else "its own average over the interval"
    fell = "a better rank" if name == "SALES" else "cheaper" if csv_type(index).is_price else "fewer"
    span = "day: the average covers 48 hours" if interval == DATE_RANGES[0] else interval
    return {
        "delta": f"average minus current: positive means that the value fell ({fell}), negative that it rose",
        "delta_percent": "the same in percent of the average",
        "delta_last": "previous value minus current: positive means that it fell",
        "measured_against": against,
        "interval": span,
    }


def _row(domain: Domain, i: int, deal: Mapping[str, Any], index: int, interval: int) -> Section:
    row = Section(position=i + 1, asin=deal["asin"])
    row.put("title", text(deal.get("title")), Reason.NOT_COLLECTED)
    _put(row, "current", value_of(index, _slot(deal.get("current"), index), domain), _slot(deal.get("current"), index))
    cell = {name: _cell(deal.get(name), interval, index) for name in ("avg", "delta", "deltaPercent")}
    _put(row, "average", value_of(index, cell["avg"], domain), cell["avg"])
    known = _known(cell["delta"], cell["avg"])
    _put(row, "delta", value_of(index, known, domain, signed=True), known)
    percent = _known(cell["deltaPercent"], cell["avg"])
    _put(row, "delta_percent", percent, percent)
    row["direction"] = _direction(known)
    last = _slot(deal.get("deltaLast"), index)
    row.put("delta_last", value_of(index, last, domain, signed=True), Reason.NOT_COLLECTED)
    row.put("since_at", field_time(_slot(deal.get("currentSince"), index)), Reason.NOT_COLLECTED)
    row.put("created_at", field_time(deal.get("creationDate")), Reason.NOT_COLLECTED)
    row.put("updated_at", field_time(deal.get("lastUpdate")), Reason.NOT_COLLECTED)
    row.put("lightning_ends_at", field_time(deal.get("lightningEnd")), Reason.NONE)
    row.put("root_category", category_id(deal.get("rootCat")), Reason.NOT_COLLECTED)
    condition = whole(deal.get("warehouseCondition"))
    row.put("warehouse_condition", CONDITIONS.get(condition) if condition is not None else None, Reason.NONE)
    row["beside"] = _beside(deal, domain, index)
    row["evidence_path"] = at("deals", "dr", i)
    return row


def _put(row: Section, name: str, value: Any, raw: Any) -> None:
    row.put(name, value, Reason.NONE if raw == -1 else Reason.NOT_COLLECTED)


def _known(cell: int | None, average: int | None) -> int | None:
    """A change, which can be any number; -2 stands for none where there is no average either."""
    return None if cell == NO_DATA and (average is None or average < 0) else cell


def _direction(delta: int | None) -> str:
    return "unknown" if delta is None else "fell" if delta > 0 else "rose" if delta < 0 else "unchanged"


def _beside(deal: Mapping[str, Any], domain: Domain, index: int) -> Section:
    """The current values of other types; one that is not there says whether there is none or nobody looked."""
    found = Section()
    for name in BESIDE:
        t = BY_NAME[name]
        if t.index != index:
            raw = _slot(deal.get("current"), t.index)
            _put(found, name_of(t), value_of(t.index, raw, domain), raw)
    return found


def _slot(values: Any, index: int) -> int | None:
    found = values[index] if isinstance(values, list) and index < len(values) else None
    return found if type(found) is int else None


def _cell(table: Any, interval: int, index: int) -> int | None:
    rows = by_interval(table)
    return _slot(rows[interval], index) if interval < len(rows) else None


def _categories(table: Any) -> list[dict[str, Any]]:
    """The root categories of all deals that fit, most deals first."""
    if not isinstance(table, Mapping):
        return []
    columns = [table.get(name) for name in ("categoryIds", "categoryNames", "categoryCount")]
    if not all(isinstance(column, list) for column in columns):
        return []
    rows = [
        {"id": category_id(i), "name": n, "deals": c}
        for i, n, c in zip(*columns, strict=False)
        if category_id(i) is not None and isinstance(n, str) and whole(c) is not None
    ]
    return sorted(rows, key=lambda row: (-row["deals"], row["id"]))[:10]


def _one_line(rows: list[Section], index: int, interval: str) -> str:
    name = name_of(csv_type(index))
    if not rows:
        return f"No deal of {name} in this interval ({interval})."
    best = _biggest(rows)
    top = f"; the largest fall: {best['asin']} by {best['delta_percent']} %" if best else ""
    return f"{len(rows)} deals of {name} ({interval}){top}."


def _biggest(rows: list[Section]) -> Section | None:
    fallen = [row for row in rows if (row["delta_percent"] or 0) > 0]
    return max(fallen, key=lambda row: row["delta_percent"], default=None)


def _key_facts(rows: list[Section]) -> Section:
    best = _biggest(rows)
    facts = Section().put("largest_fall_asin", best["asin"] if best else None)
    return facts.put("largest_fall_percent", best["delta_percent"] if best else None)


def _signals(rows: list[Section]) -> Section:
    directions = [row["direction"] for row in rows]
    found = Section({name: directions.count(name) for name in ("fell", "rose", "unchanged", "unknown")})
    ranked = [row for row in rows if (row["beside"].get("sales_rank") or row["current"] or {}).get("value")]
    best = min(ranked, key=lambda r: (r["beside"].get("sales_rank") or r["current"])["value"], default=None)
    found.put("best_ranked_asin", best["asin"] if best and _has_rank(best) else None)
    return found.put("lightning_asins", [row["asin"] for row in rows if row["lightning_ends_at"]][:10])


def _has_rank(row: Section) -> bool:
    return bool(row["beside"].get("sales_rank")) or "sales_rank" not in row["beside"]


def _evidence(table: Any) -> list[tuple[str, str]]:
    if not isinstance(table, Mapping):
        return []
    return [(name, at("deals", name)) for name in ("dr", "categoryIds", "categoryNames") if name in table]


def _asked(listing: Listing, facts: Section, rows: list[Section]) -> list[Ask]:
    fallen = sorted((r for r in rows if (r["delta_percent"] or 0) > 0), key=lambda r: -r["delta_percent"])
    asins = list(dict.fromkeys([row["asin"] for row in fallen] or [row["asin"] for row in rows]))
    found = compare_and_get(asins, listing.domain.code, "deals with the largest falls" if fallen else "deals")
    if asins and facts["price_type"] != "SALES":
        params = {"asin": asins[:1], "domain": listing.domain.code, "offers": 20}
        found.append((Need.GET_OFFERS, params, "See who sells the first one, before anybody buys it."))
    return found


def _graph(listing: Listing, rows: list[Section], index: int, interval: str) -> Graph:
    key = listing.key(f"{csv_type(index).name}:{interval}")
    graph = Graph(f"{NodeType.DEAL_SET}:{key}")
    root = graph.node(NodeType.DEAL_SET, key, f"deals of {name_of(csv_type(index))} ({interval})")
    for row in rows:
        deal_key = listing.key(f"{csv_type(index).name}:{interval}:{row['asin']}")
        deal = graph.node(NodeType.DEAL, deal_key, row["title"], delta_percent=row["delta_percent"])
        graph.edge(EdgeType.CONTAINS_DEAL, root, deal, evidence_path=row["evidence_path"])
        product = listing.product(graph, row["asin"], row["title"])
        graph.edge(EdgeType.FOR_PRODUCT, deal, product)
        if row["root_category"] is not None:
            category = graph.node(NodeType.CATEGORY, listing.key(row["root_category"]))
            graph.edge(EdgeType.IN_CATEGORY, product, category)
    return graph
