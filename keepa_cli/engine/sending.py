"""Sends the requests of one call and checks their answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.core import auth
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.registry import Request
from keepa_cli.engine import caching, modes
from keepa_cli.engine.accounting import Account
from keepa_cli.engine.call import Answer, Call, InterruptedWait, Transport
from keepa_cli.keepa.wire import WireResponse, encode


def send_all(
    call: Call,
    kept: Mapping[int, WireResponse],
    transport: Transport | None,
    money: Account,
    cache: caching.CallCache,
) -> list[Answer]:
    """The answers in order. When one fails, those before it were paid for: they are kept, and the error says where.

    `kept` holds answers that are here already, by the number of their request; `transport` is for the others.
    """
    answers: list[Answer] = []
    for part, request in enumerate(call.requests):
        try:
            found = _read(call, request, kept[part]) if part in kept else _sent(call, part, transport, money)
            found.warnings += _contract(call, request, found)
            cache.keep(request, found)
        except KeepaCliError as error:
            if answers and call.spends:
                error.details["answered"] = {"requests": len(answers), "of": len(call.requests)}
                kept_at = [str(modes.keep_failed(a.response, call.op.name, call.ctx)) for a in answers]
                error.details["answered_at"] = kept_at
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
    from keepa_cli.keepa import answer, graph

    found = Answer(response, None, {}, [{"code": "recording", "message": note} for note in response.source.notes])
    if request.binary and graph.is_picture(response):
        return _picture(found, call)
    try:
        found.body = answer.parse_body(response)
        found.bucket = caching.bucket_of(found)
        answer.check_answer(response, found.body)
        if request.binary:
            raise _no_picture(call, found)
    except KeepaCliError as error:
        error.token_bucket = found.bucket | error.token_bucket
        error.details.setdefault("attempts", response.source.attempts)
        if found.sent and error.kind is Kind.AUTH_ERROR:
            auth.refused(call.ctx, error.kind)
        raise
    if found.sent:
        auth.worked(call.ctx)
    partial = answer.partial_failure(found.body)
    if partial:
        unanswered = answer.unanswered(request, found.body)
        found.warnings.append({"code": "partial", "message": partial, "unanswered": unanswered})
    return found


def _no_picture(call: Call, found: Answer) -> KeepaCliError:
    from keepa_cli.keepa import graph

    error = graph.no_picture(found.response)
    if found.sent:
        error.details["kept_at"] = str(modes.keep_failed(found.response, call.op.name, call.ctx))
    return error


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
    from keepa_cli.keepa import answer, contract

    verdict = contract.check(op.returns, body)
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
    warnings: list[dict[str, Any]] = [{"code": "contract", "message": w} for w in verdict.warnings]
    if verdict.unknown_fields:
        warnings.append(
            {
                "code": "unknown_fields",
                "message": f"{len(verdict.unknown_fields)} fields are not in the known contract.",
                "fields": dict(sorted(verdict.unknown_fields.items())[:50]),
            }
        )
    return warnings
