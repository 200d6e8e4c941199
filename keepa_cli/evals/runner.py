"""Run an eval against the envelopes that `call` gives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.paths import Missing, parse
from keepa_cli.core.redact import Redactor
from keepa_cli.evals.checks import CHECKS
from keepa_cli.evals.model import Assertion, Call, Eval, Failure, Step, Verdict

LONGEST_SHOWN = 200
SUCCEEDS = Assertion(parse("$.ok"), "equals", True)
NOTHING = "nothing"


def run_eval(found: Eval, call: Call, redactor: Redactor) -> Verdict:
    """The verdict on one eval. What cannot be run is an `error`; `call` may raise KeepaCliError."""
    file = str(found.file)
    failures: list[Failure] = []
    checked = 0
    for number, step in enumerate(found.steps, 1):
        try:
            envelope = call(step.command, step.params, step.flags)
        except KeepaCliError as error:
            message = redactor.text(f"{step.command}: {error.message}")
            return Verdict(found.id, "error", file, checked, tuple(failures), message)
        assertions = _with_success(step)
        checked += len(assertions)
        place = number if len(found.steps) > 1 else 0
        failures += [f for a in assertions if (f := judge(a, step.command, place, envelope, redactor))]
    return Verdict(found.id, "failed" if failures else "passed", file, checked, tuple(failures))


def _with_success(step: Step) -> tuple[Assertion, ...]:
    """A step that does not look at the outcome expects success: otherwise `exists: false` would pass on any failure."""
    looks = any(a.path.parts[:1] in {("ok",), ("error",), ()} for a in step.assertions)
    return step.assertions if looks else (SUCCEEDS, *step.assertions)


def judge(a: Assertion, command: str, place: int, envelope: Any, redactor: Redactor) -> Failure | None:
    """What is wrong where an assertion does not hold."""
    note = ""
    try:
        value = a.path.get(envelope)
        if a.check == "exists":
            holds = bool(a.expected)
        else:
            check = CHECKS[a.check]
            holds = check.holds(value, check.prepare(a.expected))
            note = _schema_note(a, value) if not holds else ""
        actual = _show(value, a, redactor)
    except Missing as missing:
        holds, actual, note = a.check == "exists" and not a.expected, NOTHING, str(missing)
    except TypeError as error:
        holds, note, actual = False, str(error), _show(a.path.get(envelope), a, redactor)
    if holds:
        return None
    if isinstance(envelope, Mapping) and envelope.get("ok") is False and a.path.parts[:1] != ("error",):
        reason = envelope.get("error", {})
        note = f"the call failed: {reason.get('kind')}: {reason.get('message')}"
    expected = _short(json.dumps(a.expected, ensure_ascii=False))
    return Failure(place, command, a.path.text, a.check, expected, actual, _short(redactor.text(note)))


def _schema_note(a: Assertion, value: Any) -> str:
    if a.check != "schema":
        return ""
    first = next(CHECKS["schema"].prepare(a.expected).iter_errors(value))
    return f"{first.json_path}: {first.validator} {json.dumps(first.validator_value)[:LONGEST_SHOWN]} is not met"


def _show(value: Any, a: Assertion, redactor: Redactor) -> str:
    """The value as short JSON; a secret is recognised by its value and by the name it stands under."""
    name = a.path.parts[-1] if a.path.parts else ""
    clean = redactor.data({name: value})[name] if isinstance(name, str) else redactor.data(value)
    return _short(json.dumps(clean, ensure_ascii=False, default=str))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}… ({len(text)} characters)"
