"""A running sandbox for tests of other parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from keepa_cli.sandbox import Sandbox, SandboxConfig

KEY = "0123456789abcdef" * 4
"""A key that a sandbox accepts."""
NOW = 1_790_000_000.0
"""A Unix time for sandboxes that must answer the same on any day: 2026-09-21T13:33:20Z."""


class Clock:
    """Unix seconds that move only when told to."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += seconds


@contextmanager
def running_sandbox(**config: Any) -> Iterator[Sandbox]:
    """A sandbox that answers until the block ends: `with running_sandbox(rate=60) as sandbox: sandbox.base_url`."""
    with Sandbox(SandboxConfig(**config)) as sandbox:
        yield sandbox
