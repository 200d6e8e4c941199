"""One remote call that is under way: what every step after planning needs to know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from keepa_cli.core.context import Context
from keepa_cli.core.registry import Batch, Cost, Operation, Request
from keepa_cli.core.settings import SPENDING_MODES, Mode
from keepa_cli.engine.options import Options
from keepa_cli.keepa.wire import WireRequest, WireResponse
from keepa_cli.transport.aborting import InterruptedWait as InterruptedWait

SENT = frozenset({"live", "record"})
"""Sources of answers that came over the network just now; any other answer cost nothing."""


RESUMED = "batch"
"""The source of an answer that an earlier run of the same batch was given."""


class Transport(Protocol):
    def send(self, request: WireRequest, *, retry: bool = True) -> WireResponse: ...


@dataclass(frozen=True)
class Call:
    """An operation with its checked parameters, the requests it plans, its price, and how it is to be answered."""

    op: Operation
    bound: dict[str, Any]
    planned: Request | Batch
    cost: Cost
    mode: Mode
    ctx: Context
    options: Options
    shown: dict[str, Any] = field(default_factory=dict)

    @property
    def requests(self) -> tuple[Request, ...]:
        return self.planned.requests if isinstance(self.planned, Batch) else (self.planned,)

    @property
    def spends(self) -> bool:
        return self.mode in SPENDING_MODES


@dataclass
class Answer:
    """One checked answer: the wire response, its parsed body (None for binary) and what was noticed."""

    response: WireResponse
    body: Any
    bucket: dict[str, Any]
    warnings: list[dict[str, Any]]

    @property
    def sent(self) -> bool:
        """Whether a request left for it."""
        return self.response.source.kind in SENT
