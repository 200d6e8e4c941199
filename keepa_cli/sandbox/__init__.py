"""A local stand-in for the Keepa API: token bucket, invented catalogue, recordings, faults."""

from __future__ import annotations

from keepa_cli.sandbox.config import SandboxConfig
from keepa_cli.sandbox.server import LogEntry, Sandbox

__all__ = ["LogEntry", "Sandbox", "SandboxConfig"]
