"""Read eval files strictly: what is not understood is an error, never a pass."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import read_bytes
from keepa_cli.evals.load_exchanges import SERVER_KINDS, exchanges, server_options
from keepa_cli.evals.model import Eval, Step
from keepa_cli.evals.strict import Wrong, assertions, known, near

EVAL_KEYS = ("id", "description", "kind", "command", "steps", "params", "mode", "fixture", "assertions")
STEP_KEYS = ("command", "params", "mode", "fixture", "assertions")
MODES = ("replay", "fixture", "dry-run")
RUNNABLE = "command"
KINDS = (RUNNABLE, *SERVER_KINDS)
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
COMMAND = re.compile(r"[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)?")


def find_files(folder: Path) -> list[Path]:
    """The eval files of a folder and its sub-folders, in order."""
    return sorted(p for p in folder.rglob("*.json") if p.is_file())


def load_file(path: Path) -> Eval:
    """Read one eval. Raises `invalid_arguments` naming the file, the place and what is allowed there."""
    try:
        return _eval(_json(read_bytes(path)), path)
    except Wrong as wrong:
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            f"{path.name}: {wrong.where}: {wrong}.",
            details={"file": str(path), "path": wrong.where},
            next_actions=["kc docs read testing"],
        ) from None


def _json(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once, parse_constant=_constant)
    except UnicodeDecodeError:
        raise Wrong("$", "is not UTF-8 text") from None
    except RecursionError:
        raise Wrong("$", "is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Wrong(f"line {error.lineno}", f"is not JSON: {error.msg}") from None
    except ValueError:
        raise Wrong("$", "holds a number that is too long") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise Wrong("$", f"the key {next(n for n in names if names.count(n) > 1)!r} stands twice in one object")
    return found


def _constant(token: str) -> NoReturn:
    raise Wrong("$", f"{token} is no JSON number")


def _eval(raw: Any, file: Path) -> Eval:
    if not isinstance(raw, dict):
        raise Wrong("$", "an eval file holds one JSON object")
    kind = raw.get("kind", RUNNABLE)
    if kind not in KINDS:
        raise Wrong("$.kind", f"{kind!r} is no kind of eval{near(kind, KINDS)}")
    name = raw.get("id")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise Wrong("$.id", "must be a name of lower-case letters, digits, '.', '_' and '-'")
    description = raw.get("description")
    if not isinstance(description, str) or not description.strip():
        raise Wrong("$.description", "must say in a sentence what is checked")
    if kind != RUNNABLE:
        return Eval(name, description, file, kind, exchanges=exchanges(raw, kind), server=server_options(raw, kind))
    known(raw, EVAL_KEYS, "$")
    return Eval(name, description, file, kind, tuple(_steps(raw)))


def _steps(raw: dict[str, Any]) -> Iterable[Step]:
    if ("command" in raw) == ("steps" in raw):
        raise Wrong("$", "an eval has either a command or steps")
    if "command" in raw:
        return [_step(raw, "$")]
    for key in ("mode", "fixture"):
        if key in raw:
            raise Wrong(f"$.{key}", "belongs to each step, not beside steps")
    items = raw["steps"]
    if not isinstance(items, list) or not items:
        raise Wrong("$.steps", "must be a list of at least one step")
    steps = [_nth_step(item, f"$.steps[{i}]", raw) for i, item in enumerate(items)]
    last = assertions(raw.get("assertions", []), "$.assertions")
    steps[-1] = Step(steps[-1].command, steps[-1].params, steps[-1].flags, steps[-1].assertions + last)
    if not any(s.assertions for s in steps):
        raise Wrong("$", "asserts nothing")
    return steps


def _nth_step(item: Any, where: str, raw: dict[str, Any]) -> Step:
    if not isinstance(item, dict):
        raise Wrong(where, "a step is an object with a command")
    known(item, STEP_KEYS, where)
    common, own = _params(raw, "$"), _params(item, where)
    return _step(item | {"params": {**common, **own}}, where, may_be_silent=True)


def _step(raw: Mapping[str, Any], where: str, *, may_be_silent: bool = False) -> Step:
    command = raw.get("command")
    if not isinstance(command, str) or not COMMAND.fullmatch(command):
        raise Wrong(f"{where}.command", "must be the dotted name of a command, such as family.verb")
    stated = assertions(raw.get("assertions", []), f"{where}.assertions")
    if not stated and not may_be_silent:
        raise Wrong(f"{where}.assertions", "asserts nothing")
    return Step(command, _params(raw, where), _flags(raw, where), stated)


def _params(raw: Mapping[str, Any], where: str) -> dict[str, Any]:
    params = raw.get("params", {})
    if not isinstance(params, dict):
        raise Wrong(f"{where}.params", "must be an object")
    return params


def _flags(raw: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The mode flags of a call; no eval can spend tokens."""
    mode, fixture = raw.get("mode"), raw.get("fixture")
    if mode is not None and mode not in MODES:
        note = "spends tokens, which no eval may" if mode in {"live", "record"} else "is no mode"
        raise Wrong(f"{where}.mode", f"{mode!r} {note}; use one of {', '.join(MODES)}")
    if fixture is not None and (not isinstance(fixture, str) or not fixture):
        raise Wrong(f"{where}.fixture", "must be the name of a fixture")
    if (mode == "fixture" and fixture is None) or (fixture is not None and mode not in {None, "fixture"}):
        raise Wrong(f"{where}.fixture", "a fixture goes with the mode fixture")
    if fixture is not None:
        return {"fixture": fixture}
    return {} if mode is None else {mode.replace("-", "_"): True}
