"""Schemas of what is worked out from several answers: comparisons, business figures, churn."""

from __future__ import annotations

from keepa_cli.research import compare
from keepa_cli.research.analysis import churn
from keepa_cli.research.business import inventory, profit, report, terms
from keepa_cli.research.business.scales import VERSION, WEIGHTS
from keepa_cli.research.leaders import LED
from keepa_cli.research.risks import CODES, SEVERITIES
from keepa_cli.research.schemas.build import (
    COUNT,
    CURRENCY,
    FLAG,
    NUMBER,
    PATH,
    SHA256,
    TEXT,
    TIME,
    WHOLE,
    Schema,
    closed,
    const,
    either,
    listed,
    maybe,
    one_of,
    optional,
    table,
)
from keepa_cli.research.schemas.product import FACTS, figure, pricing_section
from keepa_cli.research.schemas.shared import (
    ACTIONS,
    COMMANDS,
    GRAPH,
    ITEMS,
    MONEY,
    OUTPUT,
    PATHS,
    PRICE,
    RISK_CODES,
    derived,
    with_amount,
)

NAMES = listed(TEXT)
SCALAR: Schema = {"type": ["number", "string"]}


def comparison() -> Schema:
    """`data` of products compare."""
    statuses = (compare.FOUND, compare.INVALID, compare.NOT_FOUND, compare.UNASKED)
    worst = closed({"asin": TEXT, "severity": one_of(SEVERITIES), "reason": TEXT, "evidence_path": PATHS})
    risks = closed({"count": COUNT, "asins": NAMES, "worst": worst})
    quality = closed(
        {compare.FOUND: NAMES, "not_requested": FACTS, "rank_category_ids": listed(WHOLE), "ranks_comparable": FLAG,
         "currencies": listed(CURRENCY)},
        dict.fromkeys(statuses[1:], NAMES),
    )  # fmt: skip
    evidence = closed({"fact": TEXT, "path": PATH, "section": const("rows")})
    needed = {
        "view": const(compare.VIEW), "count": COUNT,
        "agent_brief": closed({"read_order": NAMES, "one_line": TEXT, "risk_codes": RISK_CODES}),
        "rows": listed(_row(statuses)), "best": closed({}, dict.fromkeys(LED, _leader())),
        "risk_summary": closed({}, dict.fromkeys(CODES, risks)), "research_graph": GRAPH, "data_quality": quality,
        "next_actions": ACTIONS, "evidence_index": listed(evidence),
    }  # fmt: skip
    return closed(needed, {"items": ITEMS, "unmatched": NAMES, "output": OUTPUT})


def _leader() -> Schema:
    value = either(SCALAR, MONEY, PRICE)
    return closed(
        {"asin": TEXT, "value": value, "unit": TEXT},
        {"tied_with": NAMES, "next": closed({"asin": TEXT, "value": value}), "lead": value, "lead_pct": NUMBER},
    )


def _row(statuses: tuple[str, ...]) -> Schema:
    prices = dict.fromkeys(compare.PRICES, maybe(PRICE))
    plain = dict.fromkeys(compare.PLAIN, maybe(SCALAR))
    gaps = optional(**{"90": maybe(WHOLE)})
    stock = closed({"new": maybe(gaps), "buy_box_shipping": maybe(gaps)})
    needed = {
        "asin": TEXT, "status": one_of(statuses), "title": maybe(TEXT), "brand": maybe(TEXT), **prices, **plain,
        "offer_count": maybe(COUNT), "rank_category_id": maybe(WHOLE), "has_aplus": maybe(FLAG),
        "coupon": pricing_section()["properties"]["coupon"], "out_of_stock_pct": maybe(stock),
        "monthly_sold": maybe(figure(TEXT)), "price_vs_90d_pct": maybe(figure(TEXT)), "risk_codes": RISK_CODES,
        "data_quality": maybe(closed({"completeness": figure(TEXT), "missing": FACTS})),
    }  # fmt: skip
    return closed(needed, {"evidence": table(PATHS), "evidence_path": PATHS})


