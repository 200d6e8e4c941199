"""The first screen of a product view: what the product is, what it costs, what moves, what lacks, what to do next.

It is made from the facts alone, so that a summary never builds the long sections.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.keepa.money import money, tenths
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.measures import change
from keepa_cli.research.product.data_quality import EXPECTED, completeness
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.selection_signals import competition, content_quality, demand, stability
from keepa_cli.research.product.takeaways import takeaways
from keepa_cli.research.product.vitals import SERIES, Vitals
from keepa_cli.research.text import one_line

SUMMARY = "summary"
READ_ORDER: Mapping[str, tuple[str, ...]] = {
    SUMMARY: ("agent_brief", "next_actions"),
    "deal": ("agent_brief", "selection_signals", "risk_taxonomy", "pricing", "demand", "offers", "next_actions"),
    "audit": ("agent_brief", "data_quality", "provenance", "evidence_index"),
}
FULL_ORDER = (
    "agent_brief", "selection_signals", "risk_taxonomy", "temporal_features", "pricing", "demand", "data_quality",
    "next_actions", "evidence_index",
)  # fmt: skip
KEY_FACTS = ("sales_rank", "rating", "review_count", "new_offer_count")
MOVES = {"rank": "sales_rank", "review": "review_count", "rating": "rating", "offer": "new_offer_count"}
"""What the windows tell beside the price: the member, and the fact whose series it is read from."""
METHOD = "now / start - 1, in %"
SHORT_WINDOWS = (30, 90)
TOLD_SHORT = 2
STILL = 1.0
"""Changes below one percent are called steady."""
WORDS = {
    "price": ("price up", "price down"),
    "rank": ("rank worse", "rank better"),
    "review": ("reviews up", "reviews down"),
    "rating": ("rating up", "rating down"),
    "offer": ("more offers", "fewer offers"),
}


def section(look: Look) -> dict[str, Any]:
    """`{read_order, one_line, key_facts, decision_context, temporal_takeaways, temporal_by_window, missing_data,
    recommended_next_actions, risk_codes}`."""
    v: Vitals = look.section("vitals")
    codes = look.section("risk_taxonomy")["codes"]
    short = look.profile == SUMMARY
    wants = look.wants("agent_brief")
    makers: Mapping[str, Callable[[], Any]] = {
        "read_order": lambda: list(READ_ORDER.get(look.profile, FULL_ORDER)),
        "one_line": lambda: headline(look, v, codes),
        "key_facts": lambda: _key_facts(look, v, short=short),
        "decision_context": lambda: _context(look, v),
        "temporal_takeaways": lambda: list(islice(takeaways(look, v), TOLD_SHORT if short else None)),
        "temporal_by_window": lambda: _windows(look, v, short=short),
        "missing_data": lambda: _missing(v),
        "recommended_next_actions": lambda: [a["action"] for a in look.section("next_actions")],
        "risk_codes": lambda: codes,
    }
    return {name: make() for name, make in makers.items() if wants(name)}


def headline(look: Look, v: Vitals, codes: list[str]) -> str:
    """One line for people: `ASIN | title | price | rank | sales | rating | risks`."""
    s = look.subject
    asin = one_line(s.asin, 12) or "no ASIN"
    title = one_line(v.value("title"), 40).replace("|", "/") or "no title"
    if not s.usable:
        return f"{asin} | Keepa has no data of this ASIN"
    risks = [f"risks: {', '.join(codes)}"] if codes else []
    return " | ".join([asin, title, _price(look, v), _rank(v), _sold(v), _rating(v), *risks])


def _price(look: Look, v: Vitals) -> str:
    if v.price is None:
        return "no price" + _why(v, "new_price")
    kind = (v.price_name or "").removesuffix("_price").replace("_", " ")
    return f"{money(v.price.value, look.subject.domain)['formatted']} ({kind})"


def _rank(v: Vitals) -> str:
    if not v["sales_rank"].known:
        return "no rank" + _why(v, "sales_rank")
    known = v.rank_category
    where = f" in {one_line(known[1], 40) if known[1] else known[0]}" if known else ""
    return f"rank {v.value('sales_rank'):,}{where}"


def _sold(v: Vitals) -> str:
    if not v["monthly_sold"].known:
        return "no sales figure" + _why(v, "monthly_sold")
    return f"{v.value('monthly_sold'):,}+ sold/month"


def _rating(v: Vitals) -> str:
    rating, count = v["rating"], v["review_count"]
    if not rating.known:
        return "no rating" + _why(v, "rating")
    return f"{tenths(rating.value)}★" + (f" ({count.value:,})" if count.known else "")


def _why(v: Vitals, name: str) -> str:
    """Why there is none, unless simply none exists."""
    reason = v[name].reason
    return f" ({reason.value.replace('_', ' ')})" if reason and reason is not Reason.NONE else ""


def _key_facts(look: Look, v: Vitals, *, short: bool) -> Section:
    found, domain = Section(), look.subject.domain
    found.put("price", v.price.shown(domain) if v.price else None, v["new_price"].reason or Reason.NONE)
    for name in KEY_FACTS:
        found.put(name, v[name].shown(domain), v[name].reason or Reason.NONE)
    sold = v["monthly_sold"]
    found.put("monthly_sold_at_least", sold.value, sold.reason or Reason.NONE)
    if not short:
        kind = v.price_name.removesuffix("_price") if v.price_name else None
        found.put("price_kind", kind, Reason.NOT_COMPUTABLE)
        for name in ("brand", "category", "buy_box_seller"):
            text = v.value(name)
            found.put(name, one_line(text, 80) if text else None, v[name].reason or Reason.NONE)
    return found


def _context(look: Look, v: Vitals) -> Section:
    """A word each for what a decision weighs; the figures behind the words stand in `selection_signals`."""
    found = Section()
    for name, figure in (
        ("demand", demand(look, v)),
        ("competition", competition(v)),
        ("price_stability", stability(look, v)),
        ("content_quality", content_quality(look, v)),
    ):
        why = figure.get("absent", {}).get("value", Reason.NOT_COMPUTABLE.value)
        found.put(name, figure.get("level"), Reason(why))
    return found.put("data_quality", completeness(look)["level"])


def _windows(look: Look, v: Vitals, *, short: bool) -> dict[str, Any]:
    """By days: the change of each series in percent, and the changes in words."""
    if not short:
        return {"method": METHOD} | {str(d): _window(look, v, d) for d in look.windows}
    days = [d for d in SHORT_WINDOWS if d in look.windows] or look.windows[:2]
    return {"method": METHOD} | {str(d): _figures(look, v, d) for d in days}


def _window(look: Look, v: Vitals, days: int) -> Section:
    found, words = _figures(look, v, days, every=True), []
    for name, (up, down) in WORDS.items():
        moved = found[f"{name}_pct"]
        if moved is not None and abs(moved) >= STILL:
            words.append(down if moved < 0 else up)
    steady = any(found[f"{name}_pct"] is not None for name in WORDS)
    return found.put("signal_summary", ", ".join(words) or ("steady" if steady else None), Reason.NOT_COMPUTABLE)


def _figures(look: Look, v: Vitals, days: int, *, every: bool = False) -> Section:
    """`{price_pct, rank_pct, …}`. Unless `every` is wanted, what was not requested is left out."""
    found = Section()
    types = {"price": v.price_type} | {name: BY_NAME[SERIES[fact]] for name, fact in MOVES.items()}
    for name, t in types.items():
        moved = change(look.subject, t, days)
        if every or moved.reason is not Reason.NOT_REQUESTED:
            found.put(f"{name}_pct", moved.percent, moved.reason or Reason.NOT_COMPUTABLE)
    return found


def _missing(v: Vitals) -> dict[str, list[str]]:
    """What is not known, by reason; "none" is known, and not applicable is no gap."""
    found: dict[str, list[str]] = {}
    for name in EXPECTED:
        reason = v[name].reason
        if reason and reason is not Reason.NONE and reason is not Reason.NOT_APPLICABLE:
            found.setdefault(reason.value, []).append(name)
    return found
