"""A local stand-in for the Keepa API: token bucket, invented catalogue, recordings, faults."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keepa_cli.sandbox.config import SandboxConfig
    from keepa_cli.sandbox.server import LogEntry, Sandbox

__all__ = ["LogEntry", "Sandbox", "SandboxConfig"]

_HOMES = {"SandboxConfig": "config", "LogEntry": "server", "Sandbox": "server"}


def __getattr__(name: str) -> Any:
    """The server is imported when it is used: help pages need only the faults."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
