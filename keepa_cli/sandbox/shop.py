"""What the endpoints answer from, and what they give back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from keepa_cli.keepa.clock import even_minute
from keepa_cli.sandbox import spoil
from keepa_cli.sandbox.bodies import Chunk
from keepa_cli.sandbox.catalogue import Catalogue
from keepa_cli.sandbox.catalogue.catalogue import Kept
from keepa_cli.sandbox.config import SandboxConfig
from keepa_cli.sandbox.messages import JSON_TYPE, Call, dumps
from keepa_cli.sandbox.recent import Recent
from keepa_cli.sandbox.stored import Stored
from keepa_cli.sandbox.trackings.desk import Desk

KEPT_BYTES = 32 * 1024 * 1024
DEAL_SECONDS = 120
GRAPH_SECONDS = 90 * 60


@dataclass(frozen=True)
class Answer:
    """`body` goes out untouched, with `headers`; without one the envelope is put around `payload`."""

    payload: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    body: Chunk | None = None
    headers: tuple[tuple[str, str], ...] = JSON_TYPE

    def encoded(self) -> Answer:
        return replace(self, payload={name: Chunk(dumps(value)) for name, value in self.payload.items()})

    def weight(self) -> int:
        return 1000 + 2 * sum(len(chunk.data) for chunk in self.payload.values())


class Shop:
    """The invented catalogue, stored bodies, trackings, and answers given before."""

    def __init__(self, config: SandboxConfig, on_flow: Callable[[int], None] = lambda _: None) -> None:
        self.catalogue = Catalogue(config.seed)
        self.stored = Stored(config.data) if config.data is not None else None
        self.desk = Desk(self.catalogue, config, on_flow)
        self.deals = Recent(DEAL_SECONDS, config.now)
        self.graphs = Recent(GRAPH_SECONDS, config.now)
        self._given: Kept = Kept(KEPT_BYTES, Answer.weight)

    def answer(self, endpoint: Endpoint, call: Call, now_ms: int, spoiled: Sequence[str]) -> Answer:
        """The answer of an endpoint. The same question in the same minute is worked out once, unless it changes
        something, its answer remembers, or files answer."""
        now = even_minute(now_ms)
        if spoiled:
            answer = endpoint.work(self, call, now, spoiled)
            return replace(answer, payload=spoil.payload(answer.payload, spoiled, now))
        if endpoint.stateful or self.stored is not None:
            return endpoint.work(self, call, now, ())
        key = (call.path, call.pairs, call.body, now, self.catalogue.changes)
        return self._given.made(key, lambda: endpoint.work(self, call, now, ()).encoded())


Work = Callable[[Shop, Call, int, Sequence[str]], Answer]


@dataclass(frozen=True)
class Endpoint:
    """`free` says of a call whether it runs without tokens; a `stateful` one is worked out every time."""

    work: Work
    stateful: bool = False
    free: Callable[[Call], bool] = lambda _: False