def business() -> Schema:
    """`data` of every business analysis."""
    brief = closed({"decision": TEXT, "risk": NAMES, "next_actions": ACTIONS})
    source = closed({"name": TEXT, "source": TEXT, "form": TEXT, "root": PATH, "path": PATH})
    named = {
        "asin": maybe(TEXT), "title": maybe(TEXT), "domain": maybe(TEXT), "currency": CURRENCY,
        "observed_at": maybe(TIME),
    }  # fmt: skip
    product = closed(
        {**named, "metrics": metrics()},
        {"ranking": closed({"group": TEXT, "position": COUNT}), "score": _score(), "source": source},
    )
    lacking = closed({**named, "reason": maybe(TEXT), "source": source})
    read = closed({"name": TEXT, "source": TEXT, "sha256": SHA256, "products": COUNT})
    return closed(
        {"view": const(report.VIEW), "analysis": TEXT, "version": const(VERSION), "brief": brief,
         "summary": either(_totals(), _profit_totals()), "products": listed(product)},
        {"not_rankable": listed(lacking), "inputs": listed(read), "items": ITEMS, "output": OUTPUT},
    )  # fmt: skip


def _totals() -> Schema:
    counts = dict.fromkeys(("products_read", "products_listed", "not_rankable", "older_copies_left_out", "inputs"),
                           COUNT)  # fmt: skip
    more = {
        "sorted_by": TEXT, "rankings": listed(closed({"group": TEXT, "count": COUNT})),
        "turnover_at_least": listed(with_amount({"products": COUNT})),
        "risk_levels": closed({}, dict.fromkeys(inventory.LEVELS, COUNT) | {"unknown": COUNT}),
        "weights": closed(dict.fromkeys(WEIGHTS, COUNT)),
    }  # fmt: skip
    return closed({**counts, "left_out": table(COUNT)}, more)


def _profit_totals() -> Schema:
    scenarios = dict.fromkeys(_scenarios(), maybe(MONEY))
    more = {
        "price_basis": one_of(profit.BASES), "fulfilment": _FULFILMENT, "price": maybe(_priced()),
        "profit": maybe(MONEY), "margin_percent": maybe(NUMBER), "roi_percent": maybe(NUMBER),
        "break_even_price": maybe(MONEY), "profit_by_price": closed(scenarios),
    }  # fmt: skip
    return closed({"products": COUNT}, more)


_FULFILMENT = one_of(("fba", "fbm"))


def _scenarios() -> tuple[str, ...]:
    return ("current", *(f"mean_{days}_days" for days in profit.WINDOWS))


def _priced() -> Schema:
    return with_amount({"at": TIME, "evidence_path": PATHS, "window_days": COUNT})


def metrics() -> Schema:
    """The figures of a product, those that the analysis shows."""
    return optional(
        velocity=_velocity(), seller_metrics=_sellers(), inventory=_inventory(), cashflow=_cashflow(), profit=_profit()
    )


_VERSION = {"version": const(VERSION)}


def _velocity() -> Schema:
    trend = derived(maybe(NUMBER), unit=TEXT, **_VERSION)
    return derived(
        maybe(COUNT), unit=TEXT, pace=one_of(("fast", "steady", "slow")), statement=TEXT, at=maybe(TIME), stale=FLAG,
        trend=maybe(trend), **_VERSION,
    )  # fmt: skip


def _inventory() -> Schema:
    share = closed({"value": WHOLE, "evidence_path": PATHS})
    return derived(
        maybe(one_of(inventory.LEVELS)), unit=TEXT, basis=TEXT, reasons=NAMES,
        out_of_stock_percent=table(maybe(share)), not_estimated=listed(one_of(inventory.NOT_ESTIMATED)), **_VERSION,
    )  # fmt: skip


def _cashflow() -> Schema:
    return derived(maybe(MONEY), unit=TEXT, excludes=NAMES, price_basis=maybe(TEXT), **_VERSION)


