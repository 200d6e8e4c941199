"""Schemas of what operations tell of work itself: plans, runs, batches, prices, figures."""

from __future__ import annotations

from keepa_cli.core.errors import Kind
from keepa_cli.research.facts import Reason
from keepa_cli.research.figures import model, sets
from keepa_cli.research.schemas.build import (
    ANY,
    COUNT,
    FLAG,
    OPEN,
    SHA256,
    TEXT,
    TIME,
    Schema,
    closed,
    const,
    listed,
    maybe,
    one_of,
    table,
)
from keepa_cli.research.schemas.lists import closed_as_is
from keepa_cli.research.schemas.shared import ACTIONS, COMMANDS, INPUT, OUTPUT

NAMES = listed(TEXT)
SUMS = dict.fromkeys(("estimated_tokens", "estimated_tokens_with_optional", "worst_case_tokens"), COUNT)


def plan() -> Schema:
    """`data` of workflow plan, and of workflow run with --dry-run."""
    key_facts = closed({"purpose": TEXT, "estimated_tokens": COUNT, "worst_case_tokens": COUNT,
                        "steps_that_ask": NAMES})  # fmt: skip
    brief = closed({"read_order": NAMES, "one_line": TEXT, "key_facts": key_facts, "decision_context": TEXT})
    totals = closed({"steps": COUNT, "executable_now": COUNT, **SUMS, "steps_that_ask": NAMES})
    artifact = closed({"id": TEXT, "kind": TEXT, "producer": TEXT, "path": TEXT, "resource": RESOURCE})
    address = closed({"template": RESOURCE, "holds": TEXT}, {"uri": RESOURCE})
    quality = closed(
        {"status": one_of(("complete", "incomplete")), "notes": NAMES, "waiting_steps": NAMES,
         Kind.MISSING_INPUTS.value: NAMES}
    )  # fmt: skip
    needed = {
        "agent_brief": brief, "view": const("workflow_plan"), "workflow": TEXT, "purpose": TEXT, "out_dir": TEXT,
        "workflow_inputs": _inputs(), "workflow_policy": _policy(), "totals": totals,
        "parallel_groups": listed(closed({"id": TEXT, "steps": NAMES})), "steps": listed(_step()),
        "artifacts": listed(artifact), "resource_templates": listed(address), "data_quality": quality,
        "next_actions": COMMANDS, "evidence_index": listed(closed({"fact": TEXT, "path": TEXT})),
        "provenance": closed({"source": const("plan"), "sent": const_false(), "method": TEXT, "version": COUNT}),
    }  # fmt: skip
    return closed(needed, {"dry_run": FLAG})


RESOURCE: Schema = {"type": "string", "pattern": "^keepa://"}


def const_false() -> Schema:
    return {"const": False}


def _inputs() -> Schema:
    produced = closed({"step": TEXT, "param": TEXT, "artifact": TEXT, "from": TEXT}, {"path": TEXT, "limit": COUNT})
    unresolved = closed({"inputs": NAMES, "accepted_sources": NAMES})
    return closed({"given": OPEN, "defaulted": OPEN, "produced": listed(produced), "unresolved": listed(unresolved)})


def _step() -> Schema:
    ref = closed({"param": TEXT, "step": TEXT, "artifact": TEXT}, {"path": TEXT, "limit": COUNT})
    needed = {
        "id": TEXT, "command": TEXT, "tool": TEXT, "params": OPEN, "optional": FLAG, "estimated_tokens": COUNT,
        "worst_case_tokens": COUNT, "requires_confirmation": FLAG, "input_refs": listed(ref), "execution": OPEN,
        "mcp": OPEN,
    }  # fmt: skip
    return {"type": "object", "required": list(needed), "properties": needed}


def _policy() -> Schema:
    switch = closed({"before_step": TEXT, "toolset": TEXT, "profile": TEXT, "reason": TEXT})
    confirmation = closed({"pause_before": NAMES, "worst_case_tokens": table(COUNT), "consent": TEXT, "rule": TEXT})
    blocked = closed({"step": TEXT, "command": TEXT, "worst_case_tokens": COUNT})
    seed = closed(
        {**dict.fromkeys(("session_estimated", "session_worst_case", "session_consumed", "cache_hits"), COUNT),
         "blocked_actions": listed(blocked), "consumed_source": TEXT, "remaining_limit": maybe(COUNT)}
    )  # fmt: skip
    discovery = closed({"method": const("tools/list"), "params": closed({"allow_tools": NAMES, "profile": TEXT})})
    return closed(
        {
            "recommended_toolset": TEXT, "recommended_profile": TEXT, "allowed_tools": NAMES,
            "inactive_tools": listed(closed({"tool": TEXT, "reason": TEXT})),
            "profile_switch_points": listed(switch), "confirmation_policy": confirmation,
            "budget_ledger_seed": seed, "tool_discovery": discovery,
        }
    )  # fmt: skip


