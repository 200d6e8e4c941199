"""The client: one context for all its calls, shared by threads."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

from keepa_cli.client import methods
from keepa_cli.core import envelope
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.registry import Operation
from keepa_cli.core.settings import SPENDING_MODES, Mode
from keepa_cli.engine import Flags, Options, run

if TYPE_CHECKING:
    from keepa_cli.agent.session import AgentSession

Tell = Callable[[str], None]


class CallFailed(KeepaCliError):
    """A failed call as an exception: `kind`, `message`, `details`, `next_actions`, and the whole `envelope`."""

    def __init__(self, result: Envelope) -> None:
        error = result["error"]
        super().__init__(
            Kind(error["kind"]),
            error["message"],
            details=error["details"],
            next_actions=error["next_actions"],
            retryable=error["retryable"],
            token_bucket=result["token_bucket"],
        )
        self.envelope = result


class Changes(TypedDict, total=False):
    """What `using` can set; the same words as in `LocalClient(...)`."""

    mode: str
    fixture: str
    record: str
    yes: bool
    quote_token: str
    max_tokens: int
    idempotency_key: str
    cache_ttl: int
    no_cache: bool
    fresh: bool
    wait: bool
    out: str | Path
    raise_errors: bool


class LocalClient:
    """Every operation as a method, in this process: `LocalClient().products.get("B0PPJ248DY")["data"]`.

    Answers come from recordings unless `mode` is "live" or "record"; "dry-run" shows the request and its price.
    A method returns the envelope that `kc --json` prints; with `raise_errors=True` a failure is a `CallFailed`.
    One client serves any number of threads. `env` replaces the environment, `cassettes` names folders of
    recordings, `tell` is given lines of progress, `fixture` and `record` imply their modes.
    """

    def __init__(
        self,
        mode: str | None = None,
        *,
        fixture: str | None = None,
        record: str | None = None,
        yes: bool = False,
        quote_token: str | None = None,
        max_tokens: int | None = None,
        idempotency_key: str | None = None,
        cache_ttl: int | None = None,
        no_cache: bool = False,
        fresh: bool = False,
        wait: bool = True,
        out: str | Path | None = None,
        raise_errors: bool = False,
        env: Mapping[str, str] | None = None,
        cassettes: str | Path | Iterable[str | Path] | None = None,
        tell: Tell | None = None,
    ) -> None:
        self._mode = _mode(mode, fixture, record)
        self._given: dict[str, Any] = {"mode": mode, "fixture": fixture, "record": record, "raise_errors": raise_errors}
        self._raise_errors = raise_errors
        self._flags = Flags(fixture=fixture, record=record)
        self._options = Options(
            yes=yes,
            quote_token=quote_token,
            max_tokens=max_tokens,
            out=None if out is None else Path(out),
            transport="python",
            wait=wait,
            cache_ttl=cache_ttl,
            no_cache=no_cache,
            fresh=fresh,
            idempotency_key=idempotency_key,
            find=methods.find,
        )
        self._context = _context(_environment(env, self._mode, cassettes), tell)
        self._families: dict[str, Any] = {}
        self._key_lock = threading.Lock()

    def call(self, name: str, /, **params: Any) -> Envelope:
        """The envelope of the operation `name`, such as "products.get"."""
        return self._call(name, params)

    def ask(self, name: str, /, **params: Any) -> Any:
        """The `data` of the operation `name`. Raises `CallFailed`, which has the error's `kind`."""
        result = self._run(name, params)
        if not result["ok"]:
            raise CallFailed(result)
        return result["data"]

    def using(self, **changes: Unpack[Changes]) -> Self:
        """This client with other options, such as `client.using(mode="live", yes=True)`. Both share connections."""
        unknown = set(changes) - Changes.__optional_keys__
        if unknown:
            raise TypeError(methods.missing(min(unknown), sorted(Changes.__optional_keys__), "using()"))
        given = {**self._given, **changes}
        if "mode" in changes:
            given |= {name: changes.get(name) for name in ("fixture", "record")}
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._families, other._given, other._raise_errors = {}, given, bool(given["raise_errors"])
        other._mode = _mode(given["mode"], given["fixture"], given["record"])
        other._flags = Flags(fixture=given["fixture"], record=given["record"])
        plain: dict[str, Any] = {name: value for name, value in changes.items() if name not in self._given}
        if plain.get("out") is not None:
            plain["out"] = Path(plain["out"])
        other._options = replace(self._options, **plain)
        if other._mode is not self._mode:
            base = self._context
            other._context = replace(base, env=_environment(base.env, other._mode, None))
            other._context.redactor = base.redactor
        return other

    def session(self, *, profile: str | None = None) -> AgentSession:
        """A session as agents have it, in this client's mode: `session.call("products.get", {"asin": ["B0PPJ248DY"]})`.

        Repeated calls are answered from it, `budget_ledger` counts what it spends, a `profile` narrows it.
        """
        from keepa_cli.agent.session import AgentSession

        live = (self._mode or self._context.settings.mode) is Mode.LIVE
        return AgentSession(self._context, live=live, profile=profile, transport="python", anywhere=True)

    def close(self) -> None:
        """Close files and the connections of this thread. A later call opens them again."""
        for service in list(self._context.services.values()):
            close = getattr(service, "close", None)
            if close is not None:
                close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    if not TYPE_CHECKING:  # the stub names every family, so that a misspelt one is noticed

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            if name not in self._families:
                family = methods.families().get(name)
                if family is None:
                    raise AttributeError(methods.missing(name, dir(self), "LocalClient"))
                self._families[name] = methods.attribute(family, self._call)
            return self._families[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *methods.families()})

    def __repr__(self) -> str:
        return f"LocalClient(mode={(self._mode or self._context.settings.mode).value!r})"

    def _call(self, name: str, params: Mapping[str, Any]) -> Envelope:
        result = self._run(name, params)
        if self._raise_errors and not result["ok"]:
            raise CallFailed(result)
        return result

    def _run(self, name: str, params: Mapping[str, Any]) -> Envelope:
        ctx = self._context
        try:
            op = methods.find(name)
        except KeepaCliError as error:
            return envelope.failed(name, error)
        if op.remote:
            self._learn_key()
        try:
            result = run(op, _lists(op, params), ctx, replace(self._options, flags=self._flags_for(op)))
        except KeyboardInterrupt:
            if ctx.after_interrupt:
                ctx.tell(ctx.after_interrupt)
            raise
        return Envelope(ctx.redactor.data(dict(result)))

    def _flags_for(self, op: Operation) -> Flags:
        """The mode stands in the environment; flags say the rest. Local operations know a dry run, if any mode."""
        if op.remote:
            return self._flags
        return Flags(dry_run=self._mode is Mode.DRY_RUN and any(a.name == "dry_run" for a in op.args))

    def _learn_key(self) -> None:
        """Make the key known to the redactor before several threads need it at once."""
        ctx = self._context
        if (self._mode or ctx.settings.mode) in SPENDING_MODES and not ctx.redactor.secrets:
            with self._key_lock:
                try:
                    ctx.api_key()
                except KeepaCliError:
                    return  # the call itself says so


