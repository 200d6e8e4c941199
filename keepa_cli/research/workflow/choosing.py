"""Which values an earlier answer gives a later step."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keepa_cli.core.paths import Missing, parse
from keepa_cli.research.text import one_line
from keepa_cli.research.workflow.model import From

MOST_SHOWN = 10
"""Candidates that are listed for a reader who has to choose."""
_ALL = re.compile(r"\[\*\]|\.\*")


@dataclass(frozen=True)
class Candidate:
    value: Any
    label: str

    @property
    def row(self) -> dict[str, Any]:
        return {"value": self.value} | ({"name": self.label} if self.label else {})


@dataclass(frozen=True)
class Choice:
    """`values` are taken; where there are none, `ambiguous` tells several candidates from no candidate."""

    values: list[Any]
    candidates: list[Candidate]
    rule: str

    @property
    def ambiguous(self) -> bool:
        return not self.values and len(self.candidates) > 1

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [c.row for c in self.candidates[:MOST_SHOWN]]


def at(data: Any, path: str) -> list[Any]:
    """Everything at `path` in `data`; `[*]` stands for every element of a list, `.*` for every member of an object."""
    first, *rest = _ALL.split(path)
    found = _one(data, first)
    for part in rest:
        found = [inner for value in found for inner in _inside(value)]
        found = [inner for value in found for inner in (_one(value, "$" + part) if part else [value])]
    return found


def choose(ref: From, answer: Any, inputs: Mapping[str, Any]) -> Choice:
    """The first values of the right sort at the path, without repeats; or the one whose name was asked for."""
    candidates = _candidates(ref, answer)
    wanted = _same(inputs.get(ref.match)) if ref.match else ""
    named = [c for c in candidates if wanted and _same(c.label) == wanted]
    if len(named) > 1:
        return Choice([], named, "several have the name that was asked for")
    if named:
        return Choice([named[0].value], candidates, "the one that has the name asked for")
    limit = limit_of(ref, inputs)
    return Choice([c.value for c in candidates[:limit]], candidates, f"the first {limit} in the order of the answer")


def limit_of(ref: From, inputs: Mapping[str, Any]) -> int:
    """How many values are taken at most."""
    return ref.limit if isinstance(ref.limit, int) else int(inputs.get(ref.limit) or 1)


def _candidates(ref: From, answer: Any) -> list[Candidate]:
    values = at(answer, ref.path)
    labels = at(answer, ref.labels) if ref.labels else []
    if len(labels) != len(values):
        labels = [""] * len(values)
    found: dict[str, Candidate] = {}
    for value, label in zip(values, labels, strict=True):
        if isinstance(value, str | int) and not isinstance(value, bool) and value not in ("", 0):
            found.setdefault(str(value), Candidate(value, one_line(label, 80)))
    return list(found.values())


def _one(value: Any, path: str) -> list[Any]:
    try:
        return [parse(path).get(value)]
    except (Missing, ValueError):
        return []


def _inside(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []


def _same(text: Any) -> str:
    return " ".join(str(text or "").casefold().split())
