"""Rows of the index: what is shown of a product, and what it is sorted by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.research.reports.texts import label

COLUMNS = (
    ("product", "Product", ""), ("price", "Price", "num"), ("rank", "Sales rank", "num"),
    ("sold", "Sold a month", "num"), ("rating", "Rating", "num"), ("ratings", "Ratings", "num"),
    ("offers", "New offers", "num"), ("risks", "Risks", ""), ("updated", "Updated", "num"),
)  # fmt: skip
"""(name, heading, class) of the columns."""
FACTS = ("price", "rank", "sold", "rating", "ratings", "offers")
SEVERITIES = ("none", "low", "medium", "high", "critical")


def row(card: Mapping[str, Any]) -> dict[str, Any]:
    """A product as a row. `sort` is a number or a text; "" sorts last, in whatever direction."""
    facts = dict(zip(FACTS, card["key_facts"], strict=True))
    cells = [_cell(name, facts[name]) for name in FACTS]
    updated = next((t["at"] for t in card["times"][::-1]), "")
    return {
        "card": card,
        "words": " ".join((card["asin"], card["domain"], card["title"], card["brand"], card["category"])).casefold(),
        "cells": cells,
        "risks": [{"severity": r["severity"], "label": label(r["code"]).lower()} for r in card["risks"]],
        "risk_sort": _gravity(card),
        "updated": updated,
    }


def _cell(name: str, fact: Mapping[str, Any]) -> dict[str, Any]:
    shown = fact["text"]
    below = fact.get("note") or "" if name == "price" else "at least" if (shown or "").startswith("at least ") else ""
    found = {"text": shown or "", "why": "", "below": below, "sort": ""}
    if shown is None:
        return found | {"why": fact["absent"]["text"].replace("_", " ")}
    return found | {"sort": _number(name, shown)}


def _number(name: str, shown: str) -> str:
    """What a fact is sorted by: its digits; amounts are sorted within their currency."""
    words = shown.removeprefix("at least ").split(" ")
    number = words[0].replace(",", "")
    return f"{words[1]} {number}" if name == "price" and len(words) > 1 else number


def _gravity(card: Mapping[str, Any]) -> str:
    if not card["risks_assessed"]:
        return ""
    ranks = [SEVERITIES.index(r["severity"]) for r in card["risks"] if r["severity"] in SEVERITIES]
    return str(max(ranks, default=0) * 100 + len(card["risks"]))
