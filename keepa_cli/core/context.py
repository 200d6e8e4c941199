"""Everything a call takes from its surroundings, made when first needed, so that tests can replace it."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.settings import Settings, data_dir, load_settings, read_config, refuse_exposed, state_dir

if TYPE_CHECKING:
    from keepa_cli.core.redact import Redactor

T = TypeVar("T")


def _now() -> datetime:
    return datetime.now(UTC)


def _silent(_: str) -> None:
    """Progress that nobody watches."""


def _unstoppable(_: Callable[[], None]) -> AbstractContextManager[None]:
    """Nobody but the user's Ctrl-C ends what is under way."""
    return nullcontext()


@dataclass(eq=False, repr=False)
class Context:
    """The environment, the clock, the streams and what is made from them.

    `services` caches objects that outlive one call (the cassette library, the HTTP session); `service()`
    makes them on first use. `ask_secret` prompts a person without echo and `agree` asks one; only a terminal gives
    them.
    `tell` shows a line of progress. `interrupted_while_spending` is set when a live call was cut off by the user,
    `after_interrupt` to what that user should read then. With `offline` no call goes live, whatever asks for it.
    `under_way(abort)` stands around each request on the network; whoever stops the call calls `abort`.
    """

    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    cwd: Path = field(default_factory=Path.cwd)
    now: Callable[[], datetime] = _now
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    stdin: TextIO = field(default_factory=lambda: sys.stdin)
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)
    services: dict[str, Any] = field(default_factory=dict)
    ask_secret: Callable[[str], str] | None = None
    agree: Callable[[str], bool] | None = None
    tell: Callable[[str], None] = _silent
    interrupted_while_spending: bool = False
    after_interrupt: str | None = None
    offline: bool = False
    under_way: Callable[[Callable[[], None]], AbstractContextManager[None]] = _unstoppable
    _making: threading.RLock = field(default_factory=threading.RLock, repr=False, compare=False)

    @cached_property
    def settings(self) -> Settings:
        return load_settings(self.env)

    @cached_property
    def state_dir(self) -> Path:
        return state_dir(self.env, self.settings)

    @cached_property
    def data_dir(self) -> Path:
        given = self.env.get("KEEPA_CLI_DATA_DIR")
        return Path(given) if given else data_dir()

    @cached_property
    def redactor(self) -> Redactor:
        """Redacts by name always, and by value once a key was read: replay never reads it."""
        from keepa_cli.core.redact import Redactor

        return Redactor()

    def api_key(self) -> tuple[str, str]:
        """The key and where it came from. Called in live and record mode only. Raises `auth_missing`."""
        key, origin = find_key(self.env, self.settings)
        if origin == "config":
            refuse_exposed(self.settings.config_path)
        if not key:
            raise KeepaCliError(Kind.AUTH_MISSING, "No Keepa API key is configured.")
        self.redactor.add_secret(key)
        return key, origin

    def service(self, name: str, make: Callable[[], T]) -> T:
        """The object called `name`, made by `make` when it is asked for first, by whichever thread."""
        if name not in self.services:
            with self._making:
                if name not in self.services:
                    self.services[name] = make()
        found: T = self.services[name]
        return found

    @property
    def in_ci(self) -> bool:
        return self.env.get("CI", "").strip().lower() not in {"", "0", "false", "no"}


def find_key(env: Mapping[str, str], settings: Settings) -> tuple[str | None, str]:
    """The API key and its origin: "environment", "config" or "none"; surrounding quotes and spaces are dropped."""
    stored = read_config(settings.config_path)[0] if not env.get("KEEPA_API_KEY") else {}
    for raw, origin in ((env.get("KEEPA_API_KEY"), "environment"), (stored.get("api_key"), "config")):
        key = str(raw or "").strip().strip("\"'").strip()
        if key:
            return key, origin
    return None, "none"
