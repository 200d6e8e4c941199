"""Answers of live reads that were kept: looked up before anything is paid for, kept once they are checked."""

from __future__ import annotations

from collections.abc import Container
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.registry import Request
from keepa_cli.core.settings import Mode, cache_path
from keepa_cli.engine.call import RESUMED, Answer, Call
from keepa_cli.keepa import answer
from keepa_cli.keepa.wire import Source, WireResponse, encode
from keepa_cli.store import cachekey

if TYPE_CHECKING:
    from keepa_cli.store.cache import ResponseCache

KIND = "cache"
"""The kind of a source that is the response cache."""


class CallCache:
    """The response cache as one call sees it. What fails here is a warning and never costs an answer.

    Raises `invalid_arguments` for a TTL that is none, whatever the mode.
    """

    def __init__(self, call: Call) -> None:
        op, options = call.op, call.options
        life = cachekey.lifetime(call.ctx.settings, options.cache_ttl, options.no_cache)
        applies = call.mode is Mode.LIVE and op.takes_cache_options and call.ctx.settings.config_problem is None
        self.warnings: list[dict[str, Any]] = []
        self._call, self._ttl = call, life.seconds if applies else 0
        self._checked = cachekey.checked_by(op)
        if applies and options.cache_ttl is not None and not life.seconds:
            self._warn(f"--cache-ttl has no effect: no_cache is set ({life.origin}).")

    def kept(self, but: Container[int] = ()) -> dict[int, WireResponse]:
        """The answers that are young enough, by the number of their request; those in `but` are not looked up."""
        wanted = [n for n, r in enumerate(self._call.requests) if n not in but and self._applies(r)]
        found = {n: self._read(self._key(self._call.requests[n])) for n in wanted}
        young = {n: response for n, response in found.items() if response is not None}
        if young:
            self._call.ctx.api_key()  # a live call needs it, and the redactor must know it
        return young

    def keep(self, request: Request, found: Answer) -> None:
        """Keep a whole answer that was just sent for and checked, without any secret."""
        response = found.response
        partial = any(w["code"] == "partial" for w in found.warnings)
        if not found.sent or partial or response.status != 200 or not self._applies(request):
            return
        from keepa_cli.store.cache import About

        redactor, base_url = self._call.ctx.redactor, self._call.ctx.settings["base_url"]
        body = redactor.body(response.body)
        if redactor.find(body):
            self._warn("The answer seems to hold the API key; it is not kept in the response cache.")
            return
        about = About(
            server=cachekey.server_of(base_url),
            path=cachekey.path_of(request),
            query=redactor.data(dict(encode(request).query)),
            operation=self._call.op.name,
            origin=response.source.origin,
            fingerprint=response.source.fingerprint,
            checked=self._checked or "",
        )
        try:
            if not self._store.put(self._key(request), body, about, self._ttl):
                self._warn("The answer is too large for the response cache; asking again will be charged again.")
        except KeepaCliError as error:
            self._warn(f"The answer is not kept in the response cache: {error.message}")
        self._tell_notes()

    def _read(self, key: str) -> WireResponse | None:
        try:
            found = self._store.get(key, self._ttl, self._checked)
        except KeepaCliError as error:
            if not self._tell_notes():
                self._warn(error.message)
            return None
        self._tell_notes()
        if found is None:
            return None
        stored_at = datetime.fromtimestamp(found.stored_at, UTC).isoformat(timespec="milliseconds")
        source = Source(KIND, f"{KIND}:{key}", found.origin, found.fingerprint, stored_at.replace("+00:00", "Z"))
        return WireResponse(200, "OK", {}, found.body, source)

    def _applies(self, request: Request) -> bool:
        return self._ttl > 0 and cachekey.refusal(self._call.op, request) is None

    def _key(self, request: Request) -> str:
        return cachekey.key_of(request, self._call.ctx.settings["base_url"])

    @cached_property
    def _store(self) -> ResponseCache:
        from keepa_cli.store.cache import ResponseCache

        ctx = self._call.ctx
        path = ctx.cwd / cache_path(ctx.settings)
        return ctx.service(f"{KIND} {path}", lambda: ResponseCache(path, ctx.now))

    def _tell_notes(self) -> bool:
        notes = self._store.notes()
        for note in notes:
            self._warn(note)
        return bool(notes)

    def _warn(self, message: str) -> None:
        warning = {"code": KIND, "message": message}
        if warning not in self.warnings:
            self.warnings.append(warning)


def bucket_of(found: Answer) -> dict[str, Any]:
    """The token figures of an answer; those in a kept body are of the moment it was asked, and it cost nothing."""
    if found.response.source.kind in {KIND, RESUMED}:
        return {"tokens_consumed": 0}
    return answer.bucket_of(found.body, found.response.status)
