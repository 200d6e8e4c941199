"""An operation that asks Keepa: price, gate, send, check, view, envelope."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keepa_cli.core import envelope
from keepa_cli.core.commandline import command_line
from keepa_cli.core.consent import estimate, needs_consent
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.redact import REDACTED
from keepa_cli.core.registry import TOKENS_STATUS, Batch, Cost, Operation, Request
from keepa_cli.core.settings import Mode
from keepa_cli.engine import inputs, modes
from keepa_cli.engine.accounting import Account
from keepa_cli.engine.batching import Batching
from keepa_cli.engine.budget import budget_of, note_blocked
from keepa_cli.engine.caching import CallCache
from keepa_cli.engine.call import Answer, Call, Transport
from keepa_cli.engine.calling import caller
from keepa_cli.engine.gate import gate
from keepa_cli.engine.options import Options
from keepa_cli.engine.sending import send_all
from keepa_cli.keepa.wire import encode


def run_remote(op: Operation, bound: dict[str, Any], ctx: Context, options: Options) -> Envelope:
    """The envelope of one call through the mode's transport. Raises what is refused and what fails."""
    mode = modes.choose(options.flags, ctx)
    planned = op.run(**bound, **({"ctx": ctx} if "ctx" in op.needs else {}))
    call = Call(op, bound, planned, op.cost(bound), mode, ctx, options)
    cache, batch = CallCache(call), Batching(call)
    if mode is Mode.DRY_RUN or call.spends:
        inputs.check_today(call.requests, ctx)
    call.shown.update(_request_summary(call.requests, options.transport, mode))
    if mode is Mode.DRY_RUN:
        return _dry_run(call)
    if options.out:
        modes.check_out(options.out)
    elif isinstance(bound.get("out"), str):
        modes.check_out(ctx.cwd / Path(bound["out"]).expanduser())
    elif mode is Mode.LIVE and call.requests[0].binary:
        raise inputs.needs_out(op, bound)
    with Account(call) as money:
        try:
            result = _answer(call, _answers(call, money, cache, batch), money, [*batch.warnings, *cache.warnings])
            batch.done()
            return result
        except KeepaCliError as error:
            note_blocked(call, error)
            raise


def _dry_run(call: Call) -> Envelope:
    estimated = estimate(call.op, call.cost, call.ctx)
    data = {"dry_run": True, "sent": False, "requires_confirmation": estimated["requires_confirmation"]}
    bucket = {"estimated": estimated}
    return envelope.ok(call.op.name, call.shown, data, token_bucket=bucket, warnings=_request_notes(call.requests))


def _answers(call: Call, money: Account, cache: CallCache, batch: Batching) -> list[Answer]:
    """The answers in the order of the requests: those that are here already, the others through the transport."""
    kept = money.kept()
    kept |= batch.kept(but=kept)
    kept |= cache.kept(but=kept)
    money.skip(kept)
    transport: Transport | None = None
    if len(kept) < len(call.requests):
        gate(call.op, call.bound, call.cost, call.mode, call.ctx, call.options)
        transport = modes.transport_for(call.mode, call.options.flags, call.ctx, wait=call.options.wait)
    try:
        return send_all(call, kept, transport, money, cache, batch)
    except KeepaCliError as error:
        if error.kind is Kind.CASSETTE_MISS:
            _name_record_command(error, call.op, call.bound, call.cost, call.ctx)
        raise


def _name_record_command(error: KeepaCliError, op: Operation, bound: dict[str, Any], cost: Cost, ctx: Context) -> None:
    """The command that would record the missing answer, consent included where it will be asked for."""
    consent = ("--yes",) if needs_consent(op, cost, ctx) else ()
    command = command_line(op, bound, ("--record", *consent))
    error.details["record_command"] = command
    error.next_actions = [command, command_line(op, bound, ("--dry-run",))]


def _request_summary(requests: tuple[Request, ...], transport: str, mode: Mode) -> dict[str, Any]:
    first = encode(requests[0])
    shown: dict[str, Any] = {
        "transport": transport,
        "mode": mode.value,
        "method": first.method,
        "path": first.path,
        "query": {name: REDACTED if name in requests[0].secret else value for name, value in first.query},
    }
    if requests[0].body is not None:
        shown["body"] = requests[0].body
    if len(requests) > 1:
        shown["requests"] = len(requests)
    return shown


def _request_notes(requests: tuple[Request, ...]) -> list[dict[str, Any]]:
    notes = dict.fromkeys(note for request in requests for note in request.notes)
    return [{"code": "request", "message": note} for note in notes]


def _answer(call: Call, answers: list[Answer], money: Account, notes: list[dict[str, Any]]) -> Envelope:
    op, bound, planned, ctx, options = call.op, call.bound, call.planned, call.ctx, call.options
    merged = planned.merge([a.body for a in answers]) if isinstance(planned, Batch) else answers[0].body
    shape: Any = answers[0].response.body if merged is None else merged
    data: dict[str, Any] = op.view(shape, bound) if op.view else {"body": merged}
    found = data.pop("warnings", []) if op.view else []
    if op.finish:
        data = op.finish(ctx, caller(ctx, options, same_mode=True), data, bound)
        found += data.pop("warnings", [])
    latest = next((a for a in reversed(answers) if a.sent), answers[-1])
    bucket = dict(latest.bucket) | {"estimated": estimate(op, call.cost, ctx)}
    consumed = [a.bucket["tokens_consumed"] for a in answers if a.bucket.get("tokens_consumed") is not None]
    if consumed:
        bucket["tokens_consumed"] = sum(consumed)
    bucket["charged"] = _charged(answers)
    if call.spends:
        budget_of(ctx).answered(call, answers, bucket["charged"])
    if op.name == TOKENS_STATUS and call.spends:
        data["spending"] = money.facts()
    warnings = _request_notes(call.requests) + [w for a in answers for w in a.warnings]
    warnings += money.warnings() + notes + found
    provenance = modes.provenance(call.mode, answers, ctx) | money.provenance()
    result = envelope.ok(op.name, call.shown, data, token_bucket=bucket, warnings=warnings, provenance=provenance)
    single = len(answers) == 1 and merged is not None and data.get("body") is answers[0].body
    if options.out:
        raw = answers[0].response.body if len(answers) == 1 else None
        data["output"] = modes.write_out(options.out, raw, merged, ctx)
        data.pop("body", None)
        if data.get("view"):
            data["raw"] = {"output": data["output"]}
    elif single:
        result.raw_body = answers[0].response.body
    return result


def _charged(answers: list[Answer]) -> int | None:
    """What this call cost: answers that were here already cost nothing. None when a picture's price is not told."""
    figures = [a.bucket.get("tokens_consumed") for a in answers if a.sent]
    return sum(f for f in figures if f is not None) if None not in figures else None
