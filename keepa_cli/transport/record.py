"""Live calls that leave a sanitized recording behind: preflight, recorder process, scan, inbox."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from keepa_cli.cassettes import journal
from keepa_cli.cassettes.fingerprint import of_request
from keepa_cli.cassettes.names import check_name
from keepa_cli.cassettes.recordings import private_folder
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import check_writable, io_error
from keepa_cli.core.redact import Redactor
from keepa_cli.keepa import answer
from keepa_cli.keepa.wire import BASE_URL, WireRequest, WireResponse
from keepa_cli.transport import child
from keepa_cli.transport.keeping import Keeper, Kept, Now, Store
from keepa_cli.transport.live import CONNECT_TIMEOUT, TIMEOUT, OnWait
from keepa_cli.transport.policy import RetryPolicy
from keepa_cli.transport.recorder import request_out

ROOM = 32 * 1024 * 1024
_PREFLIGHT = threading.Lock()
_TURNS: dict[tuple[str, str], threading.Lock] = {}


class RecordTransport:
    """Sends through a recorder process and hands the sanitized exchanges to `store(exchanges, meta) -> path`.

    The caller gets the untouched answer. An answer that cannot be kept is still returned, and `source.notes` says
    why; one that holds something that must not be written is `secret_detected`, which names the file it was cut into.
    Nothing is sent before the folders are proved writable and the recording's name is proved free.
    """

    kind = "record"

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        state_dir: Path,
        store: Store,
        name: str = "",
        timeout: float = TIMEOUT,
        policy: RetryPolicy | None = None,
        redactor: Redactor | None = None,
        env: Mapping[str, str] | None = None,
        now: Now = lambda: datetime.now(UTC),
        connect_timeout: float | None = None,
        on_wait: OnWait | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.policy = policy or RetryPolicy()
        self.redactor = redactor or Redactor()
        self.redactor.add_secret(key)
        self._key, self._name = key, check_name(name) if name else ""
        self._state_dir, self._store, self._now = state_dir.absolute(), store, now
        self._timeout = timeout if timeout > 0 else TIMEOUT
        self._connect_timeout = min(connect_timeout or CONNECT_TIMEOUT, self._timeout)
        self._env = dict(os.environ if env is None else env)
        self._on_wait = on_wait

    def __repr__(self) -> str:
        return f"RecordTransport({self.base_url!r})"

    @property
    def origin(self) -> str:
        return "live" if urlsplit(self.base_url).hostname == urlsplit(BASE_URL).hostname else "sandbox"

    def send(self, request: WireRequest, *, retry: bool = True) -> WireResponse:
        """The answer to `request`, recorded. With `retry=False` (writes) exactly one attempt is made."""
        name = self._name or default_name(request)
        with self._claimed(name) as (keeper, folder, recovered):
            path = folder / f"{self._now().strftime('%Y%m%dT%H%M%S%fZ')}-{secrets.token_hex(4)}{journal.SUFFIX}"
            outcome = child.run(
                self._job(request, name, path, retry),
                self._env,
                origin=self.origin,
                limit=self.policy.attempts * (self._timeout + self._connect_timeout) + self.policy.budget + 60,
                on_wait=self._on_wait,
            )
            kept = keeper.keep(journal.read(path)) if path.exists() else Kept(name)
        if outcome.stopped:
            raise KeyboardInterrupt
        if outcome.died:
            raise self._death(outcome, kept)
        if outcome.error is not None:
            raise _with_recording(outcome.error, kept)
        if outcome.response is None:
            raise KeepaCliError(Kind.INTERNAL_ERROR, "The recorder reported nothing.")
        return _delivered(outcome.response, kept, outcome.problems, recovered)

    def _preflight(self) -> tuple[Keeper, list[str]]:
        """Everything that can be refused is refused here, before tokens are spent. Raises `io_error`.

        Also brings home what killed recorders left; the sentences tell what became of it.
        """
        keeper = Keeper(self._state_dir, self._store, self.redactor, self._now)
        for name in ("journal", "inbox", "quarantine"):
            check_writable(private_folder(self._state_dir, name))
        try:
            free = shutil.disk_usage(keeper.journals).free
        except OSError as error:
            raise io_error("measure", keeper.journals, error) from None
        if free < ROOM:
            raise KeepaCliError(
                Kind.IO_ERROR,
                f"{self._state_dir} has {free // 1024} KiB free; a recording needs up to {ROOM // 1024 // 1024} MiB.",
                details={"path": str(self._state_dir), "free_bytes": free, "needed_bytes": ROOM},
            )
        return keeper, [kept.recovered() for kept in keeper.recover()]

    @contextmanager
    def _claimed(self, name: str) -> Iterator[tuple[Keeper, Path, list[str]]]:
        """The journal folder of this recording: threads take turns, another process is refused."""
        turn = _TURNS.setdefault((str(self._state_dir), name), threading.Lock())
        with turn, ExitStack() as held:
            with _PREFLIGHT, _nothing_sent():
                keeper, recovered = self._preflight()
                folder = keeper.journals / name
                folder.mkdir(mode=0o700, exist_ok=True)
                journal.claim(folder, held)
            try:
                yield keeper, folder, recovered
            finally:
                journal.release(folder)

    def _job(self, request: WireRequest, name: str, path: Path, retry: bool) -> dict[str, Any]:
        meta = {
            "name": name,
            "origin": self.origin,
            "base_url_kind": "keepa" if self.origin == "live" else "other",
            "started_at": self._now().isoformat(timespec="seconds"),
        }
        return {
            "request": request_out(request),
            "base_url": self.base_url,
            "key": self._key,
            "secrets": self.redactor.secrets,
            "timeout": self._timeout,
            "connect_timeout": self._connect_timeout,
            "policy": asdict(self.policy),
            "retry": retry,
            "journal": str(path),
            "meta": meta,
        }

    def _death(self, outcome: child.Outcome, kept: Kept) -> KeepaCliError:
        """The recorder died: what is lost depends on whether a request had left."""
        details: dict[str, Any] = {
            "exit_code": outcome.exit_code,
            "attempts": kept.sent,
            "http_status": None,
            "error_type": "recorder_died",
            "charged": "unknown" if kept.sent else "no",
        }
        if outcome.stderr:
            details["stderr"] = self.redactor.text(outcome.stderr)[-1000:]
        if kept.sent:
            text = (
                "The recorder process died after the request was sent; tokens may have been spent. It is not repeated."
            )
            return _with_recording(KeepaCliError(Kind.OUTCOME_UNKNOWN, text, details=details), kept)
        text = "The recorder process died before anything was sent."
        return KeepaCliError(Kind.TRANSPORT_ERROR, text, details=details)


@contextmanager
def _nothing_sent() -> Iterator[None]:
    """What fails here fails before a request leaves, and says so."""
    try:
        yield
    except KeepaCliError as error:
        error.details.setdefault("charged", "no")
        raise


def default_name(request: WireRequest) -> str:
    """The name of a recording that was given none: the endpoint and the start of the fingerprint."""
    endpoint = "".join(c if c.isalnum() else "-" for c in request.path.strip("/").lower()).strip("-") or "root"
    return f"{endpoint[:40]}-{of_request(request)[:8]}"


def _with_recording(error: KeepaCliError, kept: Kept) -> KeepaCliError:
    if kept.path or kept.kept_at:
        error.details["recording"] = str(kept.path or kept.kept_at)
    return error


def _delivered(response: WireResponse, kept: Kept, problems: list[str], recovered: list[str]) -> WireResponse:
    if kept.findings:
        raise _secret_detected(response, kept)
    if kept.path:
        source = replace(response.source, name=str(kept.path), recorded_at=kept.recorded_at)
        notes = [*recovered, *problems]
    else:
        source = response.source
        reasons = "; ".join([*problems, *kept.problems] or ["the journal holds no exchange"]).rstrip(".")
        where = f" What could be kept is in {kept.kept_at}." if kept.kept_at else ""
        notes = [*recovered, f"This answer was not recorded: {reasons}.{where}"]
    return replace(response, source=replace(source, notes=tuple(notes)))


def _secret_detected(response: WireResponse, kept: Kept) -> KeepaCliError:
    """Fail closed: the answer was paid for, so it is kept, with what the scan objected to cut out."""
    return KeepaCliError(
        Kind.SECRET_DETECTED,
        f"The answer holds what must not be stored ({', '.join(sorted({f.rule for f in kept.findings}))}); it was not "
        f"recorded. It is kept, with those parts cut out, at {kept.kept_at}.",
        details={
            "findings": [f.as_dict() for f in kept.findings[:50]],
            "kept_at": str(kept.kept_at),
            "recorded": False,
            "http_status": response.status,
            "error_type": Kind.SECRET_DETECTED.value,
            "charged": answer.charged_by(response),
        },
        token_bucket=answer.figures_in(response),
        next_actions=[f"Read the answer at {kept.kept_at}", "Repeat the call with --live if it need not be recorded."],
    )
