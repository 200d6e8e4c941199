"""The sections of a product view in their order, and what builds each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keepa_cli.research.product import (
    agent_brief,
    aplus,
    category,
    content,
    data_quality,
    demand,
    evidence_index,
    history_summary,
    identity,
    logistics,
    media,
    next_actions,
    offers,
    pricing,
    provenance,
    rating,
    research_graph,
    risk_taxonomy,
    selection_signals,
    stats_summary,
    temporal_features,
    vitals,
)
from keepa_cli.research.product.look import Look

SHOWN: Mapping[str, Callable[[Look], Any]] = {
    "agent_brief": agent_brief.section,
    "identity": identity.section,
    "category": category.section,
    "pricing": pricing.section,
    "demand": demand.section,
    "rating": rating.section,
    "offers": offers.section,
    "media": media.section,
    "aplus": aplus.section,
    "content": content.section,
    "logistics": logistics.section,
    "stats_summary": stats_summary.section,
    "history_summary": history_summary.section,
    "temporal_features": temporal_features.section,
    "selection_signals": selection_signals.section,
    "risk_taxonomy": risk_taxonomy.section,
    "research_graph": research_graph.section,
    "data_quality": data_quality.section,
    "next_actions": next_actions.section,
    "evidence_index": evidence_index.section,
    "provenance": provenance.section,
}
BUILDERS: Mapping[str, Callable[[Look], Any]] = {**SHOWN, "vitals": vitals.section}
"""With what sections read of each other and no view shows."""
