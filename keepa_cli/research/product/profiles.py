"""What each profile of a product view shows, how large it may be, and what is left out first where it would be larger.

A profile is a table: section -> ALL, or the members of it that are shown; a member may again name its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from keepa_cli.research.facts import ABSENT, Section


class Profile(StrEnum):
    """How much of a product a view shows."""

    RAW = "raw"
    SUMMARY = "summary"
    DEAL = "deal"
    RESEARCH = "research"
    AUDIT = "audit"


ALL = True
Pick = Any
"""ALL, or a tuple of names, or names with the picks of what they hold."""

SECTIONS = (
    "agent_brief", "identity", "category", "pricing", "demand", "rating", "offers", "media", "aplus", "content",
    "logistics", "stats_summary", "history_summary", "temporal_features", "selection_signals", "risk_taxonomy",
    "research_graph", "data_quality", "next_actions", "evidence_index", "provenance",
)  # fmt: skip
"""In the order of a view."""
LIMITS: Mapping[str, int] = {Profile.SUMMARY: 2048, Profile.DEAL: 8192, Profile.RESEARCH: 32768}
"""Bytes of compact JSON of one product."""

_PRICE = ("raw", "amount", "currency", "formatted", "at", "evidence_path")
_AMOUNT = ("raw", "amount", "currency", "formatted", "evidence_path")
_VALUE = ("value", "evidence_path")
_DERIVED = ("value", "method", "inputs", "confidence", "evidence_path")
_FIGURE = ("value", "level", "method", "inputs", "confidence", "evidence_path")

PROFILES: Mapping[str, Mapping[str, Pick]] = {
    Profile.SUMMARY: {
        "agent_brief": ("one_line", "decision_context", "temporal_takeaways", "risk_codes"),
        "identity": ("asin", "title", "brand", "domain", "updated_at"),
        "pricing": {"currency": ALL, "new": _AMOUNT, "buy_box": _AMOUNT, "coupon": ALL},
        "demand": {"sales_rank": _VALUE, "monthly_sold": _DERIVED},
        "rating": {"rating": _VALUE, "review_count": _VALUE},
        "offers": {"new_offer_count": _VALUE},
        "data_quality": {"not_requested": ALL},
        "next_actions": ALL,
    },
    Profile.DEAL: {
        "agent_brief": (
            "read_order", "one_line", "decision_context", "temporal_takeaways", "missing_data", "risk_codes",
        ),
        "identity": (
            "asin", "title", "brand", "domain", "kind", "parent_asin", "variation_count", "url", "updated_at",
            "evidence_path",
        ),
        "category": ("root", "leaf", "rank_reference", "evidence_path"),
        "pricing": {
            "currency": ALL, "new": ALL, "amazon": ALL, "buy_box": ALL, "list_price": _PRICE, "used": _PRICE,
            "lightning_deal": _PRICE, "lowest_ever": ALL, "highest_ever": ALL, "coupon": ALL,
            "coupon_history": ("event_count", "period_count", "last_ended_at", "evidence_path"),
            "deal_badges": ALL, "promotions": ALL,
        },
        "demand": {
            "sales_rank": ALL, "monthly_sold": ALL, "monthly_sold_change_90d": ALL, "rank_drops": ALL,
        },
        "rating": {"rating": ALL, "review_count": ALL},
        "offers": {
            "total_offer_count": ALL, "new_offer_count": ALL, "used_offer_count": ALL, "new_fba_offer_count": ALL,
            "new_fbm_offer_count": ALL, "buy_box": ALL, "buy_box_used": ALL, "buy_box_share": ALL,
            "buy_box_seller_count": ALL, "buy_box_share_basis": ALL, "live_offer_count": ALL,
            "live": ("seller_id", "condition", "is_fba", "is_amazon", "total", "stock", "at", "evidence_path"),
        },
        "media": ("image_count", "video_count", "evidence_path"),
        "aplus": ("module_count", "evidence_path"),
        "logistics": ("fba_fees", "referral_fee_percentage", "availability_amazon"),
        "selection_signals": {
            "price_position": _FIGURE, "price_stability": _FIGURE, "demand": _FIGURE, "competition": _FIGURE,
            "risk_codes": ALL,
        },
        "risk_taxonomy": ("codes", "items"),
        "data_quality": ("completeness", "missing", "not_requested", "stale", "age_hours"),
        "next_actions": ALL,
    },
    Profile.RESEARCH: dict.fromkeys(SECTIONS, ALL),
    Profile.AUDIT: dict.fromkeys(
        (
            "agent_brief", "identity", "stats_summary", "selection_signals", "risk_taxonomy", "data_quality",
            "next_actions", "evidence_index", "provenance",
        ),
        ALL,
    ),
}  # fmt: skip

UNUSABLE: Mapping[str, Pick] = {
    "identity": ("asin", "domain", "kind", "updated_at", "evidence_path"),
    "provenance": ("source", "endpoint", "evidence_path", "now_at"),
}
"""What is shown of an ASIN that Keepa cannot access or that does not exist, beside `data_quality`, which says so."""

CUT_FIRST: Mapping[str, tuple[str, ...]] = {
    Profile.SUMMARY: (
        "offers.new_offer_count", "data_quality.not_requested", "offers", "pricing.coupon", "data_quality",
        "next_actions", "rating.review_count", "identity.brand", "demand.monthly_sold", "pricing.new", "rating",
        "demand", "pricing", "agent_brief",
    ),
    Profile.DEAL: (
        "offers.live[:2]", "offers.buy_box_share[:1]", "agent_brief.temporal_takeaways[:3]",
        "pricing.coupon_history", "pricing.highest_ever", "aplus", "media", "offers.live[:1]",
        "agent_brief.temporal_takeaways", "offers.buy_box_share", "logistics", "selection_signals", "offers.live",
        "agent_brief.decision_context", "offers",
        "category", "next_actions[:1]", "next_actions", "data_quality", "risk_taxonomy.items", "risk_taxonomy",
        "pricing.deal_badges", "pricing.promotions", "demand.monthly_sold_change_90d", "demand.rank_drops",
        "pricing.lowest_ever", "agent_brief", "rating", "demand", "pricing",
    ),
    Profile.RESEARCH: (
        "category.path", "media.images[:3]", "content.safety_warning", "content.ingredients", "content.description",
        "provenance.rating_updated_at", "provenance.sold_updated_at", "provenance.price_changed_at",
        "provenance.updated_at", "category.item_type", "identity.product_type", "identity.color", "identity.size",
        "pricing.buy_box_highest_ever", "pricing.buy_box_lowest_ever", "media.images[:1]", "offers.live[:3]",
        "history_summary.series.*.newest[-7:]", "pricing.coupon_history.newest[:1]", "content.features[:2]",
        "history_summary.series.*.newest[-5:]", "media.videos_by_creator", "demand.category_ranks[:1]",
        "offers.live[:2]", "history_summary.series.*.newest[-3:]", "temporal_features.series.*.windows.180",
        "content.features", "history_summary.series.*.newest", "offers.buy_box_share[:1]", "content", "logistics.item",
        "temporal_features.series.*.windows.7", "offers.live[:1]", "pricing.coupon_history", "demand.category_ranks",
        "aplus", "media", "provenance", "offers.live",
        "history_summary", "research_graph", "stats_summary", "evidence_index", "temporal_features",
        "selection_signals", "logistics", "category", "next_actions[:1]", "next_actions", "data_quality",
        "risk_taxonomy", "offers", "agent_brief", "rating", "demand", "pricing",
    ),
}  # fmt: skip
"""By how little a reader misses it: whole members, or but a slice of a list; `*` is every member of an object. What
was cut is named in `truncated`."""


def picked(value: Any, pick: Pick) -> Any:
    """What `pick` leaves of a section or of a member of it, reasons of absent members included."""
    if isinstance(value, list) and pick is not ALL:
        return [picked(one, pick) for one in value]
    if pick is ALL or not isinstance(value, Mapping):
        return value
    inner: Mapping[str, Pick] = pick if isinstance(pick, Mapping) else dict.fromkeys(pick, ALL)
    found = Section({name: picked(value[name], p) for name, p in inner.items() if name in value})
    reasons = {name: why for name, why in value.get(ABSENT, {}).items() if name in found}
    return Section(found | {ABSENT: reasons}) if reasons else found
