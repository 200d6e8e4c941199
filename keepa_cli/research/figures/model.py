"""A figure before it is drawn, and why one was not made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WIDTH = 900
"""Pixels of a figure, its padding included."""
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.21.json"


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
