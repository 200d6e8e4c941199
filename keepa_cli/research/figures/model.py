"""A figure before it is drawn, and why one was not made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keepa_cli.research.figures.text import clean
from keepa_cli.research.subject import Subject

WIDTH = 900
"""Pixels of a figure, its padding included."""
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.21.json"


ANSWER, VIEW, COMPARED, GRAPH, ROWS = (
    "keepa_answer", "product_view", "products_compare", "research_graph", "history_rows",
)  # fmt: skip
"""`data_basis` of a figure: what its numbers were read from."""


@dataclass
class Product:
    """One product to draw. `key` is safe in the name of a file, `label` and `title` are on a figure."""

    key: str
    label: str
    title: str
    domain: str
    basis: str
    subject: Subject | None = None
    view: Mapping[str, Any] | None = None
    cut: str = ""
    """Why the histories in the input are not whole, where they are not."""

    @property
    def heading(self) -> str:
        return f"{self.label} · {self.title}" if self.title else self.label

    @property
    def subjects(self) -> list[Subject]:
        """The product with its histories, where the input holds them."""
        return [self.subject] if self.subject is not None and self.subject.usable else []


@dataclass(frozen=True)
class Figure:
    """`spec` has no colours: a theme gives them. `data` is what was drawn, as it goes into the source file;
    `points` is how many values were drawn."""

    name: str
    title: str
    description: str
    spec: Mapping[str, Any]
    data: Mapping[str, Any]
    data_basis: str
    points: int

    @property
    def described(self) -> dict[str, Any]:
        """What an answer tells of the figure; `description` is for those who cannot see it."""
        told = {"name": self.name, "title": clean(self.title), "description": clean(self.description)}
        return told | {"data_basis": self.data_basis, "points": self.points}

    def source(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """The content of the source file."""
        about = {"figure": self.name, "title": self.title, "data_basis": self.data_basis}
        return {**about, "inputs": inputs, **self.data}


@dataclass(frozen=True)
class Skipped:
    """A figure of the set that this data cannot give."""

    name: str
    reason: str

    @property
    def described(self) -> dict[str, str]:
        return {"name": self.name, "reason": self.reason}


def values(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Rows as the data of a layer."""
    return {"values": rows}


def heading(title: str, *subtitle: str) -> dict[str, Any]:
    """The title of a figure; empty lines of the subtitle are left out."""
    return {"text": title, "subtitle": [line for line in subtitle if line]}
