"""What a run of a workflow leaves in its folder: answers as files, and the state that says which of them count.

An answer is written before the state says so, and it names the step and the parameters that it answers: whatever kills
the process, a later run finds it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope, dumps
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.files import read_bytes
from keepa_cli.keepa.strictjson import load_json
from keepa_cli.ops import _outputs
from keepa_cli.research.workflow.model import Plan, Step

VERSION = 1
FILE = "workflow-state.json"
MARK = "workflow_step"
LARGEST = 512 << 20


def digest(*parts: Any) -> str:
    text = json.dumps(parts, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass
class State:
    """A run: what it was asked, where its answers come from (`source`), and what is done by step."""

    folder: Path
    plan: Plan
    identity: dict[str, Any]
    run: str
    started_at: str
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.folder / FILE

    def save(self, ctx: Context) -> None:
        data = {
            "version": VERSION,
            "workflow": self.plan.name,
            "identity": self.identity,
            "run": self.run,
            "started_at": self.started_at,
            "updated_at": stamp(ctx),
            "steps": self.steps,
        }
        text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
        _outputs.write(ctx, str(self.path), text.encode("utf-8", "surrogatepass"), format="json")

    def done(self, step: Step) -> dict[str, Any] | None:
        """The record of a step whose files are as it left them; None where it has to run (again)."""
        record = self.steps.get(step.id)
        if not record or record["status"] != "done":
            return None
        intact = all(_sha(self.folder / name) == sha for name, sha in record["files"].items())
        return record if intact else None

    def settled(self, step: Step, params: Mapping[str, Any]) -> bool:
        """Whether exactly this was answered. What was answered to something else is forgotten: choices changed, or a
        step before it gave more."""
        record = self.done(step)
        if record is None or record["asked"] == self.mark(step, params)["asked"]:
            return record is not None
        del self.steps[step.id]
        return False

    def found(self, step: Step, params: Mapping[str, Any]) -> Any:
        """An answer to exactly this that a killed run wrote without getting to say so."""
        if step.id in self.steps:
            return None
        with contextlib.suppress(KeepaCliError):
            answer = self.answer(step.id)
            if answer.get(MARK) == self.mark(step, params):
                return answer
        return None

    def portable(self, value: Any) -> Any:
        """`value` with the paths of files in the folder relative to it."""
        return _portable(value, str(self.folder) + os.sep)

    def mark(self, step: Step, params: Mapping[str, Any]) -> dict[str, str]:
        asked = digest(self.identity["source"], step.command, self.portable(params))
        return {"workflow": self.plan.name, "step": step.id, "asked": asked[:24]}

    def answer(self, step: str) -> dict[str, Any]:
        """The answer of a step out of its file. Raises `io_error`."""
        path = self.folder / f"{step}.json"
        raw = read_bytes(path, limit=LARGEST)
        try:
            found = load_json(raw)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise KeepaCliError(Kind.IO_ERROR, f"{path} is not an answer of a step.", details={"path": str(path)})
        return found

    def keep(self, ctx: Context, step: Step, params: Mapping[str, Any], answer: Envelope) -> None:
        """Write the answer. Paths in the folder are written relative to it, so that it can be moved and compared."""
        shell = self.portable(dict(answer) | {"data": _without_body(answer["data"])})
        if isinstance(answer["data"], dict) and "body" in answer["data"]:
            shell["data"]["body"] = answer["data"]["body"]
        shell["provenance"].pop("age_s", None)
        kept = Envelope(shell | {MARK: self.mark(step, params)})
        kept.raw_body = answer.raw_body
        text = dumps(kept, ctx.redactor).encode("utf-8", "surrogatepass")
        _outputs.write(ctx, str(self.folder / step.artifact), text, format="json")

    def note(self, ctx: Context, step: Step, params: Mapping[str, Any], record: Mapping[str, Any]) -> None:
        """Say that a step is done."""
        names = [step.artifact, *([step.body] if step.keeps_body else [])]
        files = {name: sha for name in names if (sha := _sha(self.folder / name))}
        asked = self.mark(step, params)["asked"]
        self.steps[step.id] = {"status": "done", "asked": asked, "files": files} | dict(record)
        self.save(ctx)


def load(ctx: Context, folder: Path, plan: Plan, identity: dict[str, Any], *, fresh: bool, resume: bool) -> State:
    """The state in `folder`, or a new one. Raises `invalid_arguments` for the state of another plan."""
    path = folder / FILE
    new = State(folder, plan, identity, os.urandom(8).hex(), stamp(ctx))
    if not path.is_file():
        if resume:
            raise invalid(f"There is no run to go on with in {folder}.", field="resume", value=str(folder))
        _make_room(new)
        return new
    try:
        found = load_json(read_bytes(path, limit=LARGEST))
        if found["version"] != VERSION or not isinstance(found["steps"], dict):
            raise ValueError
        old = State(folder, plan, found["identity"], found["run"], found["started_at"], found["steps"])
        name = found["workflow"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise invalid(
            f"{path} cannot be read as the state of a workflow: name another --out-dir.",
            field="out_dir",
            value=str(folder),
        ) from None
    if name != plan.name or not _continues(old.identity, identity, plan):
        if not old.steps and not any((folder / step.artifact).exists() for step in plan.steps):
            return new
        raise invalid(
            f"{folder} holds a run of {name} with other parameters or from another source: name another --out-dir.",
            field="out_dir",
            value=str(folder),
            holds={"workflow": name, **old.identity},
        )
    if fresh:
        _make_room(new)
    return new if fresh else old


def _make_room(state: State) -> None:
    """Remove what an earlier run left, so that nothing of it is taken for an answer of this one. Raises for a file
    that no run wrote: it is not ours to replace."""
    ours: list[Path] = []
    for step in state.plan.steps:
        artifact, body = state.folder / step.artifact, state.folder / step.body
        marked = artifact.is_file() and _is_marked(state, step)
        foreign = next((p for p in (artifact, body) if p.exists() and not marked), None)
        if foreign is not None:
            raise invalid(
                f"{foreign} is there already and no part of a workflow: name another --out-dir.",
                field="out_dir",
                value=str(state.folder),
            )
        ours += [artifact, body] if marked else []
    for path in ours:
        path.unlink(missing_ok=True)


def _is_marked(state: State, step: Step) -> bool:
    try:
        return MARK in state.answer(step.id)
    except KeepaCliError:
        return False


def _continues(old: Any, new: Mapping[str, Any], plan: Plan) -> bool:
    """Whether the same thing is asked, apart from choices that were not made at first."""
    if not isinstance(old, dict) or old.get("source") != new["source"]:
        return False
    was, now = dict(old.get("inputs") or {}), dict(new["inputs"])
    for name in plan.choices - set(was):
        now.pop(name, None)
    return was == now


def stamp(ctx: Context) -> str:
    return ctx.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def _sha(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _without_body(data: Any) -> Any:
    return {k: v for k, v in data.items() if k != "body"} if isinstance(data, dict) else data


def _portable(value: Any, prefix: str) -> Any:
    if isinstance(value, Mapping):
        return {k: _portable(v, prefix) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_portable(v, prefix) for v in value]
    return value.replace(prefix, "") if isinstance(value, str) and prefix in value else value
