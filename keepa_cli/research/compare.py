"""Several products side by side: a row each, who leads by what, and the risks and the graph of all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa.clock import DAY, as_minute
from keepa_cli.keepa.stats import out_of_stock_percentage
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.graph.merge import merge_graphs
from keepa_cli.research.leaders import FIGURES, figure_of, leaders, one_line_of
from keepa_cli.research.names import BY_VIEW_NAME
from keepa_cli.research.needs import Need, Planner
from keepa_cli.research.product.data_quality import completeness, missing, not_requested
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.selection_signals import demand, price_position
from keepa_cli.research.product.vitals import Vitals
from keepa_cli.research.risks import CODES, SEVERITIES
from keepa_cli.research.subject import Subject

VIEW = "products_compare"
FOUND, INVALID, NOT_FOUND, UNASKED = "found", "invalid", "not_found", "unasked"
PRICES = ("new_price", "buy_box_price")
PLAIN = ("sales_rank", "rating", "review_count", "image_count", "video_count")
ROOT = "products_compare"
MOST_ACTIONS = 4
MOST_TAKEN = 100


class Comparison:
    """Takes products one at a time and keeps a row, the risks and the graph of each, never the product."""

    def __init__(self, plan: Planner, asked: Sequence[str] = ()) -> None:
        self.plan = plan
        self.asked = list(dict.fromkeys(a.upper() for a in asked))
        self.rows: dict[str, Section] = {}
        self.risks: dict[str, list[dict[str, Any]]] = {}
        self.graphs: dict[str, Any] = {}
        self.lacking: set[str] = set()
        self.domain: str | None = None

    def add(self, s: Subject) -> None:
        """Of several products with one ASIN the first usable one counts."""
        name = (s.asin or "").upper()
        held = self.rows.get(name)
        if not name or (held is not None and (held["status"] != INVALID or not s.usable)):
            return
        look = Look(s, self.plan, VIEW)
        self.domain = self.domain or s.domain.code
        self.risks[name] = look.section("risk_taxonomy")["items"]
        if s.usable:
            self.rows[name] = _row(look)
            self.graphs[name] = look.section("research_graph")
            self.lacking |= set(not_requested(look.section("vitals")))
        else:
            self.rows[name] = _empty_row(name, INVALID, s.path)

    def result(self, sort_by: str | None = None) -> dict[str, Any]:
        """The view of what was added, rows in the order asked, else by `sort_by`, the best first."""
        rows = list(self._ordered())
        if sort_by:
            rows = _sorted(rows, sort_by)
        best = leaders(rows)
        return {
            "view": VIEW,
            "count": len(rows),
            "agent_brief": self._brief(rows, best),
            "rows": rows,
            "best": best,
            "risk_summary": self._risk_summary(),
            "research_graph": merge_graphs(sorted(self.graphs.items()), root=ROOT)["research_graph"],
            "data_quality": self._quality(rows),
            "next_actions": self._actions(rows, best),
            "evidence_index": _evidence(rows),
        }

    def _ordered(self) -> Iterator[Section]:
        for asin in self.asked:
            yield self.rows.get(asin) or _empty_row(asin, NOT_FOUND, None)
        for asin, row in self.rows.items():
            if asin not in self.asked:
                yield Section(row | {"status": UNASKED}) if self.asked and row["status"] == FOUND else row

    def _brief(self, rows: Sequence[Section], best: dict[str, Any]) -> dict[str, Any]:
        return {
            "read_order": ["best", "rows", "risk_summary", "next_actions"],
            "one_line": one_line_of(rows, best),
            "risk_codes": list(self._risk_summary()),
        }

    def _risk_summary(self) -> dict[str, Any]:
        """Per code that occurs: how many products have it, which, and the gravest case."""
        found: dict[str, Any] = {}
        for code in CODES:
            cases = [(asin, r) for asin in sorted(self.risks) for r in self.risks[asin] if r["code"] == code]
            if cases:
                asin, worst = max(cases, key=lambda c: SEVERITIES.index(c[1]["severity"]))
                kept = {k: worst[k] for k in ("severity", "reason", "evidence_path")}
                asins = [asin for asin, _ in cases]
                found[code] = {"count": len(cases), "asins": asins, "worst": {"asin": asin} | kept}
        return found

    def _quality(self, rows: Sequence[Section]) -> dict[str, Any]:
        """Which ASINs have no data, what was not asked for, and what cannot be held against each other."""
        by_status = {s: [r["asin"] for r in rows if r["status"] == s] for s in (FOUND, INVALID, NOT_FOUND, UNASKED)}
        ranked = sorted({r["rank_category_id"] for r in rows if r.get("rank_category_id") is not None})
        return {
            **{name: asins for name, asins in by_status.items() if asins or name == FOUND},
            "not_requested": sorted(self.lacking),
            "rank_category_ids": ranked,
            "ranks_comparable": len(ranked) < 2,
            "currencies": sorted({r[p]["currency"] for r in rows for p in PRICES if r[p]}),
        }

    def _actions(self, rows: Sequence[Section], best: dict[str, Any]) -> list[dict[str, Any]]:
        known = [r["asin"] for r in rows if r["status"] in {FOUND, UNASKED}]
        found = []
        for need, params, reason in self._wishes(known[:MOST_TAKEN], best):
            with suppress(KeepaCliError):
                found.append(self.plan(need, {**params, "domain": self.domain}, reason))
        return found[:MOST_ACTIONS]

    def _wishes(self, known: list[str], best: dict[str, Any]) -> Iterator[tuple[Need, dict[str, Any], str]]:
        if not known:
            return
        gaps = {"rating": "rating", "buy_box_price": "buybox"}
        if options := {option: True for fact, option in gaps.items() if fact in self.lacking}:
            yield Need.COMPARE_PRODUCTS, {"asin": known} | options, f"Not requested: {', '.join(options)}."
        lead = next((best[name]["asin"] for name in ("monthly_sold", "sales_rank") if name in best), known[0])
        yield Need.GET_OFFERS, {"asin": [lead], "offers": 20}, "Sellers and prices of the product that sells most."
        yield Need.EXPORT_HISTORY, {"asin": known}, "Every series of these products for a table or a chart."


def compare(
    subjects: Iterable[Subject], plan: Planner, asked: Sequence[str] = (), sort_by: str | None = None
) -> dict[str, Any]:
    """Compare products as they come: memory grows with the rows only."""
    found = Comparison(plan, asked)
    for s in subjects:
        found.add(s)
    return found.result(sort_by)


def _row(look: Look) -> Section:
    s, v = look.subject, look.section("vitals")
    row = Section(asin=(s.asin or "").upper(), status=FOUND)
    for name in ("title", "brand"):
        row.put(name, v.value(name), v[name].reason or Reason.NONE)
    for name in PRICES:
        fact = v[name]
        shown = {**fact.shown(s.domain), "evidence_path": fact.path} if fact.known else None
        row.put(name, shown, fact.reason or Reason.NONE)
    for name in PLAIN:
        row.put(name, v[name].shown(s.domain), v[name].reason or Reason.NONE)
    row.put("offer_count", v.value("new_offer_count"), v["new_offer_count"].reason or Reason.NONE)
    row.put("rank_category_id", v.rank_category[0] if v.rank_category else None, Reason.NOT_COLLECTED)
    _put_content(row, look, v)
    row["out_of_stock_pct"] = _out_of_stock(s)
    row["monthly_sold"] = demand(look, v)
    row["price_vs_90d_pct"] = price_position(look, v)
    row["risk_codes"] = look.section("risk_taxonomy")["codes"]
    row["data_quality"] = {"completeness": completeness(look), "missing": [m["fact"] for m in missing(v)]}
    counted = {"offer_count": "new_offer_count"} | {name: name for name in ("title", "brand", *PLAIN)}
    row["evidence"] = {name: v[fact].path for name, fact in counted.items() if v[fact].known}
    row["evidence_path"] = s.path
    return row


def _out_of_stock(s: Subject) -> Section:
    """The share of the last 90 days without an offer, by Keepa's rule: stock-outs are judged by it."""
    since = max(as_minute(s.product.get("trackingSince")) or 0, 0)
    found = Section()
    for name in ("new", "buy_box_shipping"):
        t = BY_VIEW_NAME[name]
        share = out_of_stock_percentage(s.series(t), s.now - 90 * DAY, s.now, since)
        known = Section({"90": share}) if share >= 0 else None
        found.put(name, known, Reason.TOO_LITTLE_HISTORY if len(s.series(t)) else s.why_no(t))
    return found


