"""Steps of a plan as operations: checked, priced, and written as the commands that run them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from keepa_cli import ops
from keepa_cli.core.commandline import command_line
from keepa_cli.core.consent import needs_consent
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.registry import Batch, Cost, Operation, Request
from keepa_cli.core.schema import bind
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.workflow.model import Plan, Step
from keepa_cli.research.workflow.resolving import Resolved, Sources, resolve


@dataclass(frozen=True)
class Priced:
    """A step with its operation and its parameters as far as they are known."""

    step: Step
    op: Operation
    resolved: Resolved
    folder: Path

    @cached_property
    def bound(self) -> dict[str, Any]:
        """The parameters, checked; stand-ins for what is not known."""
        return bind(self.op, self.resolved.priced)

    @cached_property
    def cost(self) -> Cost:
        return self.op.cost(self.bound)

    @property
    def out(self) -> str | None:
        """Where the body of the answer goes, beside the view that is made of it."""
        return str(self.folder / self.step.body) if self.step.keeps_body else None

    @property
    def cli(self) -> str:
        return command_line(self.op, self.resolved.params, ("--out", self.out) if self.out else ())

    def consents(self, ctx: Context) -> bool:
        return self.op.remote and needs_consent(self.op, self.cost, ctx)


def operations(plan: Plan, inputs: Mapping[str, Any]) -> list[tuple[Step, Operation]]:
    """The steps of a plan that these inputs make, with their operations."""
    return [(step, op) for step in plan.chosen(inputs) if (op := _found(step.command)) is not None]


def _found(command: str) -> Operation | None:
    try:
        return ops.find(command)
    except KeepaCliError:
        return None


def priced(plan: Plan, step: Step, op: Operation, sources: Sources, folder: Path) -> Priced:
    """A step with its parameters out of `sources`. Raises `invalid_arguments` where the operation refuses them."""
    lacking = frozenset(name for group in plan.missing(sources.inputs) for name in group)
    return Priced(step, op, resolve(step, sources, _lists(op), lacking), folder)


def _lists(op: Operation) -> frozenset[str]:
    return frozenset(arg.name for arg in op.args if arg.many)


def described(item: Priced, ctx: Context, group: str, replayed: Callable[[Request], str | None]) -> Section:
    """A step as an agent reads it. What is called executable is complete and runs as it stands."""
    step, op, resolved = item.step, item.op, item.resolved
    found = Section(
        id=step.id,
        why=step.why,
        command=op.name,
        tool=op.tool,
        mcp_tool=op.tool,
        params=resolved.params,
    )
    found.put("cli", item.cli if resolved.executable else None, Reason.NOT_COMPUTABLE)
    artifacts = [step.artifact, *([step.body] if step.keeps_body else [])]
    found |= {
        "depends_on": list(dict.fromkeys(ref["step"] for ref in resolved.refs)),
        "parallel_group": group,
        "optional": step.optional,
        "estimated_tokens": item.cost.estimated,
        "worst_case_tokens": item.cost.worst,
        "requires_confirmation": item.consents(ctx),
        "fixture_replay": _replay(item, replayed),
        "input_refs": resolved.refs,
        "artifact_refs": artifacts,
        "mcp": {
            "tool": op.tool,
            "toolset": op.toolset,
            "arguments": resolved.params | ({"out": item.out} if item.out else {}),
        },
        "execution": _execution(item),
    }
    return found


def _execution(item: Priced) -> dict[str, Any]:
    resolved = item.resolved
    waits = list(dict.fromkeys(ref["step"] for ref in resolved.refs))
    found: dict[str, Any] = {
        "executable": resolved.executable,
        "where": "keepa" if item.op.remote else "local",
        "effect": item.op.effect,
    }
    if waits:
        found["waits_for"] = waits
    if resolved.missing:
        found[Kind.MISSING_INPUTS.value] = list(dict.fromkeys(resolved.missing))
    if item.out:
        found["out"] = item.out
    return found


def _replay(item: Priced, replayed: Callable[[Request], str | None]) -> dict[str, Any]:
    """Whether a recording answers this step, so that it runs without a key and without tokens."""
    if not item.op.remote:
        return {"available": True, "reason": "Works on files of this machine."}
    if not item.resolved.executable:
        unknown = Section().lack("available", Reason.NOT_COMPUTABLE)
        return unknown | {"reason": "Its request is not known before the steps it waits for."}
    planned = item.op.run(**item.bound)
    requests = planned.requests if isinstance(planned, Batch) else (planned,)
    names = [replayed(request) for request in requests]
    known = [name for name in names if name]
    return {"available": len(known) == len(names), "cassettes": known}


def recordings(ctx: Context) -> Callable[[Request], str | None]:
    """What tells the recording that answers a request."""
    from keepa_cli.cassettes.fingerprint import of_recording
    from keepa_cli.cassettes.library import Library, library_roots
    from keepa_cli.keepa.wire import encode

    library: Library = ctx.service("library", lambda: Library(library_roots(ctx)))
    known = {entry.fingerprint: entry.name for entry in library.entries()}
    return lambda request: known.get(of_recording(encode(request)))