def _sellers() -> Schema:
    return derived(
        maybe(COUNT), unit=TEXT, competition=one_of(("low", "medium", "high")),
        fulfilment=maybe(derived(maybe(NUMBER), unit=TEXT, **_VERSION)), amazon_sells=maybe(FLAG),
        buy_box_share=maybe(_buybox_share()), **_VERSION,
    )  # fmt: skip


def _buybox_share() -> Schema:
    holder = closed({"seller_id": TEXT, "at": TIME, "evidence_path": PATHS})
    seller = closed(
        {"seller_id": TEXT, "share_percent": NUMBER, "average_price": maybe(MONEY), "is_fba": maybe(FLAG),
         "last_seen_at": TIME, "evidence_path": PATHS}
    )  # fmt: skip
    window = closed(
        {"sellers": maybe(listed(seller)), "covered_days": NUMBER,
         "concentration": derived(maybe(NUMBER), unit=TEXT, level=one_of(("few_hands", "many_hands")), **_VERSION),
         "changes_of_holder": derived(COUNT, unit=TEXT, **_VERSION)}
    )  # fmt: skip
    return closed({"holder": maybe(holder), "windows": maybe(table(window))})


def _score() -> Schema:
    part = closed({"points": NUMBER, "weight": COUNT, "weighted": NUMBER})
    return derived(maybe(NUMBER), unit=TEXT, parts=closed(dict.fromkeys(WEIGHTS, part)), **_VERSION)


def _profit() -> Schema:
    parts = ("cost", "inbound", "referral_fee", "fulfilment_fee", "closing_fee", "storage", "advertising", "returns",
             "other")  # fmt: skip
    money, ratio = derived(maybe(MONEY), **_VERSION), derived(maybe(NUMBER), unit=TEXT, **_VERSION)
    scenario = closed(
        {"price": maybe(_priced()), "deductions": closed(dict.fromkeys(parts, maybe(MONEY))), "profit": money,
         "margin_percent": ratio, "roi_percent": ratio, "highest_cost": money}
    )  # fmt: skip
    fees = closed(
        {"referral_rate": derived(maybe(NUMBER), unit=TEXT), "fulfilment_fee": derived(maybe(MONEY), at=TIME),
         "closing_fee": maybe(PRICE)}
    )  # fmt: skip
    assumption = closed(
        {"input": one_of((*terms.SAYS, "tax")), "given": FLAG, "says": TEXT},
        {"value": either(MONEY, NUMBER), "unit": TEXT},
    )
    return closed(
        {
            "price_basis": one_of(profit.BASES), "price_basis_says": TEXT, "fulfilment": _FULFILMENT,
            "scenarios": closed(dict.fromkeys(_scenarios(), scenario)), "break_even_price": money, "fees": fees,
            "assumptions": listed(assumption), "rounding": TEXT,
        },
        {"buy_box_share": maybe(_buybox_share())},
    )  # fmt: skip


def churned() -> Schema:
    """`data` of bestsellers churn."""
    snapshot = {"source": TEXT, "at": TIME, "dated_by": TEXT, "list_size": COUNT, "category": maybe(WHOLE)}
    compared = closed({**snapshot, "days_before": COUNT})
    window = closed(
        {
            "days": COUNT,
            "tolerance_days": COUNT,
            "left_share": derived(maybe(NUMBER)),
            "compared_with": maybe(compared),
        },
        {"left_asins": maybe(NAMES), "new_asins": maybe(NAMES)},
    )
    label = closed({"code": one_of((*churn.LABELS, churn.UNLABELLED)), "why": TEXT})
    return closed(
        {
            "view": const(churn.VIEW), "one_line": TEXT, "newest": closed(snapshot), "depth": COUNT,
            "windows": closed(dict.fromkeys(churn.MONTHS, window)), "label": label,
            "snapshots": listed(closed(snapshot)), "next_actions": COMMANDS,
        }
    )  # fmt: skip


def views() -> dict[str, tuple[str, Schema]]:
    return {
        compare.VIEW: ("Products side by side", comparison()),
        report.VIEW: ("Figures for buying decisions", business()),
        churn.VIEW: ("How fast a best seller list turns over", churned()),
    }
