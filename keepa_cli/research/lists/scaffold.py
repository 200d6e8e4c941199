"""A finder selection drafted for one category, on paper: nothing is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.finder import results_of
from keepa_cli.research.graph.model import EdgeType, Graph, NodeType
from keepa_cli.research.lists.field_notes import field_notes, meaning
from keepa_cli.research.lists.profile import Ask, Listing
from keepa_cli.research.needs import Need, Planner

VIEW = "finder_selection_scaffold"
STANDARD = {"page": 0, "perPage": 50, "productType": [0], "sort": [["current_SALES", "asc"]]}
"""What a draft holds beside its category, unless it was given otherwise."""
SUGGESTED: Mapping[str, Any] = {
    "current_NEW_gte": 1500, "current_NEW_lte": 6000, "current_SALES_lte": 50_000, "current_RATING_lte": 42,
    "current_COUNT_REVIEWS_lte": 300, "current_COUNT_NEW_lte": 5, "monthlySold_gte": 100,
    "outOfStockPercentage90_gte": 90, "deltaPercent90_NEW_gte": 20,
}  # fmt: skip
"""Fields that research often adds, with an example of a value."""


def drafted(category: int, *, root: bool, filters: Mapping[str, Any]) -> dict[str, Any]:
    """The selection: the category, the standard fields, and the filters, which win."""
    place = {"rootCategory": [category]} if root else {"categories_include": [category]}
    return dict(sorted((STANDARD | place | dict(filters)).items()))


def view(category: int, selection: dict[str, Any], domain: Domain, plan: Planner, *, root: bool) -> dict[str, Any]:
    """The answer of `categories finder-selection`."""
    listing = Listing({}, domain, {}, plan)
    asked: list[Ask] = [
        (
            Need.QUERY_FINDER,
            {"selection": selection, "domain": domain.code},
            "Run the selection; --dry-run prices it first.",
        ),
        (
            Need.LIST_CATEGORY_PRODUCTS,
            {"category": str(category), "domain": domain.code},
            "Or list the best sellers of the category.",
        ),
    ]
    actions = listing.actions(asked)
    own = len(selection.keys() - STANDARD.keys()) - 1
    most = results_of(selection)
    return {
        "view": VIEW,
        "agent_brief": {
            "read_order": ["agent_brief", "selection", "field_notes", "next_actions"],
            "one_line": f"A finder selection for category {category} ({domain.code}) with {own} filters of its own.",
            "key_facts": {"category": category, "fields": len(selection), "most_results": most},
            "decision_context": {"cost": "drafting is free; running it costs 10 tokens and 1 per 100 ids"},
            "missing_data": [],
            "recommended_next_actions": [a["action"] for a in actions],
        },
        "domain": domain.code,
        "category": {"id": category, "as_root": root},
        "selection": selection,
        "field_notes": field_notes(selection, domain),
        "suggested_fields": [
            {"field": name, "example": value, "meaning": meaning(name, value, domain)}
            for name, value in SUGGESTED.items()
            if name not in selection
        ],
        "data_quality": {"level": "complete", "notes": _notes(own, root)},
        "selection_signals": {"own_filters": own, "width": "whole category" if not own else "filtered"},
        "next_actions": actions,
        "evidence_index": [],
        "research_graph": _graph(listing, category, selection),
        "provenance": {"endpoint": "local", "domain": domain.code, "params": {"category": category}},
    }


def _notes(own: int, root: bool) -> list[str]:
    notes = ["The category was not looked up: kc categories get tells whether it exists."]
    if not root:
        notes.append("Taken as a category below a root; give --root for a root category.")
    if not own:
        notes.append("Without a filter of its own the selection returns the best ranked products of the category.")
    return notes


def _graph(listing: Listing, category: int, selection: Mapping[str, Any]) -> dict[str, Any]:
    from keepa_cli.research.lists.finder import selection_key

    key = selection_key(listing, selection)
    graph = Graph(f"{NodeType.SELECTION}:{key}")
    root = graph.node(NodeType.SELECTION, key, "finder selection")
    graph.edge(EdgeType.FILTERS_CATEGORY, root, graph.node(NodeType.CATEGORY, listing.key(category)))
    return graph.as_dict()
