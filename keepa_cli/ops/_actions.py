"""Next actions: what a view suggests, as operations that can be run as they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli import ops
from keepa_cli.core.commandline import command_line
from keepa_cli.core.consent import needs_consent
from keepa_cli.core.context import Context
from keepa_cli.core.registry import TOKENS_STATUS
from keepa_cli.core.schema import bind
from keepa_cli.ops import _names as names
from keepa_cli.research.needs import Need, Planner

COMMANDS: Mapping[Need, str] = {
    Need.GET_PRODUCT: names.PRODUCTS_GET,
    Need.GET_HISTORY: names.PRODUCTS_GET,
    Need.GET_OFFERS: names.PRODUCTS_GET,
    Need.GET_BUYBOX: names.PRODUCTS_GET,
    Need.GET_RATING: names.PRODUCTS_GET,
    Need.GET_CONTENT: names.PRODUCTS_GET,
    Need.GET_VARIATIONS: names.PRODUCTS_GET,
    Need.COMPARE_PRODUCTS: names.PRODUCTS_COMPARE,
    Need.EXPORT_HISTORY: names.HISTORY_EXPORT,
    Need.ESTIMATE_PROFIT: names.PROFIT,
    Need.GET_SELLER: names.SELLERS_GET,
    Need.LIST_CATEGORY_PRODUCTS: names.CATEGORIES_PRODUCTS,
    Need.DRAFT_FINDER_SELECTION: names.CATEGORIES_FINDER_SELECTION,
    Need.QUERY_FINDER: names.FINDER_QUERY,
    Need.SEARCH_CATEGORIES: names.CATEGORIES_SEARCH,
    Need.SEARCH_PRODUCTS: names.PRODUCTS_SEARCH,
    Need.PLAN_WORKFLOW: names.WORKFLOW_PLAN,
    Need.RUN_WORKFLOW: names.WORKFLOW_RUN,
    Need.MERGE_GRAPH: names.RESEARCH_GRAPH_MERGE,
    Need.EXPORT_BRIEF: names.RESEARCH_BRIEF,
    Need.BUILD_REPORT: names.REPORTS_BUILD,
    Need.DRAW_FIGURES: names.FIGURES_RESEARCH,
    Need.AUDIT_INVENTORY: names.INVENTORY_AUDIT,
    Need.FIND_FAST_MOVERS: names.FAST_MOVERS,
    Need.CHECK_TOKENS: TOKENS_STATUS,
}


def planner(ctx: Context) -> Planner:
    """What turns the needs of a view into actions, with the consent that this configuration asks for."""

    def plan(need: Need, params: Mapping[str, Any], reason: str) -> dict[str, Any]:
        return {"action": need.value, "reason": reason} | action(ctx, COMMANDS[need], params)

    return plan


def action(ctx: Context, command: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """`{command, tool, params, cli, estimated_tokens, worst_case_tokens, requires_confirmation}`.

    The parameters are checked here, so that nothing that is called executable holds a placeholder. Raises
    `invalid_arguments`.
    """
    op = ops.find(command)
    cost = op.cost(bind(op, params))
    return {
        "command": op.name,
        "tool": op.tool,
        "params": dict(params),
        "cli": command_line(op, params),
        "estimated_tokens": cost.estimated,
        "worst_case_tokens": cost.worst,
        "requires_confirmation": op.remote and needs_consent(op, cost, ctx),
    }
