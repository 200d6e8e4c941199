"""Where the nodes of a small graph stand: columns by type, trees in a column, few crossings; the same every time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

COLUMNS: tuple[tuple[str, ...], ...] = (
    ("research_graph",), ("search_term", "selection", "seller_request"), ("deal_set", "seller_ranking"), ("deal",),
    ("seller",), ("product",), ("variation",), ("brand", "manufacturer"), ("category",), ("other",),
)  # fmt: skip
"""From left to right: what was asked, what was found, what it belongs to."""
TYPES = tuple(t for column in COLUMNS for t in column)
SWEEPS = 8
DEEPEST = 5


@dataclass(frozen=True)
class Placed:
    """`place` of `of` in the column; `indent` is the depth in a tree of nodes of one column."""

    column: int
    place: int
    of: int
    indent: int


def known_type(type_: Any) -> str:
    return type_ if type_ in TYPES else "other"


def place(nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]]) -> dict[str, Placed]:
    """Every node by its id, whatever order nodes and edges come in."""
    number = {t: i for i, column in enumerate(COLUMNS) for t in column}
    layout = _Layout({n["id"]: number[known_type(n["type"])] for n in sorted(nodes, key=lambda n: str(n["id"]))})
    for source, target in sorted({(e["source"], e["target"]) for e in edges}):
        layout.connect(source, target)
    for sweep in range(SWEEPS):
        for column in sorted(layout.members, reverse=bool(sweep % 2)):
            layout.sort(column)
    return {
        name: Placed(column, i, len(inside), min(layout.depth.get(name, 0), DEEPEST))
        for column, inside in layout.members.items()
        for i, name in enumerate(inside)
    }


@dataclass
class _Layout:
    column: dict[str, int]
    members: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    outside: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    below: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    above: set[str] = field(default_factory=set)
    depth: dict[str, int] = field(default_factory=dict)
    height: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, column in self.column.items():
            self.members[column].append(name)
        for column in self.members:
            self._measure(column)

    def connect(self, source: str, target: str) -> None:
        if self.column[source] == self.column[target]:
            self.below[source].append(target)
            self.above.add(target)
        else:
            self.outside[source].add(target)
            self.outside[target].add(source)

    def sort(self, column: int) -> None:
        """Trees one after the other, each from its root down, pulled towards their neighbours in other columns."""
        inside = self.members[column]
        pull = {name: self._pull(name, set()) for name in inside}
        tops = [n for n in inside if n not in self.above]
        self.depth = {n: d for n, d in self.depth.items() if self.column[n] != column}
        order: list[str] = []
        for top in sorted(tops, key=lambda n: (pull[n], n)) + sorted(inside):
            order += self._walk(top, 0, pull)
        self.members[column] = order
        self._measure(column)

    def _walk(self, name: str, depth: int, pull: Mapping[str, float]) -> Iterator[str]:
        if name in self.depth:
            return
        self.depth[name] = depth
        yield name
        for child in sorted(self.below.get(name, ()), key=lambda n: (pull[n], n)):
            yield from self._walk(child, depth + 1, pull)

    def _pull(self, name: str, seen: set[str]) -> float:
        """The mean height of what the node and the tree below it are connected with; its own where that is nothing."""
        found = sorted(self.height[n] for n in self._reach(name, seen))
        return round(sum(found) / len(found), 6) if found else round(self.height[name], 6)

    def _reach(self, name: str, seen: set[str]) -> Iterator[str]:
        if name in seen:
            return
        seen.add(name)
        yield from self.outside.get(name, ())
        for child in self.below.get(name, ()):
            yield from self._reach(child, seen)

    def _measure(self, column: int) -> None:
        inside = self.members[column]
        self.height |= {n: (i + 0.5) / len(inside) for i, n in enumerate(inside)}
