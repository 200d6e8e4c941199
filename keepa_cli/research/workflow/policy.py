"""How a plan is to be executed: which tools, under which profile, with which consents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.workflow.model import Plan

SPENDING_PROFILE = "live_read_allowed"
FROM_RECORDINGS = frozenset({"dry_run_default", "offline_fixture_only"})
"""Profiles that answer from recordings or as a dry run."""
STEP_PROFILES: Mapping[str, str] = {"tracking-readonly": "tracking_readonly", "curation": "fixture_curation"}
"""Toolsets that have a profile of their own."""


def policy(plan: Plan, steps: Sequence[Mapping[str, Any]], limit: int | None) -> dict[str, Any]:
    """`workflow_policy` of a plan whose steps are described; `limit` is the token limit that is configured."""
    tools = list(dict.fromkeys(step["tool"] for step in steps))
    inactive = {s["tool"]: _inactive(plan, s) for s in steps if _inactive(plan, s)}
    allowed = [tool for tool in tools if tool not in inactive]
    return {
        "recommended_toolset": plan.toolset,
        "recommended_profile": plan.profile,
        "allowed_tools": allowed,
        "inactive_tools": [{"tool": tool, "reason": reason} for tool, reason in inactive.items()],
        "profile_switch_points": _switches(plan, steps),
        "confirmation_policy": _confirmation(steps),
        "budget_ledger_seed": _seed(steps, limit),
        "tool_discovery": {"method": "tools/list", "params": {"allow_tools": tools, "profile": plan.profile}},
    }


def _inactive(plan: Plan, step: Mapping[str, Any]) -> str:
    """Why a tool is not in the recommended toolset; empty for one that is."""
    toolset = step["mcp"]["toolset"]
    return "" if toolset == plan.toolset else f"It belongs to the toolset {toolset}."


def _switches(plan: Plan, steps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    toolset, profile = plan.toolset, plan.profile
    for step in steps:
        wanted = step["mcp"]["toolset"]
        spends = step["execution"]["where"] == "keepa" and step["worst_case_tokens"] > 0
        needed = SPENDING_PROFILE if spends and profile in FROM_RECORDINGS else STEP_PROFILES.get(wanted, profile)
        if (wanted, needed) == (toolset, profile):
            continue
        reason = (
            "To ask Keepa; from recordings no switch is needed."
            if needed != profile
            else "Its tool is in that toolset."
        )
        found.append({"before_step": step["id"], "toolset": wanted, "profile": needed, "reason": reason})
        toolset, profile = wanted, needed
    return found


def _confirmation(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    asked = [s for s in steps if s["requires_confirmation"]]
    return {
        "pause_before": [s["id"] for s in asked],
        "worst_case_tokens": {s["id"]: s["worst_case_tokens"] for s in asked},
        "consent": "--confirm STEP consents to one step, --yes to all; recordings need none.",
        "rule": "Never consent to a step on your own: show its price, and let the person who pays decide.",
    }


def _seed(steps: Sequence[Mapping[str, Any]], limit: int | None) -> dict[str, Any]:
    needed = [s for s in steps if not s["optional"]]
    blocked = [
        {"step": s["id"], "command": s["command"], "worst_case_tokens": s["worst_case_tokens"]}
        for s in steps
        if s["requires_confirmation"]
    ]
    seed = Section(
        session_estimated=sum(s["estimated_tokens"] for s in needed),
        session_worst_case=sum(s["worst_case_tokens"] for s in steps),
        session_consumed=0,
        blocked_actions=blocked,
        cache_hits=0,
        consumed_source="plan",
    )
    return seed.put("remaining_limit", limit, Reason.NOT_APPLICABLE)
