"""Money: every request that spends is reserved in the ledger before it leaves and settled when its answer is in."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.settings import Settings, ledger_limits
from keepa_cli.engine.call import Call, InterruptedWait
from keepa_cli.engine.options import Options
from keepa_cli.keepa.wire import HOST, Source, WireResponse, encode

if TYPE_CHECKING:
    from keepa_cli.store.kept import Stored
    from keepa_cli.store.ledger import Entry, Ledger, Limits, State

REPLAYED = "idempotency"
"""The source of an answer that was kept under an idempotency key."""
MOST_TOKENS = 1_000_000_000
"""More than any plan holds: a larger charge is no charge but a broken answer."""
_KEY = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")


def open_ledger(ctx: Context) -> Ledger:
    """The ledger of this context, opened when it is first used."""
    from keepa_cli.store.ledger import Ledger

    return ctx.service("ledger", lambda: Ledger(ctx.state_dir, ctx.now))


def limits(settings: Settings) -> Limits:
    from keepa_cli.store.ledger import Limits

    return Limits(settings["max_tokens_per_day"], settings["max_tokens_per_session"])


def check_key(key: str | None) -> None:
    """Refuse an idempotency key that cannot be one."""
    if key is not None and not _KEY.fullmatch(key):
        raise invalid(
            "An idempotency key has 1 to 128 letters, digits and . _ : / + = @ -",
            field="idempotency_key",
            value=key[:140],
            allowed=_KEY.pattern,
        )


def inner_key(options: Options, name: str, params: Mapping[str, Any]) -> str | None:
    """The idempotency key of a call inside a composite operation: its own for each thing that is asked."""
    if options.idempotency_key is None:
        return None
    check_key(options.idempotency_key)
    return _digest([options.idempotency_key, name, dict(params)])


class Account:
    """The money side of one call. It opens the ledger with the first request that is sent, and not before."""

    def __init__(self, call: Call) -> None:
        check_key(call.options.idempotency_key)
        self._call = call
        self._name = os.urandom(8).hex()
        self._origin = origin_of(call.ctx.settings["base_url"])
        self._shares = _shares(call)
        self._left = set(range(len(call.requests)))
        self._began = False
        self.rows: list[int] = []
        self.problems: list[str] = []

    def __enter__(self) -> Account:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._began and self._left:
            self._noting(lambda: open_ledger(self._call.ctx).drop_hold(self._name))
        if isinstance(error, KeepaCliError) and (notes := self.notes):
            error.details["ledger_notes"] = notes

    @property
    def notes(self) -> list[str]:
        """What the reader of the answer must know about the ledger."""
        ledger = self._call.ctx.services.get("ledger")
        return [*(ledger.notes if ledger is not None else ()), *self.problems]

    def kept(self) -> dict[int, WireResponse]:
        """The answers that an idempotency key has already paid for, by the number of their request."""
        key = self._call.options.idempotency_key
        if key is None or not self._call.spends:
            return {}
        found = {}
        for part, (row, answer) in open_ledger(self._call.ctx).answers(key, self._identity).items():
            source = Source(REPLAYED, REPLAYED, answer.origin, answer.fingerprint, answer.stored_at)
            found[part] = WireResponse(answer.status, answer.reason, answer.headers, answer.body, source)
            self.rows.append(row)
        self.skip(found)
        return found

    def skip(self, parts: Iterable[int]) -> None:
        """These requests will not be sent: nothing is held for them."""
        self._left -= set(parts)

    @contextmanager
    def sending(self, part: int) -> Iterator[Sending]:
        """Around one request: reserved on the way in; failures settle it by what they say about the charge.

        Raises `budget_exceeded`, or `io_error` where the ledger cannot be written, before anything is sent.
        """
        if not self._call.spends:
            yield Sending(self, 0, 0)
            return
        row = self._reserve(part)
        try:
            yield Sending(self, row, self._shares[part][0])
        except InterruptedWait:
            self.end(row, "released", note="Interrupted while waiting to repeat the request.")
            raise
        except KeepaCliError as error:
            self._failed(row, error)
            raise
        except KeyboardInterrupt:
            self.end(row, "manual_review", error_kind=Kind.OUTCOME_UNKNOWN, note="Interrupted while under way.")
            self._call.ctx.after_interrupt = f"The ledger keeps it for review: kc ledger show {row}"
            raise
        except BaseException as error:
            self.end(row, "manual_review", error_kind=Kind.INTERNAL_ERROR, note=type(error).__name__)
            raise

    def _reserve(self, part: int) -> int:
        """The row of a request that is about to leave; 0 for one that is free where the ledger cannot be written."""
        self._left.discard(part)
        rest = sum(self._shares[n][1] for n in self._left)
        try:
            row = open_ledger(self._call.ctx).reserve(self._entry(part), limits(self._call.ctx.settings), rest)
        except KeepaCliError as error:
            if error.kind is not Kind.IO_ERROR or not self._is_free:
                raise
            self.problems.append(f"{error.message} This call is free, so it was sent without a row in the ledger.")
            return 0
        self._began = True
        self.rows.append(row)
        return row

    @property
    def _is_free(self) -> bool:
        call = self._call
        writes = call.op.effect != "read" or any(request.writes for request in call.requests)
        return not call.cost.worst and not writes and call.options.idempotency_key is None

    def end(self, row: int, state: State, *, error_kind: Kind | None = None, **more: Any) -> None:
        """Write what became of a request. A ledger that cannot be written must not cost an answer that was paid for."""
        from keepa_cli.store.ledger import Ending

        if not row:
            return
        ending = Ending(state, error_kind=error_kind.value if error_kind else None, **more)
        self._noting(lambda: open_ledger(self._call.ctx).end(row, ending))

    def storable(self, response: WireResponse) -> Stored | None:
        """The answer as it is kept under the call's idempotency key, without secrets; None where it is not kept."""
        if self._call.options.idempotency_key is None:
            return None
        from keepa_cli.store.kept import Stored

        redactor, body = self._call.ctx.redactor, response.body
        if _is_json(response):
            body = redactor.body(body)
        elif redactor.find(body):
            return None
        return Stored(response.status, response.reason, {}, body)

    def warnings(self) -> list[dict[str, str]]:
        return [{"code": "ledger", "message": note} for note in self.notes]

    def provenance(self) -> dict[str, Any]:
        """The ledger's rows for this call."""
        return {"ledger": self.rows} if self.rows else {}

    def facts(self) -> dict[str, Any]:
        """What today and this process have cost, and the limits."""
        ctx = self._call.ctx
        ledger = open_ledger(ctx)
        try:
            today, session = ledger.totals(self._origin), ledger.session_totals(self._origin)
        except KeepaCliError as error:
            return {"problem": error.message}
        return {
            "origin": self._origin,
            "today": today.as_dict(),
            "session": session.as_dict(),
            "limits": ledger_limits(ctx.settings),
        }

    def _failed(self, row: int, error: KeepaCliError) -> None:
        """Settle by what a failure says of the charge; one that says nothing may have cost the worst case."""
        charged = error.details.get("charged")
        consumed = _tokens(error.token_bucket)
        state: State = "released" if charged == "no" else "manual_review"
        more: dict[str, Any] = {"note": error.details.get("error_type"), "attempts": error.details.get("attempts")}
        if charged == "yes" and consumed is not None:
            state, more = "settled", more | {"consumed": consumed, "source": "keepa"}
        self.end(row, state, error_kind=error.kind, **more)
        if not row:
            return
        error.details["ledger"] = {"id": row, "state": state}
        if state == "manual_review":
            error.next_actions = [*error.next_actions, f"kc ledger show {row}"]

    def _noting(self, step: Callable[[], None]) -> None:
        try:
            step()
        except KeepaCliError as error:
            self.problems.append(f"{error.message} A request of this call stays open in the ledger.")

    def _entry(self, part: int) -> Entry:
        from keepa_cli.cassettes.fingerprint import of_request
        from keepa_cli.store.ledger import Entry

        call = self._call
        wire = encode(call.requests[part])
        estimated, worst = self._shares[part]
        return Entry(
            operation=call.op.name,
            mode=call.mode.value,
            origin=self._origin,
            method=wire.method,
            path=wire.path,
            fingerprint=of_request(wire),
            call=self._name,
            part=part,
            parts=len(call.requests),
            estimated=estimated,
            worst=worst,
            key=call.options.idempotency_key,
            identity=self._identity if call.options.idempotency_key else "",
        )

    @property
    def _identity(self) -> str:
        """What an idempotency key is bound to: the operation, the server, and every request."""
        from keepa_cli.cassettes.fingerprint import of_request

        requests = [of_request(encode(r)) for r in self._call.requests]
        return _digest([self._call.op.name, self._call.ctx.settings["base_url"], requests])


