"""What a caller decides beside the parameters of an operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from keepa_cli.core.registry import Operation
from keepa_cli.engine.modes import Flags


@dataclass(frozen=True)
class Options:
    """What a caller decides beside the parameters. `find` resolves operation names for composite operations;
    `confirm` asks a person (only interfaces with a terminal give one). `wait=False` fails at once where a call would
    wait for tokens or be repeated. The same call under the same `idempotency_key` is paid for once.
    `fresh` asks for everything again where an earlier run of the same batch did not get to its end."""

    flags: Flags = field(default_factory=Flags)
    yes: bool = False
    quote_token: str | None = None
    max_tokens: int | None = None
    out: Path | None = None
    transport: str = "cli"
    text: bool = False
    wait: bool = True
    cache_ttl: int | str | None = None
    no_cache: bool = False
    fresh: bool = False
    idempotency_key: str | None = None
    find: Callable[[str], Operation] | None = None
    confirm: Callable[[str], bool] | None = None
