"""Where the facts stand: in the raw answer, and in which section and profile of the view they are read."""

from __future__ import annotations

from typing import Any

from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.vitals import SERIES, Vitals

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
    """`{fact, path, section, view}` of every fact that is known, and of every history that is there."""
    s, vitals = look.subject, look.section("vitals")
    found = [_entry(n, vitals[n].path, *where) for n, where in WHERE.items() if vitals[n].known]
    return found + list(_histories(look, vitals)) + ([_stats(s.at("stats"))] if s.stats else [])


def _histories(look: Look, vitals: Vitals) -> list[dict[str, Any]]:
    s, wanted = look.subject, ("new_price", "buy_box_price", "sales_rank", "review_count")
    codes = [SERIES[n] for n in wanted]
    return [
        _entry(f"{name}_history", s.series_path(code), "temporal_features", RESEARCH)
        for name, code in zip(wanted, codes, strict=True)
        if len(s.series(BY_NAME[code])) > 1
    ]


def _stats(path: str) -> dict[str, Any]:
    return _entry("statistics", path, "stats_summary", RESEARCH)


def _entry(fact: str, path: str, where: str, view: str) -> dict[str, Any]:
    return {"fact": fact, "path": path, "section": where, "view": view}
