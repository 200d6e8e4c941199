"""Where the facts stand: in the raw answer, and in which section and profile of the view they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.research.product.look import Look
from keepa_cli.research.product.profiles import ALL, PROFILES, Pick, Profile

WHERE = {
    "title": ("identity", "title"),
    "brand": ("identity", "brand"),
    "category": ("category", "root"),
    "new_price": ("pricing", "new"),
    "buy_box_price": ("pricing", "buy_box"),
    "amazon_price": ("pricing", "amazon"),
    "sales_rank": ("demand", "sales_rank"),
    "monthly_sold": ("demand", "monthly_sold"),
    "rating": ("rating", "rating"),
    "review_count": ("rating", "review_count"),
    "new_offer_count": ("offers", "new_offer_count"),
    "live_offer_count": ("offers", "live_offer_count"),
    "buy_box_seller": ("offers", "buy_box"),
    "image_count": ("media", "image_count"),
    "video_count": ("media", "video_count"),
    "aplus_module_count": ("aplus", "module_count"),
}
"""Fact -> the section and the member of it that show it."""
SIZES = (Profile.SUMMARY, Profile.DEAL)
"""The profiles smaller than the one that shows everything."""


def section(look: Look) -> list[dict[str, Any]]:
    """`{fact, path, section, view}` of every fact that is known, and of the histories and statistics behind them."""
    s, vitals = look.subject, look.section("vitals")
    found = [_entry(n, vitals[n].path, *where) for n, where in WHERE.items() if vitals[n].known]
    if s.asked.history:
        found.append(_entry("histories", s.at("csv"), "temporal_features"))
    return found + ([_entry("statistics", s.at("stats"), "stats_summary")] if s.stats else [])


def _entry(fact: str, path: str, section: str, member: str = "") -> dict[str, Any]:
    view = next((p for p in SIZES if shows(PROFILES[p], section, member)), Profile.RESEARCH)
    return {"fact": fact, "path": path, "section": section, "view": view.value}


def shows(profile: Mapping[str, Pick], section: str, member: str) -> bool:
    """Whether a profile shows this member of a section."""
    pick = profile.get(section, ())
    return pick is ALL or member in pick
