"""The inputs of a brief: results of any command, graphs, and products as Keepa sent them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from keepa_cli.keepa.domains import Domain
from keepa_cli.research.brief.collect import Collected, Locate, Steps, collect, in_place
from keepa_cli.research.graph.inputs import prefix_of
from keepa_cli.research.inputs import raw_products
from keepa_cli.research.needs import Planner
from keepa_cli.research.product.view import product_view
from keepa_cli.research.subject import Subject

READ = ("agent_brief", "identity", "content", "risk_taxonomy", "data_quality", "next_actions")
"""The sections that a brief reads of a product that came as Keepa sent it."""
_FIELDS: Mapping[Any, str] = {"description": "description", "features": "features"}


@dataclass(frozen=True)
class Document:
    """An input with the kind of thing that it is and what could be read of it."""

    name: str
    data: Any
    sha256: str


def kind_of(data: Any) -> str:
    """The view that a document holds; `keepa_answer` for raw products, `graph` and `other` for the rest."""
    inner = data
    for step in ("data", "body"):
        if isinstance(inner, Mapping) and isinstance(inner.get("view"), str):
            return str(inner["view"])[:60]
        if isinstance(inner, Mapping) and isinstance(inner.get(step), Mapping):
            inner = inner[step]
    if isinstance(inner, Mapping) and isinstance(inner.get("view"), str):
        return str(inner["view"])[:60]
    if isinstance(inner, Mapping) and isinstance(inner.get("nodes"), list):
        return "graph"
    return "keepa_answer" if isinstance(inner, Mapping) and isinstance(inner.get("products"), list) else "other"


def gather(documents: Iterable[Document], domain: Domain, plan: Planner) -> Collected:
    """What all documents say."""
    found = Collected()
    for one in documents:
        collect(found, one.name, one.data, in_place)
        above = prefix_of(one.data)
        for subject in raw_products(one.data, domain):
            view = product_view(subject, plan, "audit", fields=READ)
            collect(found, one.name, view, _of_raw(subject, above))
    return found


def _of_raw(subject: Subject, above: str) -> Locate:
    """Where in the raw input a part of its view comes from."""

    def locate(steps: Steps, value: Any) -> str:
        path = value.get("evidence_path") if isinstance(value, Mapping) else None
        path = path[0] if isinstance(path, list) and path else path
        if not isinstance(path, str):
            last = next((s for s in reversed(steps) if isinstance(s, str)), None)
            named = {"identity": last, "content": _FIELDS.get(last)}.get(str(steps[0])) if steps else None
            path = subject.at(named) if named and named in subject.product else subject.path
        return above + path[1:]

    return locate
