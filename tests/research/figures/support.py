"""Specifications taken apart, and products to draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.figures import sets
from keepa_cli.research.figures.material import Material
from keepa_cli.research.figures.model import Figure, Skipped
from tests.research.product.made import plan

A, B, C = "B00AAAAAA1", "B00BBBBBB2", "B00CCCCCC3"


def material(*inputs: Any, only: frozenset[str] = frozenset()) -> Material:
    found = Material(plan(), DOMAINS[1], only)
    for i, data in enumerate(inputs):
        found.add(f"input-{i}", data)
    found.finish()
    return found


def made(*inputs: Any, figure_set: str = "all", only: frozenset[str] = frozenset()) -> dict[str, Figure]:
    return {f.name: f for f in sets.figures(material(*inputs, only=only), figure_set) if isinstance(f, Figure)}


def skipped(*inputs: Any, figure_set: str = "all") -> dict[str, str]:
    found = sets.figures(material(*inputs), figure_set)
    return {s.name: s.reason for s in found if isinstance(s, Skipped)}


def layers(spec: Any) -> Iterator[Mapping[str, Any]]:
    """Every part of a specification that draws a mark."""
    if isinstance(spec, Mapping):
        if "mark" in spec:
            yield spec
        for inner in spec.values():
            yield from layers(inner)
    elif isinstance(spec, list):
        for inner in spec:
            yield from layers(inner)


def marks(figure: Figure, type_: str, style: str | None = None) -> list[Mapping[str, Any]]:
    found = [layer for layer in layers(figure.spec) if layer["mark"]["type"] == type_]
    return [layer for layer in found if style is None or layer["mark"].get("style") == style]


def rows(figure: Figure, type_: str, style: str | None = None) -> list[dict[str, Any]]:
    return [row for layer in marks(figure, type_, style) for row in layer.get("data", {}).get("values", [])]


def texts(figure: Figure) -> list[str]:
    return [row["text"] for row in rows(figure, "text")]


def title_of(figure: Figure) -> str:
    return " ".join([figure.spec["title"]["text"], *figure.spec["title"]["subtitle"]])