def _lists(op: Operation, params: Mapping[str, Any]) -> dict[str, Any]:
    """`params` with any iterable, such as a column of a table, as a list where several items may be given."""
    many = {a.name for a in op.args if a.many}
    found = dict(params)
    for name in many & set(found):
        if isinstance(found[name], Iterable) and not isinstance(found[name], str | Mapping):
            found[name] = list(found[name])
    return found


def _mode(mode: str | None, fixture: str | None, record: str | None) -> Mode | None:
    """The mode that was asked for, if any. Raises `invalid_arguments`."""
    implied = {Mode.FIXTURE: fixture, Mode.RECORD: record}
    named = [m for m, value in implied.items() if value is not None]
    if mode is None:
        if len(named) > 1:
            raise invalid("fixture and record contradict each other.", field="record", value=record)
        return named[0] if named else None
    allowed = [m.value for m in Mode]
    if mode not in allowed:
        raise invalid(f"{mode!r} is not a mode.", field="mode", value=mode, allowed=allowed)
    wanted = Mode(mode)
    if any(m is not wanted for m in named):
        raise invalid(f"mode {mode!r} and {named[0].value} contradict each other.", field="mode", value=mode)
    if wanted is Mode.FIXTURE and fixture is None:
        raise invalid("Mode fixture needs the name of one: fixture=...", field="fixture", value=None)
    return wanted


def _environment(
    env: Mapping[str, str] | None, mode: Mode | None, cassettes: str | Path | Iterable[str | Path] | None
) -> dict[str, str]:
    found = dict(os.environ if env is None else env)
    if mode is not None:
        found["KEEPA_CLI_MODE"] = (Mode.REPLAY if mode is Mode.FIXTURE else mode).value
    if cassettes is not None:
        folders = [cassettes] if isinstance(cassettes, str | Path) else cassettes
        found["KEEPA_CLI_CASSETTES"] = os.pathsep.join(str(folder) for folder in folders)
    return found


def _context(env: Mapping[str, str], tell: Tell | None) -> Context:
    """A context without a terminal; what several threads would make at the same moment is made here."""
    ctx = Context(env=env, stdin=io.StringIO())
    if tell is not None:
        ctx.tell = tell
    _ = ctx.redactor, ctx.settings
    return ctx
