"""What must hold for every view, whatever made it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from keepa_cli import ops
from keepa_cli.core.paths import Missing, parse
from keepa_cli.core.schema import bind
from keepa_cli.research.facts import ABSENT, Confidence, Reason

REASONS = {r.value for r in Reason}
CONFIDENCES = {c.value for c in Confidence}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def problems(view: Any, body: Any = None) -> list[str]:
    """Everything that is wrong with a view; with the raw `body` its evidence is looked up too."""
    found = [*_nulls(view), *_money(view), *_times(view), *_actions(view), *_derived(view)]
    return found + (list(_evidence(view, body)) if body is not None else [])


def objects(value: Any, path: str = "$") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every object of a view with its path, outermost first."""
    if isinstance(value, Mapping):
        yield path, value
        for name, inner in value.items():
            yield from objects(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from objects(inner, f"{path}[{i}]")


def _nulls(view: Any) -> Iterator[str]:
    """A null has a reason beside it, and a reason has a null."""
    for path, item in objects(view):
        if path.endswith((f".{ABSENT}", ".params", ".inputs")) or {"raw", "amount", "currency"} <= set(item):
            continue
        nulls = {k for k, v in item.items() if v is None}
        reasons = item.get(ABSENT, {})
        if nulls != set(reasons):
            yield f"{path}: null without reason or reason without null: {sorted(nulls ^ set(reasons))}"
        if not set(reasons.values()) <= REASONS:
            yield f"{path}: unknown reasons {reasons}"


def _money(view: Any) -> Iterator[str]:
    """An amount is an integer, its exact text and a currency; there are no float cents."""
    for path, item in objects(view):
        if "amount" in item or "formatted" in item:
            if not {"raw", "amount", "currency"} <= set(item):
                yield f"{path}: an amount without raw, amount and currency: {dict(item)}"
            elif type(item["raw"]) is not int or not isinstance(item["amount"], str | None):
                yield f"{path}: an amount that is not exact: {dict(item)}"


def _times(view: Any) -> Iterator[str]:
    for path, item in objects(view):
        for name, value in item.items() if not path.endswith(f".{ABSENT}") else ():
            if (name == "at" or name.endswith("_at")) and value is not None and not TIME.fullmatch(str(value)):
                yield f"{path}.{name}: {value!r} is no RFC 3339 time in UTC"


def _actions(view: Any) -> Iterator[str]:
    """Every next action names an operation, and its parameters are ones that it takes."""
    for path, item in objects(view):
        if not ({"command", "params"} <= set(item) and "action" in item):
            continue
        try:
            bind(ops.find(item["command"]), item["params"])
        except Exception as error:
            yield f"{path}: {item['cli']} is refused: {error}"
        if re.search(r"[<{]\w+[>}]|PLACEHOLDER|TO[D]O|\.\.\.", item["cli"]):
            yield f"{path}: a placeholder in {item['cli']!r}"


def _derived(view: Any) -> Iterator[str]:
    for path, item in objects(view):
        if "method" in item and "confidence" in item:
            lacking = {"inputs", "evidence_path"} - set(item)
            if lacking or item["confidence"] not in CONFIDENCES:
                yield f"{path}: a derived figure without {sorted(lacking)} or with confidence {item['confidence']!r}"


def _evidence(view: Any, body: Any) -> Iterator[str]:
    for path, item in objects(view):
        named = item.get("evidence_path")
        for one in named if isinstance(named, list) else [named] if named else []:
            try:
                parse(one).get(body)
            except (Missing, ValueError) as error:
                yield f"{path}: evidence {one!r} is not in the body: {error}"
