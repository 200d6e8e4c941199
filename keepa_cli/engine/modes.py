"""Where answers come from: the choice of mode, its transport, and what the envelope says about the source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import check_writable, refuse_link, write_atomic
from keepa_cli.core.settings import SPENDING_MODES, Mode

if TYPE_CHECKING:
    from keepa_cli.engine.call import Answer, Transport
    from keepa_cli.keepa.wire import WireResponse


@dataclass(frozen=True)
class Flags:
    """The mode flags of one call. `record` is None when not given, "" when given without a name."""

    live: bool = False
    dry_run: bool = False
    fixture: str | None = None
    record: str | None = None
    replay: bool = False

    def given(self) -> list[str]:
        """The flags that were given, as they are spelled."""
        pairs = (
            ("--live", self.live),
            ("--dry-run", self.dry_run),
            ("--fixture", self.fixture is not None),
            ("--record", self.record is not None),
            ("--replay", self.replay),
        )
        return [name for name, is_given in pairs if is_given]


_MODE_OF_FLAG = {
    "--live": Mode.LIVE,
    "--dry-run": Mode.DRY_RUN,
    "--fixture": Mode.FIXTURE,
    "--record": Mode.RECORD,
    "--replay": Mode.REPLAY,
}


def choose(flags: Flags, ctx: Context) -> Mode:
    """The mode in force: flag, then KEEPA_CLI_MODE, then config, then replay.

    Raises `invalid_arguments` for flags that contradict each other, `config_error` for a broken setting of the
    mode, `live_blocked_in_ci` for a spending mode in CI.
    """
    given = flags.given()
    if len(given) > 1:
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            f"{' and '.join(given)} contradict each other: one call has one source.",
            details={"flags": given},
        )
    problem = ctx.settings.config_problem
    if not given and problem is not None and problem.details.get("setting") == "mode":
        raise problem
    mode = _MODE_OF_FLAG[given[0]] if given else ctx.settings.mode
    if ctx.offline and mode in SPENDING_MODES:
        raise _offline(mode)
    allowed_in_ci = ctx.env.get("KEEPA_CLI_ALLOW_LIVE_IN_CI") == "1"
    if mode in SPENDING_MODES and ctx.in_ci and not allowed_in_ci:
        raise KeepaCliError(Kind.LIVE_BLOCKED_IN_CI, f"CI is set, so {mode.value} calls are refused.")
    return mode


def _offline(mode: Mode) -> KeepaCliError:
    return KeepaCliError(
        Kind.INVALID_ARGUMENTS,
        f"This session answers from recordings only: a {mode.value} call is refused.",
        details={"field": "mode", "value": mode.value},
        next_actions=["Start the session with --live, or leave the mode out."],
    )


def transport_for(mode: Mode, flags: Flags, ctx: Context, *, wait: bool = True) -> Transport:
    """The one thing that can answer in this mode. Replay and fixture import no HTTP library and read no key."""
    if mode in SPENDING_MODES:
        return _spending_transport(mode, flags, ctx, wait)
    from keepa_cli.transport.replay import FixtureTransport, ReplayTransport

    library = open_library(ctx)
    return FixtureTransport(library, flags.fixture or "") if mode is Mode.FIXTURE else ReplayTransport(library)


def open_library(ctx: Context) -> Any:
    """The cassette library of this context, listed once."""
    from keepa_cli.cassettes.library import Library, library_roots

    return ctx.service("library", lambda: Library(library_roots(ctx)))


def _spending_transport(mode: Mode, flags: Flags, ctx: Context, wait: bool) -> Transport:
    problem = ctx.settings.config_problem
    if problem is not None:
        raise problem
    key, _ = ctx.api_key()
    if mode is Mode.RECORD:
        from keepa_cli.engine.recording import recorder_for

        return recorder_for(flags.record or "", key, ctx, wait=wait)
    from keepa_cli.transport.live import LiveTransport
    from keepa_cli.transport.policy import NO_RETRY, RetryPolicy

    return ctx.service(
        "live" if wait else "live-once",
        lambda: LiveTransport(
            base_url=ctx.settings["base_url"],
            key=key,
            timeout=ctx.settings["timeout_seconds"],
            sleep=_interruptible(ctx.sleep),
            monotonic=ctx.monotonic,
            redactor=ctx.redactor,
            policy=RetryPolicy() if wait else NO_RETRY,
            on_wait=lambda seconds, error: ctx.tell(f"{error.message} Waiting {seconds:.0f} s."),
            guard=ctx.under_way,
        ),
    )


def _interruptible(sleep: Callable[[float], None]) -> Callable[[float], None]:
    """A wait between attempts that says, when it is cut off, that no request was under way."""
    from keepa_cli.engine.call import InterruptedWait

    def wait(seconds: float) -> None:
        try:
            sleep(seconds)
        except KeyboardInterrupt:
            raise InterruptedWait from None

    return wait


def provenance(mode: Mode, answers: Sequence[Answer], ctx: Context) -> dict[str, Any]:
    """Where the data came from, how old it is, and the hash of the bytes as they were answered."""
    source = answers[0].response.source
    import hashlib

    digest = hashlib.sha256()
    for answer in answers:
        digest.update(answer.response.body)
    found: dict[str, Any] = {
        "mode": mode.value,
        "source": source.name or source.kind,
        "origin": source.origin,
        "fingerprint": source.fingerprint,
        "recorded_at": source.recorded_at,
        "age_s": _age(source.recorded_at, ctx),
        "sha256": digest.hexdigest(),
    }
    if len(answers) > 1:
        found["sources"] = [a.response.source.name or a.response.source.kind for a in answers]
    return found


def _age(recorded_at: str | None, ctx: Context) -> int | None:
    if not recorded_at:
        return None
    try:
        moment = datetime.fromisoformat(recorded_at)
    except ValueError:
        return None
    return max(0, int((ctx.now() - moment).total_seconds())) if moment.tzinfo else None


def keep_failed(response: WireResponse, operation: str, ctx: Context) -> Path:
    """Store the sanitized body of an answer that could not be used: it was paid for."""
    stamp = ctx.now().strftime("%Y%m%dT%H%M%S%fZ")
    folder = ctx.state_dir / "failed"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{operation}-{stamp}.json"
    write_atomic(path, ctx.redactor.body(response.body), mode=0o600)
    return path


def check_out(path: Path) -> None:
    """Prove before anything is paid for that `--out` can be written."""
    refuse_link(path)
    if path.is_dir():
        raise KeepaCliError(Kind.INVALID_ARGUMENTS, f"--out {path} is a folder.", details={"field": "out"})
    check_writable(path.parent)


def write_out(path: Path, raw: bytes | None, body: Any, ctx: Context) -> dict[str, Any]:
    """Write the body of an answer to `path`; the bytes as they came where there is one body. No body is a picture."""
    import hashlib

    from keepa_cli.keepa.strictjson import dump_json

    if raw is not None and body is None:
        text = _picture(raw, ctx)
    else:
        text = ctx.redactor.body(raw) if raw is not None else dump_json(ctx.redactor.data(body)).encode()
    write_atomic(path, text)
    return {
        "path": str(path),
        "format": "json" if body is not None else "png",
        "size_bytes": len(text),
        "result_count": _count(body),
        "sha256": hashlib.sha256(text).hexdigest(),
    }


def _picture(raw: bytes, ctx: Context) -> bytes:
    """The picture byte for byte; one that tells the key in its texts is not written."""
    if ctx.redactor.find(raw):
        raise KeepaCliError(Kind.SECRET_DETECTED, "The picture holds the API key or another secret; it is not written.")
    return raw


_COUNTED = {"bestSellersList": "asinList", "deals": "dr", "categories": "", "sellers": ""}
"""Results that are no list at the top of a body: the list inside of them, or none for a map by id."""


def _count(body: Any) -> int | None:
    if not isinstance(body, dict):
        return None
    for value in body.values():
        if isinstance(value, list):
            return len(value)
    inner = [(value, _COUNTED[name]) for name, value in body.items() if name in _COUNTED and isinstance(value, dict)]
    found = [value.get(name) if name else value for value, name in inner]
    return len(found[0]) if found and found[0] else 0
