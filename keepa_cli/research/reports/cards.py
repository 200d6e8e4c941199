"""What people read of one product, from its view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keepa_cli.keepa.domains import Domain
from keepa_cli.research.facts import ABSENT
from keepa_cli.research.figures.text import clean
from keepa_cli.research.reports import windows
from keepa_cli.research.reports.texts import address, fact, label, text_of, why

SECTIONS = (
    "agent_brief", "identity", "category", "pricing", "demand", "rating", "offers", "media", "aplus", "logistics",
    "stats_summary", "history_summary", "temporal_features", "risk_taxonomy", "data_quality", "next_actions",
    "evidence_index", "provenance",
)  # fmt: skip
"""The sections of a product view that a card is made of."""
NAMES = {
    "new": "Lowest new", "amazon": "Amazon", "buy_box": "Buy box", "list_price": "List price", "used": "Used",
    "new_fba": "New, FBA", "new_fbm_shipping": "New, FBM with shipping", "lowest_ever": "Lowest ever (new)",
    "highest_ever": "Highest ever (new)", "buy_box_lowest_ever": "Lowest ever (buy box)",
    "buy_box_highest_ever": "Highest ever (buy box)", "monthly_sold": "Sold a month",
    "monthly_sold_change_90d": "Change of units sold, 90 days", "total_offer_count": "Offers, all",
    "new_offer_count": "Offers, new", "used_offer_count": "Offers, used", "new_fba_offer_count": "Offers, new FBA",
    "new_fbm_offer_count": "Offers, new FBM", "review_count": "Ratings", "written_review_count": "Written reviews",
    "competitive_price_threshold": "Competitive price threshold", "referral_fee_percentage": "Referral fee",
}  # fmt: skip
GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "Price": ("pricing", (
        "buy_box", "new", "amazon", "list_price", "new_fba", "new_fbm_shipping", "used", "lowest_ever",
        "highest_ever", "buy_box_lowest_ever", "buy_box_highest_ever", "competitive_price_threshold",
    )),
    "Demand": ("demand", ("sales_rank", "monthly_sold", "monthly_sold_change_90d")),
    "Rating": ("rating", ("rating", "review_count", "written_review_count")),
    "Offers": ("offers", (
        "total_offer_count", "new_offer_count", "new_fba_offer_count", "new_fbm_offer_count", "used_offer_count",
    )),
}  # fmt: skip
FULFILMENT = {"True": "FBA", "False": "FBM"}
MOST = 60


def section(view: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of a view; empty where it has none."""
    found = view.get(name)
    return found if isinstance(found, Mapping) else {}


def rows(value: Any, most: int = MOST) -> Iterator[Mapping[str, Any]]:
    """The objects in a list."""
    yield from (v for v in (value if isinstance(value, list) else ())[:most] if isinstance(v, Mapping))


def card(key: str, view: Mapping[str, Any], domain: Domain) -> dict[str, Any]:
    """Everything that a report or a page shows of a product. Members without a value tell why."""
    identity, quality = section(view, "identity"), section(view, "data_quality")
    brief = section(view, "agent_brief")
    return {
        "key": key,
        "asin": text_of(identity.get("asin")) or key,
        "domain": domain.code,
        "title": text_of(identity.get("title")) or "",
        "brand": text_of(identity.get("brand")) or "",
        "category": " › ".join(
            clean(c.get("name")) for c in rows(section(view, "category").get("path")) if c.get("name")
        ),
        "url": address(identity.get("url")) or "",
        "usable": quality.get("usable") is not False,
        "one_line": text_of(brief.get("one_line")) or text_of(quality.get("message")) or "",
        "key_facts": list(key_facts(view)),
        "assessment": [
            {"label": label(k), "text": clean(v).replace("_", " ")}
            for k, v in section(brief, "decision_context").items()
            if isinstance(v, str)
        ],
        "takeaways": [text for t in rows(brief.get("temporal_takeaways")) if (text := text_of(t.get("text")))],
        "groups": list(_groups(view)),
        "windows": windows.changes(section(view, "temporal_features"), domain),
        "averages": windows.averages(section(view, "stats_summary"), domain),
        "newest": windows.newest(section(view, "history_summary"), domain),
        "risks": risks(section(view, "risk_taxonomy").get("items")),
        "risks_assessed": isinstance(section(view, "risk_taxonomy").get("items"), list),
        "missing": list(_missing(view)),
        "evidence": _evidence(view),
        "times": _times(view),
    }


