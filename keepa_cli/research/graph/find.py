"""Every research graph in any JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from keepa_cli.core.paths import render
from keepa_cli.research.graph.model import GRAPH

DEEPEST = 200


class Source(NamedTuple):
    """A graph with the name of the input that it comes from and its JSON path there: that of the graph, or that of
    the product that it was made of where the input does not hold it."""

    name: str
    graph: Any
    path: str = "$"
    held: bool = True


def graphs_in(data: Any) -> Iterator[tuple[str, Any]]:
    """(JSON path, graph) of every graph, in the order in which they stand: each member called `research_graph`, and
    `data` itself where it is a graph. What a member holds is passed on as it is, graph or not; a graph inside a graph
    is not looked for."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
    while stack:
        path, value = stack.pop()
        found = value is not None and path[-1] == GRAPH if path else is_graph(value)
        if found:
            yield render(path), value
        elif len(path) < DEEPEST:
            stack += reversed([((*path, step), inner) for step, inner in _inside(value)])


def is_graph(value: Any) -> bool:
    """Whether a value has the members of a graph."""
    return (
        isinstance(value, Mapping)
        and "view" not in value
        and isinstance(value.get("nodes"), list)
        and isinstance(value.get("edges"), list)
    )


def _inside(value: Any) -> list[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        items: Iterator[tuple[Any, Any]] = iter(value.items())
    elif isinstance(value, list):
        items = iter(enumerate(value))
    else:
        return []
    return [(step, inner) for step, inner in items if isinstance(inner, dict | list) or step == GRAPH]