def run() -> Schema:
    """`data` of workflow run."""
    counts = ("tokens", "tokens_now", "estimated_tokens", "steps_done", "steps_run_now", "steps_skipped",
              "steps_waiting")  # fmt: skip
    status = one_of(("completed", "stopped"))
    key_facts = closed({"status": status, "tokens": COUNT, "skipped": NAMES})
    brief = closed({"read_order": NAMES, "one_line": TEXT, "key_facts": key_facts})
    skipped = closed({"kind": one_of(Kind), "reason": TEXT}, {"confirm": TEXT, "worst_case_tokens": COUNT})
    step = closed(
        {"id": TEXT, "command": TEXT, "status": one_of(("done", "skipped", "waiting")), "tokens": maybe(COUNT),
         "artifact": maybe(TEXT)},
        {"ran_now": FLAG, "estimated_tokens": COUNT, "optional": FLAG, "skipped": skipped, "chosen_from": OPEN,
         "provenance": closed_as_is({"mode": ANY, "origin": ANY})},
    )  # fmt: skip
    artifact = closed({"producer": TEXT, "path": TEXT, "sha256": SHA256})
    return closed(
        {
            "agent_brief": brief, "view": const("workflow_run"), "workflow": TEXT, "status": status, "out_dir": TEXT,
            "totals": closed(dict.fromkeys(counts, COUNT)), "steps": listed(step), "artifacts": listed(artifact),
            "next_actions": COMMANDS, "provenance": closed({"source": TEXT, "run": TEXT, "started_at": TIME}),
        }
    )  # fmt: skip


def batch() -> Schema:
    """`data` of batch asins."""
    statuses = table(COUNT)
    row = closed({"asin": TEXT, "status": TEXT}, {"data": OPEN})
    needed = {"view": const("batch"), "operation": TEXT, "asked": COUNT, "repeats": COUNT, "invalid": listed(OPEN)}
    more = {
        "dry_run": FLAG, "sent": const_false(), "estimated": OPEN, "statuses": statuses, "tokens": COUNT,
        "answered_from": OPEN, "rows": listed(row), "output": OUTPUT,
    }  # fmt: skip
    return closed(needed, more)


def cost() -> Schema:
    """`data` of audit cost for a workflow."""
    step = closed(
        {"id": TEXT, "command": TEXT, "optional": FLAG, "estimated_tokens": COUNT, "worst_case_tokens": COUNT,
         "requires_confirmation": FLAG, "price_is_known": FLAG}
    )  # fmt: skip
    refill = closed({"rate_per_minute": COUNT, "minutes": COUNT, "minutes_at_worst": COUNT, "method": TEXT})
    return closed(
        {"view": const("workflow_cost"), "operation": TEXT, "summary": TEXT, "workflow": TEXT, **SUMS,
         "requires_confirmation": FLAG, "steps_that_ask": NAMES, "steps": listed(step), "notes": NAMES,
         "command": TEXT},
        {"refill": refill},
    )  # fmt: skip


def figures() -> Schema:
    """`data` of figures research."""
    figure = {
        "name": TEXT, "title": TEXT, "description": TEXT,
        "data_basis": one_of((model.ANSWER, model.VIEW, model.COMPARED, model.GRAPH, model.ROWS)), "points": COUNT,
        "format": one_of(("svg", "png")), "theme": one_of(("light", "dark")), "width": COUNT, "height": COUNT,
        "path": TEXT, "size_bytes": COUNT, "sha256": SHA256, "source_data_path": TEXT,
    }  # fmt: skip
    known = ("all", *sets.SETS)
    return closed(
        {
            "view": const("figures_research"), "figure_set": one_of(known),
            "available_figure_sets": closed(dict.fromkeys(known, NAMES)), "count": COUNT,
            "figures": listed(closed(figure)),
            "skipped": listed(closed({"name": TEXT, "reason": TEXT}, {"title": TEXT, "code": one_of(Reason)})),
            "inputs": listed(INPUT), "next_actions": ACTIONS,
        }
    )  # fmt: skip


def views() -> dict[str, tuple[str, Schema]]:
    return {
        "workflow_plan": ("A workflow before anything is asked", plan()),
        "workflow_run": ("What a workflow did", run()),
        "batch": ("One operation over a list of products", batch()),
        "workflow_cost": ("What a workflow costs", cost()),
        "figures_research": ("Figures drawn from answers and views", figures()),
    }
