"""Calls of several requests: paced by the bucket, and what was answered outlives a failure or Ctrl-C.

Every answer is written below the state folder as soon as it is checked. The same command asks for the others only;
what was kept goes when the call is complete, or after a day.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Container, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keepa_cli.core.commandline import command_line
from keepa_cli.core.consent import needs_consent
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import write_atomic
from keepa_cli.core.settings import Mode
from keepa_cli.engine import modes
from keepa_cli.engine.call import RESUMED, Answer, Call
from keepa_cli.keepa.wire import Source, WireResponse
from keepa_cli.store import cachekey

if TYPE_CHECKING:
    from keepa_cli.keepa import pacing

VERSION = 1
FOLDER = "batches"
LIFETIME = timedelta(hours=24)
MOST_REFUSALS = 5
"""So often one request waits for tokens that somebody else used up in the meantime."""
LONGEST_COMMAND = 4000


class Batching:
    """What one call of several requests needs beside sending them. Of a single request it is nothing but `send`."""

    def __init__(self, call: Call) -> None:
        self.warnings: list[dict[str, Any]] = []
        self._call = call
        self._applies = call.spends and len(call.requests) > 1
        self._stored: set[int] = set()
        self._bucket: pacing.Bucket | None = None
        self._since = self._not_before = 0.0
        if self._applies:
            base_url = call.ctx.settings["base_url"]
            self._keys = [cachekey.key_of(request, base_url) for request in call.requests]
            identity = json.dumps([VERSION, call.op.name, call.mode.value, self._keys])
            self._key = hashlib.sha256(identity.encode()).hexdigest()[: cachekey.LENGTH]

    @property
    def folder(self) -> Path:
        return self._call.ctx.state_dir / FOLDER / self._key

    def kept(self, but: Container[int] = ()) -> dict[int, WireResponse]:
        """The answers of an earlier run that did not get to its end, by the number of their request."""
        if not self._applies:
            return {}
        self._forget_old()
        if self._call.options.fresh:
            self.done()
            return {}
        read = {n: self._read(n) for n in range(len(self._keys)) if n not in but}
        found = {n: response for n, response in read.items() if response is not None}
        if found:
            self._stored |= set(found)
            self._call.ctx.api_key()  # a live call needs it, and the redactor must know it
            self._tell_resumed(list(found.values()))
        return found

    def send(self, part: int, send: Callable[[], Answer]) -> Answer:
        """The answer of `send`, called when the bucket admits it; again where somebody else emptied it first."""
        if not self._applies:
            return send()
        refusals = 0
        while True:
            self._wait(part)
            try:
                found = send()
            except KeepaCliError as error:
                refusals += 1
                if refusals == MOST_REFUSALS or not self._refused_for_now(error):
                    raise
                self._note(error.token_bucket, error.details["retry_after_ms"])
            else:
                self._note(found.bucket)
                return found

    def keep(self, part: int, found: Answer) -> None:
        """Write down a checked answer, without secrets. What fails here is a warning and never costs the answer."""
        response = found.response
        if not self._applies or response.source.kind == RESUMED:
            return
        import zlib

        redactor = self._call.ctx.redactor
        body = redactor.body(response.body)
        if redactor.find(body):
            self._warn("An answer seems to hold the API key; it is not kept for a later run.")
            return
        head = {
            "version": VERSION,
            "request": self._keys[part],
            "stored_at": response.source.recorded_at or _stamp(self._call.ctx.now()),
            "origin": response.source.origin,
            "fingerprint": response.source.fingerprint,
            "sha256": hashlib.sha256(body).hexdigest(),
        }
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            packed = zlib.compress(json.dumps(head).encode() + b"\n" + body, 1)
            write_atomic(self._path(part), packed, mode=0o600)
        except (KeepaCliError, OSError) as error:
            self._warn(f"The answers so far are not kept for a later run: {getattr(error, 'message', error)}")
        else:
            self._stored.add(part)

    def failed(self, error: KeepaCliError, answers: Sequence[Answer], answered: int) -> None:
        """Say in `error` what was answered before, and how to go on. What could not be kept is kept as a plain file."""
        if not self._applies or not answered:
            return
        error.details["answered"] = {"requests": answered, "of": len(self._keys)}
        lost = [a for n, a in enumerate(answers) if n not in self._stored]
        with contextlib.suppress(KeepaCliError, OSError):
            for each in lost:
                path = modes.keep_failed(each.response, self._call.op.name, self._call.ctx)
                error.details.setdefault("answered_at", []).append(str(path))
        if self._stored:
            command = self._command()
            error.details["resume_until"] = self._until()
            error.next_actions = [command, *error.next_actions] if error.retryable else [*error.next_actions, command]

    def interrupted(self, answered: int) -> None:
        """Leave word for the person who pressed Ctrl-C."""
        if self._applies and self._stored:
            self._call.ctx.after_interrupt = (
                f"{answered} of {len(self._keys)} requests were answered and are kept until {self._until()}. "
                f"To ask for the others:\n  {self._command()}"
            )

    def done(self) -> None:
        """The call is complete: nothing has to be kept."""
        if self._applies:
            _remove(self.folder)
            self._stored.clear()

    def _wait(self, part: int) -> None:
        from keepa_cli.engine.countdown import count_down
        from keepa_cli.keepa import pacing

        call, ctx = self._call, self._call.ctx
        elapsed = (ctx.monotonic() - self._since) * 1000
        decision = pacing.decide(self._bucket, elapsed_ms=elapsed, wait=call.options.wait)
        if decision.action == "refuse":
            raise _out_of_tokens(f"Request {part + 1} of {len(self._keys)} was not sent", decision, self._bucket)
        seconds = max(decision.wait_ms / 1000, self._not_before - ctx.monotonic())
        if seconds > 0:
            ctx.tell(decision.reason)
            count_down(seconds, ctx, f"Request {part + 1} of {len(self._keys)}")

    def _note(self, figures: dict[str, Any], at_least_ms: float = 0) -> None:
        from keepa_cli.keepa import pacing

        self._bucket = pacing.read(figures)
        self._since = self._call.ctx.monotonic()
        self._not_before = self._since + at_least_ms / 1000

    def _refused_for_now(self, error: KeepaCliError) -> bool:
        empty = error.kind is Kind.NOT_ENOUGH_TOKEN and error.details.get("charged") == "no"
        return empty and self._call.options.wait and error.details.get("retry_after_ms") is not None

    def _path(self, part: int) -> Path:
        return self.folder / f"{part:06}.z"

    def _read(self, part: int) -> WireResponse | None:
        import zlib

        try:
            packed = self._path(part).read_bytes()
        except OSError:
            return None
        try:
            head_text, _, body = zlib.decompress(packed).partition(b"\n")
            head = json.loads(head_text)
            right = head["version"] == VERSION and head["request"] == self._keys[part]
            stored_at = datetime.fromisoformat(head["stored_at"])
            intact = right and stored_at.tzinfo and hashlib.sha256(body).hexdigest() == head["sha256"]
            source = Source(RESUMED, f"{RESUMED}:{self._key}", head["origin"], head["fingerprint"], head["stored_at"])
        except (zlib.error, ValueError, KeyError, TypeError):
            intact = False
        if not intact:
            self._warn(f"The kept answer {self._path(part)} is damaged; its request is sent again.")
            return None
        age = self._call.ctx.now() - stored_at
        return WireResponse(200, "OK", {}, body, source) if abs(age) < LIFETIME else None

    def _forget_old(self) -> None:
        """Drop what earlier calls left and nobody came back for."""
        oldest = (self._call.ctx.now() - LIFETIME).timestamp()
        with contextlib.suppress(OSError):
            for folder in (self._call.ctx.state_dir / FOLDER).iterdir():
                if folder.stat().st_mtime < oldest:
                    _remove(folder)

    def _tell_resumed(self, found: list[WireResponse]) -> None:
        from keepa_cli.engine.countdown import clock

        moments = [datetime.fromisoformat(r.source.recorded_at) for r in found if r.source.recorded_at]
        age = clock(max(1, (self._call.ctx.now() - min(moments)).total_seconds()))
        done, of = len(found), len(self._keys)
        message = f"Resumed: {done} of {of} requests were answered before, the first {age} ago; --fresh asks again."
        self.warnings.append({"code": "resumed", "message": message, "answered": done, "of": of})
        self._call.ctx.tell(message)

    def _until(self) -> str:
        return _stamp(self._call.ctx.now() + LIFETIME)

    def _command(self) -> str:
        """The same command; its options of this call as well."""
        call, options = self._call, self._call.options
        record = options.flags.record
        flags = ["--live"] if call.mode is Mode.LIVE else [f"--record={record}" if record else "--record"]
        if options.yes or needs_consent(call.op, call.cost, call.ctx):
            flags.append("--yes")
        named = {
            "--max-tokens": options.max_tokens, "--out": options.out, "--idempotency-key": options.idempotency_key,
            "--cache-ttl": options.cache_ttl,
        }  # fmt: skip
        flags += [word for name, value in named.items() if value is not None for word in (name, str(value))]
        flags += ["--no-cache"] if options.no_cache else []
        text = command_line(call.op, call.bound, flags)
        return text if len(text) <= LONGEST_COMMAND else "Repeat the same command: only what is missing is asked for."

    def _warn(self, message: str) -> None:
        warning = {"code": RESUMED, "message": message}
        if warning not in self.warnings:
            self.warnings.append(warning)


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _out_of_tokens(what: str, decision: pacing.Decision, bucket: pacing.Bucket | None) -> KeepaCliError:
    from keepa_cli.keepa import answer

    ms = decision.wait_ms or None
    left = bucket.left if bucket else None
    return KeepaCliError(
        Kind.NOT_ENOUGH_TOKEN,
        f"{what}: {decision.reason[0].lower()}{decision.reason[1:]}",
        details=answer.waiting(ms) | {"charged": "no", "tokens_left": left, "error_type": "bucket_empty"},
        retryable=ms is not None,
    )
