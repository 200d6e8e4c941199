"""Sends the requests of one call and checks their answers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from keepa_cli.core import auth
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.registry import Request
from keepa_cli.engine import caching, modes
from keepa_cli.engine.accounting import Account
from keepa_cli.engine.batching import Batching
from keepa_cli.engine.call import Answer, Call, InterruptedWait, Transport
from keepa_cli.keepa.wire import WireResponse, encode

UNREADABLE = frozenset({Kind.CONTRACT_ERROR, Kind.OUTCOME_UNKNOWN})
"""What an answer is that was paid for and cannot be read: its body is kept."""


def send_all(
    call: Call,
    kept: Mapping[int, WireResponse],
    transport: Transport | None,
    money: Account,
    cache: caching.CallCache,
    batch: Batching,
) -> list[Answer]:
    """The answers in order. When one fails, those before it were paid for: they are kept, and the error says where.

    `kept` holds answers that are here already, by the number of their request; `transport` is for the others.
    """
    answers: list[Answer] = []
    for part, request in enumerate(call.requests):
        try:
            if part in kept:
                found = _read(call, request, kept[part])
            else:
                found = batch.send(part, partial(_sent, call, part, transport, money))
            found.warnings += _contract(call, request, found)
            cache.keep(request, found)
            batch.keep(part, found)
        except KeepaCliError as error:
            batch.failed(error, answers, len({*range(part), *kept}))
            raise
        except KeyboardInterrupt:
            batch.interrupted(len({*range(part), *kept}))
            raise
        answers.append(found)
    return answers


def _sent(call: Call, part: int, transport: Transport | None, money: Account) -> Answer:
    """The answer to one request, accounted for before anything else can go wrong."""
    if transport is None:
        raise LookupError(f"request {part} is answered by nothing")
    request = call.requests[part]
    with money.sending(part) as sending:
        try:
            response = transport.send(encode(request), retry=call.op.effect != "write_remote" and not request.writes)
        except InterruptedWait:
            raise
        except KeyboardInterrupt:
            call.ctx.interrupted_while_spending = call.spends
            raise
        found = _read(call, request, response)
        sending.answered(response, found.bucket)
    return found


def _read(call: Call, request: Request, response: WireResponse) -> Answer:
    """An answer that reports no error; its shape is not judged yet."""
    from keepa_cli.keepa import answer

    found = Answer(response, None, {}, [{"code": "recording", "message": note} for note in response.source.notes])
    if request.binary:
        from keepa_cli.keepa import graph

        if graph.is_picture(response):
            return _picture(found, call)
    try:
        found.body = answer.parse_body(response)
        found.bucket = caching.bucket_of(found)
        answer.check_answer(response, found.body)
        if request.binary:
            raise graph.no_picture(response)
    except KeepaCliError as error:
        error.token_bucket = found.bucket | error.token_bucket
        error.details.setdefault("attempts", response.source.attempts)
        if found.sent and error.kind is Kind.AUTH_ERROR:
            auth.refused(call.ctx, error.kind)
        if found.sent and error.kind in UNREADABLE and response.body:
            error.details.setdefault("kept_at", str(modes.keep_failed(response, call.op.name, call.ctx)))
        raise
    if found.sent:
        auth.worked(call.ctx)
    failure = answer.partial_failure(found.body)
    if failure:
        unanswered = answer.unanswered(request, found.body)
        found.warnings.append({"code": "partial", "message": failure, "unanswered": unanswered})
    return found


def _picture(found: Answer, call: Call) -> Answer:
    """A picture comes without token figures: what it cost stays open."""
    from keepa_cli.keepa import graph

    if found.sent:
        auth.worked(call.ctx)
        found.warnings.append({"code": "charge_unknown", "message": graph.CHARGE_UNKNOWN})
    problem = graph.damage(found.response.body)
    if problem:
        found.warnings.append({"code": "picture", "message": problem})
    return found


def _contract(call: Call, request: Request, found: Answer) -> list[dict[str, Any]]:
    """What is noteworthy about the shape of an answer; `contract_error` where required structure is missing."""
    op, response, body = call.op, found.response, found.body
    if not op.returns or body is None:
        return []
    from keepa_cli.keepa import answer, contract, doubts

    verdict = contract.check_answer(op.returns, response.body, body)
    errors = verdict.errors + answer.unasked(request, body)
    if errors:
        details: dict[str, Any] = {"schema": op.returns, "errors": errors[:20]}
        if found.sent:
            details["kept_at"] = str(modes.keep_failed(response, op.name, call.ctx))
        else:
            details["source"] = response.source.name
        first = errors[0]
        raise KeepaCliError(
            Kind.CONTRACT_ERROR,
            f"The answer breaks the {op.returns} contract at {first['path']}: {first['message']}.",
            details=details,
        )
    suspicious = doubts.doubts(request.path, dict(encode(request).query), body)
    return [*verdict.notes(), *({"code": "suspicious", "message": text} for text in suspicious)]