def key_facts(view: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The six numbers that come first."""
    pricing, demand = section(view, "pricing"), section(view, "demand")
    rating, offers = section(view, "rating"), section(view, "offers")
    box = pricing.get("buy_box")
    price = "buy_box" if isinstance(box, Mapping) else "new"
    yield _named(pricing, price, "Price", "buy box" if price == "buy_box" else "lowest new")
    rank = section(demand, "sales_rank")
    yield _named(demand, "sales_rank", "Sales rank", text_of(rank.get("category_name")))
    yield _named(demand, "monthly_sold", "Sold a month", None)
    yield _named(rating, "rating", "Rating", "of 5")
    yield _named(rating, "review_count", "Ratings", None)
    yield _named(offers, "new_offer_count", "New offers", None)


def _named(holder: Mapping[str, Any], name: str, title: str, note: str | None) -> dict[str, Any]:
    return fact(title, holder.get(name), section(holder, ABSENT).get(name), note)


def _groups(view: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for title, (name, members) in GROUPS.items():
        holder = section(view, name)
        facts = [_named(holder, m, NAMES.get(m, label(m)), _note(holder.get(m))) for m in members if m in holder]
        if name == "pricing" and isinstance(holder.get("coupon"), Mapping):
            facts += [_coupon(kind, one) for kind, one in holder["coupon"].items() if isinstance(one, Mapping)]
        elif name == "pricing" and "coupon" in holder:
            facts.append(_named(holder, "coupon", "Coupon", None))
        if name == "demand":
            facts += [_rank(r) for r in rows(holder.get("category_ranks"), 5)]
        if facts:
            yield {"title": title, "facts": facts, "sellers": _sellers(holder) if name == "offers" else []}


def _note(value: Any) -> str | None:
    about = value if isinstance(value, Mapping) else {}
    if isinstance(about.get("direction"), str):
        return f"{label(about['direction']).lower()}; Keepa counts a rise as negative"
    notes = {"incl_shipping": "with shipping", "excl_shipping": "without shipping"}
    return notes.get(str(about.get("basis"))) or text_of(about.get("category_name"))


def _rank(row: Mapping[str, Any]) -> dict[str, Any]:
    return fact(f"Rank in {text_of(row.get('category_name')) or text_of(row.get('category_id')) or 'a category'}", row)


def _coupon(kind: str, one: Mapping[str, Any]) -> dict[str, Any]:
    percent = one.get("percent")
    value: Any = one if percent is None else {"value": percent, "unit": "percent"}
    return fact(f"Coupon, {label(kind).lower()}", value)


def _sellers(offers: Mapping[str, Any]) -> list[dict[str, str]]:
    """Who held the buy box, for how much of the time."""
    return [
        {
            "seller": text_of(row.get("seller_id")) or "",
            "share": f"{row['percentage_won']} %" if isinstance(row.get("percentage_won"), int | float) else "",
            "price": text_of(row.get("average_price")) or "",
            "fulfilment": FULFILMENT.get(str(row.get("is_fba")), ""),
        }
        for row in rows(offers.get("buy_box_share"), 8)
    ]


def risks(items: Any) -> list[dict[str, str]]:
    return [
        {
            "code": text_of(i.get("code")) or "",
            "severity": text_of(i.get("severity")) or "",
            "reason": text_of(i.get("reason")) or "",
        }
        for i in rows(items)
    ]


def _missing(view: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """What is not known, each fact once: from the quality section, and from the facts that have no value."""
    quality = section(view, "data_quality")
    seen: dict[str, str] = {}
    for row in rows(quality.get("missing")):
        if isinstance(row.get("fact"), str):
            seen[row["fact"]] = why(row.get("reason"))
    for name in _strings(quality.get("not_requested")):
        seen.setdefault(name, "not requested")
    for _, (holder, members) in GROUPS.items():
        absent = section(section(view, holder), ABSENT)
        for name in members:
            if name in absent:
                seen.setdefault(name, why(absent[name]))
    yield from ({"fact": NAMES.get(name, label(name)), "reason": reason} for name, reason in seen.items())


def _evidence(view: Mapping[str, Any]) -> list[dict[str, str]]:
    found = []
    for row in rows(view.get("evidence_index")):
        path = text_of(row.get("path"))
        if path:
            found.append({"fact": label(row.get("fact")), "path": path})
    return found


def _times(view: Mapping[str, Any]) -> list[dict[str, Any]]:
    seen = section(view, "provenance")
    updated = seen.get("updated_at") or section(view, "identity").get("updated_at")
    found = (("Data as of", seen.get("now_at")), ("Last update by Keepa", updated))
    return [{"label": name, "at": at} for name, at in found if isinstance(at, str)]


def _strings(value: Any) -> Sequence[str]:
    return [v for v in value if isinstance(v, str)][:MOST] if isinstance(value, list) else []
