"""Faults on demand: what can go wrong, how to ask for it, and which request gets it."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from keepa_cli.core.errors import invalid

Stage = Literal["instead", "content", "ending", "delay"]


@dataclass(frozen=True)
class FaultKind:
    """`instead` answers without executing, `content` changes the payload, `ending` spoils an executed answer."""

    stage: Stage
    meaning: str
    value: str = ""


KINDS: dict[str, FaultKind] = {
    "429": FaultKind("instead", "no tokens: 429 with the bucket's fields, nothing charged", "refillIn in ms"),
    "500": FaultKind("instead", "500 with an error object and no token fields"),
    "503": FaultKind("instead", "503 with a gateway's HTML page"),
    "200-with-error": FaultKind("instead", "200 whose body holds `error` and no payload, nothing charged"),
    "html": FaultKind("instead", "a proxy's HTML page with status 200", "another status"),
    "slow": FaultKind("delay", "the answer waits", "seconds, 2 by default"),
    "reset-after-request": FaultKind("ending", "charged, then the connection is reset before the first byte"),
    "cut-body": FaultKind("ending", "charged, then the connection closes in the middle of the body"),
    "truncated-gzip": FaultKind("ending", "charged; the gzip stream ends half-way, its length header agrees"),
    "missing-products": FaultKind("content", "an answer without its payload, such as `products`"),
    "new-enum": FaultKind("content", "enumerations hold members that nobody knows yet"),
    "extra-csv": FaultKind("content", "arrays by price type (csv, stats, deals) have one more index"),
    "type-flip": FaultKind("content", "websiteDisplayGroup of products and categories is an array of strings"),
}
_SPEC = re.compile(
    r"(?P<name>[a-z0-9-]+?)(=(?P<value>\d+(\.\d+)?))?(x(?P<count>\d+))?(%(?P<percent>\d+(\.\d+)?))?(@/?(?P<path>[a-z]+)/?)?"
)
GRAMMAR = "NAME[=VALUE][xCOUNT][%PERCENT][@PATH], for example 429x3, slow=0.5, 503x2@/product, 500%10"


@dataclass(frozen=True)
class Fault:
    """`count` None means every matching request, `percent` how many of those."""

    name: str
    value: float | None = None
    count: int | None = None
    percent: float = 100.0
    path: str | None = None

    @property
    def stage(self) -> Stage:
        return KINDS[self.name].stage


def parse_fault(spec: str | Fault) -> Fault:
    """Read `429x3@/product`. Raises `invalid_arguments` naming what is allowed."""
    fault = spec if isinstance(spec, Fault) else _read(spec)
    _check(fault)
    return fault


def _read(spec: str) -> Fault:
    found = _SPEC.fullmatch(spec.strip())
    if not found:
        raise invalid(f"{spec!r} is not a fault: {GRAMMAR}.", field="fault", value=spec, allowed=list(KINDS))
    part = found.groupdict()
    return Fault(
        part["name"],
        float(part["value"]) if part["value"] else None,
        int(part["count"]) if part["count"] else None,
        float(part["percent"]) if part["percent"] else 100.0,
        "/" + part["path"] if part["path"] else None,
    )


def _check(fault: Fault) -> None:
    spec = fault.name
    if fault.name not in KINDS:
        raise invalid(f"There is no fault {fault.name!r}.", field="fault", value=spec, allowed=list(KINDS))
    if fault.value is not None and not KINDS[fault.name].value:
        raise invalid(f"The fault {fault.name} takes no value.", field="fault", value=spec, allowed=GRAMMAR)
    if not 0 <= fault.percent <= 100:
        raise invalid("A percentage lies between 0 and 100.", field="fault", value=spec, allowed="0 to 100")
    if fault.name == "html" and fault.value is not None and not 200 <= fault.value <= 599:
        raise invalid("The value of html is an HTTP status.", field="fault", value=spec, allowed="200 to 599")


class Faults:
    """The faults still to come. Requests take them in the order given; chance is drawn from the seed."""

    def __init__(self, specs: Iterable[str | Fault] = (), seed: int = 0) -> None:
        self._lock = threading.Lock()
        self._random = random.Random(f"faults:{seed}")  # noqa: S311 - repeatable, not secret
        self._left: list[tuple[Fault, list[int | None]]] = []
        for spec in specs:
            self.add(spec)

    def add(self, spec: str | Fault) -> None:
        fault = parse_fault(spec)
        with self._lock:
            self._left.append((fault, [fault.count]))

    def clear(self) -> None:
        with self._lock:
            self._left.clear()

    def take(self, path: str) -> list[Fault]:
        """The faults of one request: any number of delays and changes of content, but one broken answer."""
        with self._lock:
            taken: list[Fault] = []
            for fault, left in self._left:
                broken = any(t.stage in {"instead", "ending"} for t in taken)
                if fault.path not in {None, path} or left[0] == 0 or (broken and fault.stage in {"instead", "ending"}):
                    continue
                if self._random.random() * 100 >= fault.percent:
                    continue
                left[0] = None if left[0] is None else left[0] - 1
                taken.append(fault)
            return taken
