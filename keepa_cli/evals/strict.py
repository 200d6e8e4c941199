"""What every reader of eval files needs: defects with their place, known keys, assertions."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from keepa_cli.core.paths import parse
from keepa_cli.evals.checks import CHECKS
from keepa_cli.evals.model import Assertion


class Wrong(Exception):
    """A defect of an eval file: where and what."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.where = where


def assertions(raw: Any, where: str, fill: Callable[[Any], Any] = lambda expected: expected) -> tuple[Assertion, ...]:
    """The assertions of a list; `fill` puts stand-ins for values that only a run knows, so that checks can be read."""
    if not isinstance(raw, list):
        raise Wrong(where, "must be a list of assertions")
    return tuple(_assertion(item, f"{where}[{i}]", fill) for i, item in enumerate(raw))


def _assertion(raw: Any, where: str, fill: Callable[[Any], Any]) -> Assertion:
    if not isinstance(raw, dict):
        raise Wrong(where, "an assertion is an object with a path and one check")
    known(raw, ("path", *CHECKS), where)
    checks = [name for name in raw if name != "path"]
    if len(checks) != 1:
        raise Wrong(where, f"has {len(checks)} checks; an assertion has a path and exactly one of {', '.join(CHECKS)}")
    name = checks[0]
    try:
        path = parse(raw.get("path"))
    except ValueError as error:
        raise Wrong(f"{where}.path", str(error)) from None
    try:
        CHECKS[name].prepare(fill(raw[name]))
    except ValueError as error:
        raise Wrong(f"{where}.{name}", str(error)) from None
    return Assertion(path, name, raw[name])


def known(raw: dict[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for key in raw:
        if key not in allowed:
            raise Wrong(where, f"the key {key!r} is not known{near(key, allowed)}")


def near(word: Any, allowed: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(str(word), allowed, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; allowed are {', '.join(allowed)}"
