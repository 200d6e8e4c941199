"""What a reader of a view may want to do next. Views name the need; the operations know the command for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any


class Need(StrEnum):
    """The `action` of an entry of `next_actions`."""

    GET_PRODUCT = "get_product"
    GET_HISTORY = "get_history"
    GET_OFFERS = "get_offers"
    GET_BUYBOX = "get_buybox"
    GET_RATING = "get_rating"
    GET_CONTENT = "get_content"
    GET_VARIATIONS = "get_variations"
    COMPARE_PRODUCTS = "compare_products"
    EXPORT_HISTORY = "export_history"
    ESTIMATE_PROFIT = "estimate_profit"
    GET_SELLER = "get_seller"
    LIST_CATEGORY_PRODUCTS = "list_category_products"
    DRAFT_FINDER_SELECTION = "draft_finder_selection"
    QUERY_FINDER = "query_finder"
    SEARCH_CATEGORIES = "search_categories"
    SEARCH_PRODUCTS = "search_products"
    PLAN_WORKFLOW = "plan_workflow"
    RUN_WORKFLOW = "run_workflow"
    MERGE_GRAPH = "merge_graph"
    EXPORT_BRIEF = "export_brief"
    BUILD_REPORT = "build_report"
    DRAW_FIGURES = "draw_figures"
    AUDIT_INVENTORY = "audit_inventory"
    FIND_FAST_MOVERS = "find_fast_movers"
    CHECK_TOKENS = "check_tokens_status"


Planner = Callable[[Need, Mapping[str, Any], str], dict[str, Any]]
"""(need, parameters, reason) -> an entry of `next_actions`: it validates and runs as it stands."""
