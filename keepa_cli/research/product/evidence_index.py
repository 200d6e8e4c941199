"""Where the facts stand: in the raw answer, and in which section and profile of the view they are read."""

from __future__ import annotations

from typing import Any

from keepa_cli.research.product.look import Look

DEAL, RESEARCH = "deal", "research"
WHERE = {
    "title": ("identity", DEAL),
    "brand": ("identity", DEAL),
    "category": ("category", DEAL),
    "new_price": ("pricing", DEAL),
    "buy_box_price": ("pricing", DEAL),
    "amazon_price": ("pricing", DEAL),
    "sales_rank": ("demand", DEAL),
    "monthly_sold": ("demand", DEAL),
    "rating": ("rating", DEAL),
    "review_count": ("rating", DEAL),
    "new_offer_count": ("offers", DEAL),
    "live_offer_count": ("offers", DEAL),
    "buy_box_seller": ("offers", DEAL),
    "image_count": ("media", DEAL),
    "video_count": ("media", DEAL),
    "aplus_module_count": ("aplus", DEAL),
}
"""Fact -> the section that shows it, and the smallest profile that has that section."""


def section(look: Look) -> list[dict[str, Any]]:
    """`{fact, path, section, view}` of every fact that is known, and of the histories and statistics behind them."""
    s, vitals = look.subject, look.section("vitals")
    found = [_entry(n, vitals[n].path, *where) for n, where in WHERE.items() if vitals[n].known]
    if s.asked.history:
        found.append(_entry("histories", s.at("csv"), "temporal_features", RESEARCH))
    return found + ([_entry("statistics", s.at("stats"), "stats_summary", RESEARCH)] if s.stats else [])


def _entry(fact: str, path: str, where: str, view: str) -> dict[str, Any]:
    return {"fact": fact, "path": path, "section": where, "view": view}
