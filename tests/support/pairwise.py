"""Few rows in which every two values of every two parameters meet."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

ABSENT = object()
"""A parameter that is not given."""
Row = dict[str, Any]
Pair = tuple[tuple[str, int], tuple[str, int]]
TRIES = 80


def rows(values: Mapping[str, Sequence[Any]], valid: Callable[[Row], bool]) -> tuple[list[Row], list[Pair]]:
    """Rows that cover every pair which some valid row holds, and the pairs for which none was found. The same on
    every run."""
    if len(values) < 2:
        alone = [{}, *({name: value} for name, options in values.items() for value in options if value is not ABSENT)]
        return [row for row in alone if valid(row)], []
    rng = random.Random(len(values))
    open_pairs = set(_pairs(values))
    found: list[Row] = []
    impossible: list[Pair] = []
    for pair in _pairs(values):
        if pair not in open_pairs:
            continue
        best = max(
            (row for row in (_complete(values, pair, rng) for _ in range(TRIES)) if valid(_given(values, row))),
            key=lambda row: len(open_pairs & set(combinations(sorted(row.items()), 2))),
            default=None,
        )
        if best is None:
            open_pairs.discard(pair)
            impossible.append(pair)
            continue
        open_pairs -= set(combinations(sorted(best.items()), 2))
        found.append(_given(values, best))
    return found, impossible


def _pairs(values: Mapping[str, Sequence[Any]]) -> list[Pair]:
    return [
        ((a, i), (b, j))
        for a, b in combinations(sorted(values), 2)
        for i in range(len(values[a]))
        for j in range(len(values[b]))
    ]


def _complete(values: Mapping[str, Sequence[Any]], pair: Pair, rng: random.Random) -> dict[str, int]:
    """A row around a pair. First values come often: where leaving out is the first, constraints are met sooner."""
    return {name: rng.choice((0, rng.randrange(len(options)))) for name, options in values.items()} | dict(pair)


def _given(values: Mapping[str, Sequence[Any]], row: Mapping[str, int]) -> Row:
    return {name: values[name][i] for name, i in row.items() if values[name][i] is not ABSENT}
