"""One adapter per neutral verb of the bug cases in tests/cases: input -> what the product answers."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

Adapter = Callable[..., Any]
ADAPTERS: dict[str, Adapter] = {}


def verb(name: str) -> Callable[[Adapter], Adapter]:
    """Register the adapter of `name`; it takes the case's `input` and, if it names them, pytest fixtures."""

    def register(fn: Adapter) -> Adapter:
        if name in ADAPTERS:
            raise ValueError(f"verb {name!r} has two adapters")
        ADAPTERS[name] = fn
        return fn

    return register


def load() -> dict[str, Adapter]:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return ADAPTERS
