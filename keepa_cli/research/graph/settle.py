"""What a merged node or edge says where its sources disagree."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PREFERRED, MOST, FIRST = "prefer_source", "most_frequent", "first_in_order"
RULES = (PREFERRED, MOST, FIRST)
"""How a disagreement is decided, in the order in which the rules are tried."""


@dataclass(frozen=True)
class Settled:
    """One node or edge that was found more than once. `field` is None where nobody disagreed; `variants` are
    (value, indices of the sources that say so), the chosen one first."""

    where: str
    field: str | None
    variants: tuple[tuple[Any, tuple[int, ...]], ...] = ()
    resolution: str | None = None
    times: int = 1
    sources: tuple[int, ...] = ()


@dataclass(frozen=True)
class Votes:
    """Who has a vote, and whose vote decides."""

    counted: Sequence[bool]
    preferred: frozenset[int]

    def settle(
        self, where: str, said: Sequence[tuple[int, Mapping[str, Any]]], fixed: Iterable[str]
    ) -> tuple[dict[str, Any], list[Settled]]:
        """The fields of a node or edge that its sources describe, and notes on doubles and disagreements."""
        notes: list[Settled] = []
        indices = tuple(sorted({i for i, _ in said}))
        if len(said) > 1:
            notes.append(Settled(where, None, times=len(said), sources=indices))
        names = sorted({name for _, item in said for name in item} - set(fixed))
        values: dict[str, Any] = {}
        for name in names:
            variants = _variants(said, name)
            best, rule = self._best(variants)
            values[name] = best[0]
            if len(variants) > 1:
                others = [v for v in variants if v is not best]
                notes.append(Settled(where, name, (best, *others), rule, len(said), indices))
        return values, notes

    def _best(self, variants: list[tuple[Any, tuple[int, ...]]]) -> tuple[tuple[Any, tuple[int, ...]], str]:
        liked = [v for v in variants if not self.preferred.isdisjoint(v[1])]
        rest = liked or variants
        weights = [sum(self.counted[i] for i in v[1]) for v in rest]
        top = [v for v, w in zip(rest, weights, strict=True) if w == max(weights)]
        if len(liked) == 1:
            return liked[0], PREFERRED
        return top[0], MOST if len(top) == 1 else FIRST


def _variants(said: Sequence[tuple[int, Mapping[str, Any]]], name: str) -> list[tuple[Any, tuple[int, ...]]]:
    """The distinct values of a field in one order, each with the sources that say so."""
    found: dict[str, tuple[Any, set[int]]] = {}
    for i, item in said:
        if name in item:
            found.setdefault(canonical(item[name]), (item[name], set()))[1].add(i)
    return [(found[key][0], tuple(sorted(found[key][1]))) for key in sorted(found)]


def canonical(value: Any) -> str:
    """One text for equal data."""
    return json.dumps(value, sort_keys=True, default=repr)