def _put_content(row: Section, look: Look, v: Vitals) -> None:
    modules = v["aplus_module_count"]
    row.put("has_aplus", modules.value > 0 if modules.known else None, modules.reason or Reason.NONE)
    pricing = look.section("pricing")
    row.put("coupon", pricing.get("coupon"), Reason(pricing.get("absent", {}).get("coupon", Reason.NONE.value)))


def _empty_row(asin: str, status: str, path: str | None) -> Section:
    """The row of an ASIN without a product: every column is there, and none has a value."""
    row = Section(asin=asin, status=status)
    columns = ("title", "brand", *PRICES, *PLAIN, "offer_count", "rank_category_id", "has_aplus", "coupon")
    for name in (*columns, "monthly_sold", "price_vs_90d_pct", "out_of_stock_pct", "data_quality"):
        row.lack(name, Reason.NOT_APPLICABLE)
    row["risk_codes"] = ["data_missing"] if status == INVALID else []
    return row if path is None else Section(row | {"evidence_path": path})


def _sorted(rows: Sequence[Section], name: str) -> list[Section]:
    """The best first; what has no figure comes last, in the order it had."""
    sign = 1 if FIGURES[name].lower_is_better else -1
    known = [(figure_of(r, name), r) for r in rows]
    have = sorted((k for k in known if k[0] is not None), key=lambda k: sign * k[0])  # type: ignore[operator]
    return [r for _, r in have] + [r for figure, r in known if figure is None]


def _evidence(rows: Sequence[Section]) -> list[dict[str, Any]]:
    """Where each product stands in the raw answer."""
    return [{"fact": r["asin"], "path": r["evidence_path"], "section": "rows"} for r in rows if r.get("evidence_path")]
