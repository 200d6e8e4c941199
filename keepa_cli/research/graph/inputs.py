"""The graphs of an input: those that it holds, else one for each product that Keepa sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepa_cli.core.paths import render
from keepa_cli.keepa.domains import Domain
from keepa_cli.research.graph.find import Source, graphs_in
from keepa_cli.research.graph.model import GRAPH
from keepa_cli.research.inputs import raw_products, unwrapped
from keepa_cli.research.product.look import Look

PROFILE = "research"


def sources_of(name: str, data: Any, domain: Domain) -> list[Source]:
    """The graphs in `data` with their paths there. `domain` counts for raw products that name none themselves."""
    held = [Source(name, graph, path) for path, graph in graphs_in(data)]
    return held or list(_made(name, data, domain))


def prefix_of(data: Any) -> str:
    """The JSON path of what `unwrapped` finds in `data`."""
    inner = unwrapped(data)
    steps: list[str] = []
    for step in ("data", "body"):
        if data is not inner and isinstance(data, Mapping) and step in data:
            data = data[step]
            steps.append(step)
    return render(tuple(steps))


def _made(name: str, data: Any, domain: Domain) -> Iterator[Source]:
    above = prefix_of(data)
    for subject in raw_products(data, domain):
        graph = Look(subject, _no_plan, PROFILE).section(GRAPH)
        if graph["root"]:
            yield Source(name, graph, above + subject.path[1:], held=False)


def _no_plan(*_: Any) -> dict[str, Any]:
    return {}
