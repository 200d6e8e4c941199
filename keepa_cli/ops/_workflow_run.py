"""Carrying out a plan, step after step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from keepa_cli import ops
from keepa_cli.core.commandline import command_line
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.settings import SPENDING_MODES, Mode
from keepa_cli.ops._names import WORKFLOW_RUN
from keepa_cli.ops._workflow_state import State
from keepa_cli.ops._workflow_steps import Priced, operations, priced
from keepa_cli.research.workflow.resolving import Sources

NOT_NEEDED = frozenset({Kind.CONFIRMATION_REQUIRED.value, Kind.CASSETTE_MISS.value})
"""Refusals that an optional step is skipped for."""
KEPT_FOR_US = ("idempotency", "batch")
"""Sources of answers that an interrupted call of this run has paid for."""


class Call(Protocol):
    """How the engine lets an operation run others."""

    @property
    def mode(self) -> Mode: ...
    @property
    def mode_flags(self) -> list[str]: ...
    @property
    def keyed(self) -> bool: ...
    def __call__(self, name: str, params: Mapping[str, Any], **changes: Any) -> Envelope: ...


@dataclass
class Run:
    """One run. `consents` maps steps to the quote that was accepted, "" for any; `again` are the parameters to
    go on with."""

    ctx: Context
    call: Call
    state: State
    inputs: Mapping[str, Any]
    consents: Mapping[str, str]
    again: Mapping[str, Any]
    skipped: dict[str, dict[str, Any]] = field(default_factory=dict)
    now: set[str] = field(default_factory=set)

    def go(self, most: int | None) -> bool:
        """Run what is left, at most so many steps. Returns whether nothing is left. Raises what stops it."""
        chosen = operations(self.state.plan, self.inputs)
        for number, (step, op) in enumerate(chosen, 1):
            item = priced(self.state.plan, step, op, self.sources(), self.state.folder)
            if item.resolved.executable and self.state.settled(step, item.resolved.params):
                continue
            if most is not None and len(self.now) >= most:
                return False
            self.ctx.tell(f"Step {number} of {len(chosen)}: {step.id} ({op.name})")
            self._step(item)
        return True

    def resume(self, **changes: Any) -> str:
        """The command that goes on."""
        return command_line(ops.find(WORKFLOW_RUN), {**self.again, **changes}, self.call.mode_flags)

    def sources(self) -> Sources:
        """What later steps are made from: a step that was not done gives no file."""
        steps = {step.id: step for step in self.state.plan.steps}

        def file(name: str, body: bool) -> str:
            if not self.state.done(steps[name]):
                return ""
            path = self.state.folder / steps[name].body
            return str(path if body and path.is_file() else self.state.folder / steps[name].artifact)

        def answer(name: str) -> Any:
            return self.state.answer(name) if self.state.done(steps[name]) else None

        return Sources(self.inputs, lambda name: str(self.state.folder / name), answer, file)

    def _step(self, item: Priced) -> None:
        step, resolved = item.step, item.resolved
        if not resolved.executable:
            self._unresolved(item)
            return
        chosen = {name: choice.rows for name, (_, choice) in resolved.choices.items() if len(choice.candidates) > 1}
        answer = self.state.found(step, resolved.params) or self._ask(item)
        if answer["ok"]:
            self.state.note(self.ctx, step, resolved.params, _record(item, answer, chosen))
            self.now.add(step.id)
        elif step.optional and (answer["error"]["kind"] in NOT_NEEDED or not item.op.remote):
            self._skip(item, answer["error"])
        else:
            raise self._stopped(item, answer, chosen)

    def _ask(self, item: Priced) -> Envelope:
        changes: dict[str, Any] = {}
        if item.step.id in self.consents:
            changes = {"yes": True, "quote_token": self.consents[item.step.id] or None}
        params = item.resolved.params
        if not item.op.remote:
            params = self.state.portable(params)
            changes["cwd"] = self.state.folder
        if not (item.op.remote or item.op.passes_mode):
            changes["flags"] = {}
        if item.out:
            changes["out"] = self.state.folder / item.step.body
        if not self.call.keyed and self.call.mode in SPENDING_MODES and item.op.remote:
            changes["idempotency_key"] = f"workflow-{self.state.run}-{item.step.id}"
        answer = self.call(item.op.name, params, **changes)
        if answer["ok"]:
            self.state.keep(self.ctx, item.step, item.resolved.params, answer)
        return answer

    def _skip(self, item: Priced, error: Mapping[str, Any]) -> None:
        row: dict[str, Any] = {"kind": error["kind"], "reason": error["message"]}
        if error["kind"] == Kind.CONFIRMATION_REQUIRED.value:
            row["confirm"] = _consent(item, error)
            row["worst_case_tokens"] = item.cost.worst
        self.skipped[item.step.id] = row

    def _unresolved(self, item: Priced) -> None:
        """An earlier answer does not give what this step needs: skip an optional step, else say how to choose."""
        problem = self._lack(item)
        if not item.step.optional:
            raise problem
        self.skipped[item.step.id] = {"kind": problem.kind.value, "reason": problem.message}

    def _lack(self, item: Priced) -> KeepaCliError:
        step = item.step.id
        for name, (ref, choice) in item.resolved.choices.items():
            if choice.ambiguous:
                options = [self.resume(**{name: row["value"]}) for row in choice.rows] if self._choosable(name) else []
                return self._problem(
                    Kind.MISSING_INPUTS,
                    f"Step {step} needs one {name}, and {choice.rule}: choose with --{name}.",
                    {Kind.MISSING_INPUTS.value: [name], "candidates": choice.rows, "step": step},
                    options,
                )
            if not choice.values:
                accepted = [f"--{name}"] if self._choosable(name) else []
                return self._problem(
                    Kind.MISSING_INPUTS,
                    f"Step {step} needs {name}, and the answer of step {ref.step} holds none.",
                    {
                        Kind.MISSING_INPUTS.value: [name],
                        "step": step,
                        "looked_at": ref.path,
                        "accepted_sources": accepted,
                    },
                    [f"Read {self.state.folder / ref.step}.json for what was answered."],
                )
        lacking = list(dict.fromkeys([*item.resolved.missing, *(ref["param"] for ref in item.resolved.refs)]))
        waits = [ref["step"] for ref in item.resolved.refs]
        because = f", which comes from step {waits[0]}" if waits else ""
        return self._problem(
            Kind.MISSING_INPUTS,
            f"Step {step} lacks {', '.join(lacking)}{because}.",
            {Kind.MISSING_INPUTS.value: lacking, "step": step},
            [],
        )

    def _choosable(self, name: str) -> bool:
        return name in self.state.plan.choices

    def _stopped(self, item: Priced, answer: Mapping[str, Any], chosen: Mapping[str, Any]) -> KeepaCliError:
        error = answer["error"]
        kind = Kind(error["kind"])
        details = dict(error["details"]) | {"step": item.step.id} | ({"chosen_from": dict(chosen)} if chosen else {})
        actions = list(error["next_actions"])
        if kind is Kind.CONFIRMATION_REQUIRED:
            consent = _consent(item, error)
            details |= {"resume_with": f"--confirm {consent}", "step_params": item.resolved.params}
            actions = [self.resume(confirm=[*self.again.get("confirm", []), consent])]
            actions += [
                self.resume(**{n: row["value"]})
                for n, rows in chosen.items()
                if self._choosable(n)
                for row in rows[1:3]
            ]
        else:
            actions.append(self.resume())
        message = f"Step {item.step.id}: {error['message']}"
        problem = self._problem(kind, message, details, actions)
        problem.retryable = bool(error["retryable"])
        problem.token_bucket = dict(answer.get("token_bucket") or {})
        return problem

    def _problem(self, kind: Kind, message: str, details: dict[str, Any], actions: list[str]) -> KeepaCliError:
        progress = {
            "workflow": self.state.plan.name,
            "out_dir": str(self.state.folder),
            "finished_steps": [name for name, r in self.state.steps.items() if r["status"] == "done"],
            "tokens_spent": sum(r["tokens"] or 0 for r in self.state.steps.values()),
        }
        return KeepaCliError(kind, message, details=details | progress, next_actions=actions or [self.resume()])


def _consent(item: Priced, error: Mapping[str, Any]) -> str:
    quote = error["details"].get("quote_token")
    return f"{item.step.id}={quote}" if quote else item.step.id


def _record(item: Priced, answer: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    provenance = answer.get("provenance") or {}
    bucket = answer.get("token_bucket") or {}
    found = {
        "command": item.op.name,
        "tokens": _paid(bucket, provenance) if item.op.remote else 0,
        "estimated_tokens": item.cost.estimated,
        "mode": provenance.get("mode") if item.op.remote else "local",
        "origin": provenance.get("origin") if item.op.remote else "local",
    }
    return found | ({"chosen_from": dict(chosen)} if chosen else {})


def _paid(bucket: Mapping[str, Any], provenance: Mapping[str, Any]) -> int | None:
    """What this run paid for an answer; also for one that it was given before the process was killed."""
    sources = provenance.get("sources") or [provenance.get("source")]
    resumed = any(str(source).startswith(KEPT_FOR_US) for source in sources)
    found: int | None = bucket.get("tokens_consumed") if resumed else bucket.get("charged")
    return found
