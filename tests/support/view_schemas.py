"""Views against the schemas that the program publishes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from keepa_cli.research.schemas import FOLDER, documents


@cache
def schemas() -> Mapping[str, Any]:
    return {name: schema for name, (_, schema) in documents().items()}


@cache
def validator(name: str) -> Any:
    return Draft202012Validator(schemas()[name])


def faults(data: Mapping[str, Any], name: str | None = None) -> list[str]:
    """What is wrong with `data` by the schema of its view, the deepest fault in words."""
    known = name or FOLDER + str(data["view"])
    if known not in schemas():
        return [f"there is no schema of {known!r}"]
    found = best_match(validator(known).iter_errors(data))
    return [] if found is None else [f"{found.json_path}: {found.message[:300]}"]


def product_faults(view: Mapping[str, Any]) -> list[str]:
    """The same for one product of a view."""
    data = {"view": "product", "profile": "research", "count": 1, "products": [view]}
    return faults(data)
