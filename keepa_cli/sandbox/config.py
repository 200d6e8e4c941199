"""What a sandbox is started with."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from keepa_cli.core.errors import invalid
from keepa_cli.sandbox.faults import Fault

TOKEN_LIFETIME_MINUTES = 60
MAX_RATE = 100_000


@dataclass(frozen=True)
class SandboxConfig:
    """`tokens` is the balance at the start (a full bucket without it) and may be negative; `clock` gives Unix seconds.

    `data` is a folder of raw Keepa bodies, `cassettes` the library roots whose recordings are the only answers.
    `remote` permits a host that other machines can reach. `webhook_retry` is how many seconds after a failed delivery
    the second one is tried.
    """

    seed: int = 1
    rate: int = 20
    tokens: int | None = None
    data: Path | str | None = None
    cassettes: Sequence[Path | str] | Path | str | None = None
    faults: Sequence[str | Fault] = ()
    clock: Callable[[], float] | None = None
    port: int = 0
    host: str = "127.0.0.1"
    remote: bool = False
    deny_keys: Sequence[str] = ()
    any_key: bool = False
    webhook_retry: float = 15.0

    def __post_init__(self) -> None:
        if not 1 <= self.rate <= MAX_RATE:
            raise invalid("The rate is out of range.", field="rate", value=self.rate, allowed=f"1 to {MAX_RATE}")
        if not 0 <= self.port <= 65535:
            raise invalid("The port is out of range.", field="port", value=self.port, allowed="0 to 65535")
        if self.data is not None and self.cassettes is not None:
            raise invalid("The sandbox serves either --data or --from-cassettes.", field="data", value=str(self.data))
        if not self.remote and not is_loopback(self.host):
            raise invalid(
                f"The sandbox has no access control, so it listens on this machine only; {self.host} is reachable from"
                " others. Give --host twice with the same value to open it anyway.",
                field="host",
                value=self.host,
            )

    @property
    def capacity(self) -> int:
        return TOKEN_LIFETIME_MINUTES * self.rate

    @property
    def now(self) -> Callable[[], float]:
        return self.clock or time.time

    @property
    def roots(self) -> list[Path] | None:
        """The cassette roots, or None when recordings are not served."""
        if self.cassettes is None:
            return None
        many = [self.cassettes] if isinstance(self.cassettes, str | Path) else self.cassettes
        return [Path(p) for p in many]


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