class Sending:
    """One request that is reserved. `answered` settles it; without that, the failure that ends it does."""

    def __init__(self, account: Account, row: int, estimated: int) -> None:
        self._account, self._row, self._estimated = account, row, estimated

    def answered(self, response: WireResponse, bucket: Mapping[str, Any]) -> None:
        """Settle by an answer that reports no error. A picture has no token figures: it settles with the estimate."""
        if not self._row:
            return
        consumed = _tokens(bucket)
        more: dict[str, Any] = {
            "consumed": consumed,
            "source": "keepa",
            "attempts": response.source.attempts,
            "answer": self._account.storable(response),
        }
        if consumed is not None:
            self._account.end(self._row, "settled", **more)
        elif not _is_json(response):
            self._account.end(self._row, "settled", **more | {"consumed": self._estimated, "source": "estimate"})
        else:
            note = "The answer does not say what it cost."
            self._account.end(self._row, "manual_review", **more | {"source": None, "answer": None}, note=note)


def _tokens(bucket: Mapping[str, Any]) -> int | None:
    """The charge that an answer tells; None where it tells none that can be one."""
    consumed = bucket.get("tokens_consumed")
    if isinstance(consumed, bool) or not isinstance(consumed, int | float) or not 0 <= consumed <= MOST_TOKENS:
        return None
    return math.ceil(consumed)


def origin_of(base_url: str) -> str:
    """Whose tokens are spent: those of a Keepa plan, or those of a stand-in."""
    return "live" if urlsplit(base_url).hostname == HOST else "sandbox"


def _digest(identity: list[Any]) -> str:
    import hashlib

    return hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()


def _is_json(response: WireResponse) -> bool:
    return response.body.lstrip()[:1] == b"{"


def _shares(call: Call) -> list[tuple[int, int]]:
    """Estimated and worst cost of each request: the whole, divided by how many items each one asks for."""
    weights = [len(request.asked) or 1 for request in call.requests]
    estimated, worst = (_divide(total, weights) for total in (call.cost.estimated, call.cost.worst))
    return list(zip(estimated, worst, strict=True))


def _divide(total: int, weights: list[int]) -> list[int]:
    """`total` in whole parts that add up to it, as close to the weights as they come."""
    whole, reached, parts = sum(weights), 0, []
    for done in accumulate(weights):
        until = total * done // whole
        parts.append(until - reached)
        reached = until
    return parts
