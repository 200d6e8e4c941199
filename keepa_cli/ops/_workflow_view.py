"""What workflow operations answer: the plan, its cost, and the report of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keepa_cli import ops
from keepa_cli.core.commandline import command_line
from keepa_cli.core.context import Context
from keepa_cli.core.registry import Cost, CostPart
from keepa_cli.ops import _workflow_steps as steps
from keepa_cli.ops._actions import action
from keepa_cli.ops._names import AUDIT_COST, WORKFLOW_PLAN, WORKFLOW_RUN
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.workflow import view
from keepa_cli.research.workflow.model import Plan, levels
from keepa_cli.research.workflow.policy import policy
from keepa_cli.research.workflow.resolving import Sources

if TYPE_CHECKING:
    from keepa_cli.ops._workflow_run import Run

PLAN_VIEW, RUN_VIEW = "workflow_plan", "workflow_run"


def priced(plan: Plan, inputs: Mapping[str, Any], folder: Path) -> list[steps.Priced]:
    """Every step of the plan before anything was asked."""
    chosen = steps.operations(plan, inputs)
    ids = {step.id for step, _ in chosen}
    sources = Sources(inputs, lambda name: str(folder / name), file=lambda step, _: None if step in ids else "")
    return [steps.priced(plan, step, op, sources, folder) for step, op in chosen]


def cost(plan: Plan, inputs: Mapping[str, Any]) -> Cost:
    """What a run costs: optional steps in the worst case only."""
    parts: list[CostPart] = []
    for item in priced(plan, inputs, Path()):
        spent = 0 if item.step.optional else item.cost.estimated
        note = "optional" if item.step.optional and item.cost.worst else ""
        parts.append(CostPart(item.step.id, spent, item.cost.worst, note))
    return Cost(tuple(p for p in parts if p.worst))


def plan_view(
    ctx: Context, plan: Plan, inputs: Mapping[str, Any], asked: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """`workflow_plan`."""
    items = priced(plan, inputs, folder)
    groups = levels([item.step for item in items])
    group_of = {name: f"group-{n}" for n, group in enumerate(groups, 1) for name in group}
    replayed = steps.recordings(ctx)
    rows = [steps.described(item, ctx, group_of[item.step.id], replayed) for item in items]
    total = view.totals(rows, [r for r in rows if not r["optional"]])
    defaulted = {k: v for k, v in inputs.items() if k not in asked}
    sources = view.workflow_inputs(plan, asked, defaulted, rows)
    lacking = sources["unresolved"]
    return {
        "agent_brief": view.brief(plan, total, lacking, len(groups)),
        "view": PLAN_VIEW,
        "workflow": plan.name,
        "purpose": plan.purpose,
        "out_dir": str(folder),
        "workflow_inputs": sources,
        "workflow_policy": policy(plan, rows, ctx.settings["max_tokens"]),
        "totals": total,
        "parallel_groups": [{"id": f"group-{n}", "steps": group} for n, group in enumerate(groups, 1)],
        "steps": rows,
        "artifacts": view.artifacts([item.step for item in items], str(folder)),
        "resource_templates": view.resource_templates(plan, asked),
        "data_quality": view.data_quality(rows, lacking),
        "next_actions": _plan_actions(ctx, plan, asked, bool(lacking)),
        "evidence_index": view.evidence_index(),
        "provenance": {"source": "plan", "sent": False, "method": "workflow_table", "version": 1},
    }


def _plan_actions(ctx: Context, plan: Plan, asked: Mapping[str, Any], incomplete: bool) -> list[dict[str, Any]]:
    if incomplete:
        return []
    params = {"name": plan.name} | dict(asked)
    costs = {"operation": WORKFLOW_PLAN, "param": _pairs(params)}
    return [
        {"action": "run_workflow", "reason": "Run it from recordings; add --live to ask Keepa."}
        | action(ctx, WORKFLOW_RUN, params),
        {"action": "audit_cost", "reason": "See what each step costs, and how long the bucket takes to refill."}
        | action(ctx, AUDIT_COST, costs),
    ]


def _pairs(params: Mapping[str, Any]) -> list[str]:
    return [f"{k}={v}" for k, given in params.items() for v in (given if isinstance(given, list) else [given])]


def run_view(ctx: Context, run: Run, *, complete: bool) -> dict[str, Any]:
    """`workflow_run`."""
    rows = [_row(run, item) for item in steps.operations(run.state.plan, run.inputs)]
    totals = _totals(rows, run.state.steps)
    status = "completed" if complete else "stopped"
    return {
        "agent_brief": _run_brief(run.state.plan, rows, totals, status),
        "view": RUN_VIEW,
        "workflow": run.state.plan.name,
        "status": status,
        "out_dir": str(run.state.folder),
        "totals": totals,
        "steps": rows,
        "artifacts": [
            {"producer": row["id"], "path": str(run.state.folder / name), "sha256": sha}
            for row in rows
            for name, sha in run.state.steps.get(row["id"], {}).get("files", {}).items()
        ],
        "next_actions": _run_actions(ctx, run, rows, complete),
        "provenance": {
            "source": run.state.identity["source"],
            "run": run.state.run,
            "started_at": run.state.started_at,
        },
    }


def _row(run: Run, found: tuple[Any, Any]) -> Section:
    step, op = found
    record = run.state.done(step)
    row = Section(id=step.id, command=op.name)
    if record is None:
        skipped = run.skipped.get(step.id)
        row |= {"status": "skipped" if skipped else "waiting", "optional": step.optional} | (
            {"skipped": skipped} if skipped else {}
        )
        return row.lack("tokens", Reason.NOT_REQUESTED).lack("artifact", Reason.NOT_REQUESTED)
    row |= {"status": "done", "ran_now": step.id in run.now}
    row.put("tokens", record["tokens"], Reason.NOT_COLLECTED)
    row |= {
        "estimated_tokens": record["estimated_tokens"],
        "artifact": step.artifact,
        "provenance": {"mode": record["mode"], "origin": record["origin"]},
    }
    if record.get("chosen_from"):
        row["chosen_from"] = record["chosen_from"]
    return row


def _totals(rows: Sequence[Mapping[str, Any]], records: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """`tokens` counts steps too that a later choice made needless: they were paid for."""
    done = [r for r in rows if r["status"] == "done"]
    return {
        "tokens": sum(r["tokens"] or 0 for r in records.values()),
        "tokens_now": sum(r["tokens"] or 0 for r in done if r["ran_now"]),
        "estimated_tokens": sum(r["estimated_tokens"] for r in records.values()),
        "steps_done": len(done),
        "steps_run_now": sum(r["ran_now"] for r in done),
        "steps_skipped": sum(r["status"] == "skipped" for r in rows),
        "steps_waiting": sum(r["status"] == "waiting" for r in rows),
    }


def _run_brief(plan: Plan, rows: Sequence[Mapping[str, Any]], totals: Mapping[str, Any], status: str) -> dict[str, Any]:
    skipped = [r["id"] for r in rows if r["status"] == "skipped"]
    left_out = f" Skipped: {', '.join(skipped)}." if skipped else ""
    return {
        "read_order": ["status", "totals", "steps", "artifacts", "next_actions"],
        "one_line": f"{plan.name} {status}: {totals['steps_done']} of {len(rows)} steps, {totals['tokens']} tokens"
        f" of {totals['estimated_tokens']} estimated.{left_out}",
        "key_facts": {"status": status, "tokens": totals["tokens"], "skipped": skipped},
    }


def _run_actions(ctx: Context, run: Run, rows: Sequence[Mapping[str, Any]], complete: bool) -> list[dict[str, Any]]:
    """How to go on, and how to get what was skipped for want of consent."""
    op = ops.find(WORKFLOW_RUN)
    found: list[dict[str, Any]] = []
    wanted: list[tuple[dict[str, Any], str]] = [] if complete else [({}, "Run the steps that are left.")]
    for row in rows:
        consent = row.get("skipped", {}).get("confirm")
        if consent:
            reason = f"Run {row['id']} too: up to {row['skipped']['worst_case_tokens']} tokens."
            wanted.append(({"confirm": [*run.again.get("confirm", []), consent]}, reason))
    for more, reason in wanted:
        params = {**run.again, **more}
        entry = action(ctx, WORKFLOW_RUN, params)
        found.append(
            {"action": "run_workflow", "reason": reason}
            | entry
            | {"cli": command_line(op, params, run.call.mode_flags)}
        )
    return found
