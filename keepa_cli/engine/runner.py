"""Runs one operation: validate, price, gate, send, check, view, envelope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from keepa_cli.core import auth, envelope
from keepa_cli.core.commandline import command_line
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.errors import KeepaCliError, Kind, internal_error
from keepa_cli.core.registry import Batch, Cost, Operation, Request
from keepa_cli.core.schema import bind
from keepa_cli.core.settings import SPENDING_MODES, Mode
from keepa_cli.engine import modes
from keepa_cli.engine.gate import estimate, gate, needs_consent
from keepa_cli.engine.modes import Flags
from keepa_cli.engine.options import Options

if TYPE_CHECKING:
    from keepa_cli.keepa.wire import WireRequest, WireResponse


class Transport(Protocol):
    def send(self, request: WireRequest, *, retry: bool = True) -> WireResponse: ...


def run(op: Operation, params: Mapping[str, Any], ctx: Context, options: Options | None = None) -> Envelope:
    """The envelope of one call; failures become failed envelopes, `KeyboardInterrupt` passes through."""
    chosen = options or Options()
    try:
        return _run(op, params, ctx, chosen)
    except KeepaCliError as error:
        return envelope.failed(op.name, error)
    except OSError as error:
        problem = KeepaCliError(Kind.IO_ERROR, f"The system refused: {error.strerror or type(error).__name__}.")
        return envelope.failed(op.name, problem)
    except Exception as error:  # noqa: BLE001 - a defect must still be a well-formed answer
        return envelope.failed(op.name, internal_error(error))


def _run(op: Operation, params: Mapping[str, Any], ctx: Context, options: Options) -> Envelope:
    bound = bind(op, params, text=options.text)
    if not op.remote:
        return _run_local(op, bound, ctx, options)
    mode = modes.choose(options.flags, ctx)
    planned = op.run(**bound)
    requests = planned.requests if isinstance(planned, Batch) else (planned,)
    cost = op.cost(bound)
    shown = _request_summary(requests, options.transport, mode)
    if mode is Mode.DRY_RUN:
        estimated = estimate(op, cost, ctx)
        data = {"dry_run": True, "sent": False, "requires_confirmation": estimated["requires_confirmation"]}
        return envelope.ok(op.name, shown, data, token_bucket={"estimated": estimated})
    if options.out:
        modes.check_out(options.out)
    gate(op, bound, cost, mode, ctx, options)
    transport = modes.transport_for(mode, options.flags, ctx, wait=options.wait)
    try:
        answers = _send_all(op, requests, transport, mode, ctx)
    except KeepaCliError as error:
        if error.kind is Kind.CASSETTE_MISS:
            _name_record_command(error, op, bound, cost, ctx)
        raise
    return _answer(op, bound, planned, answers, shown, mode, cost, ctx, options)


def _name_record_command(error: KeepaCliError, op: Operation, bound: dict[str, Any], cost: Cost, ctx: Context) -> None:
    """The command that would record the missing answer, consent included where it will be asked for."""
    consent = ("--yes",) if needs_consent(op, cost, ctx) else ()
    command = command_line(op, bound, ("--record", *consent))
    error.details["record_command"] = command
    error.next_actions = [command, command_line(op, bound, ("--dry-run",))]


def _run_local(op: Operation, bound: dict[str, Any], ctx: Context, options: Options) -> Envelope:
    flags = options.flags
    if flags.dry_run and any(a.name == "dry_run" for a in op.args):
        bound["dry_run"] = True
    elif flags.given():
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            f"{op.name} works on this machine only: {', '.join(flags.given())} does not apply.",
            next_actions=["kc " + op.name.replace(".", " ") + " --help"],
        )
    injected: dict[str, Any] = {}
    if "ctx" in op.needs:
        injected["ctx"] = ctx
    if "call" in op.needs:
        injected["call"] = caller(ctx, options)
    data = op.run(**injected, **bound)
    warnings = data.pop("warnings", []) if isinstance(data, dict) else []
    return envelope.ok(op.name, {"transport": options.transport}, data, warnings=warnings)


def caller(ctx: Context, options: Options) -> Callable[..., Envelope]:
    """What composite operations run other operations with: `call(name, params, **changes of Options)`.

    `flags` may be a plain dict: operations do not know the engine's classes.
    """

    def call(name: str, params: Mapping[str, Any], **changes: Any) -> Envelope:
        if options.find is None:
            raise KeepaCliError(Kind.UNKNOWN_COMMAND, f"{name} cannot be run from here.")
        if isinstance(changes.get("flags"), dict):
            changes["flags"] = Flags(**changes["flags"])
        inner = replace(options, **({"flags": Flags(), "out": None, "text": False} | changes))
        return run(options.find(name), params, ctx, inner)

    return call


def _request_summary(requests: tuple[Request, ...], transport: str, mode: Mode) -> dict[str, Any]:
    from keepa_cli.keepa.wire import encode

    first = encode(requests[0])
    shown: dict[str, Any] = {
        "transport": transport,
        "mode": mode.value,
        "method": first.method,
        "path": first.path,
        "query": dict(first.query),
    }
    if requests[0].body is not None:
        shown["body"] = requests[0].body
    if len(requests) > 1:
        shown["requests"] = len(requests)
    return shown


@dataclass
class Answer:
    """One checked answer: the wire response, its parsed body (None for binary) and what was noticed."""

    response: WireResponse
    body: Any
    bucket: dict[str, Any]
    warnings: list[dict[str, Any]]


def _send_all(
    op: Operation, requests: tuple[Request, ...], transport: Transport, mode: Mode, ctx: Context
) -> list[Answer]:
    """The answers in order. When one fails, those before it were paid for: they are kept, and the error says where."""
    answers: list[Answer] = []
    for request in requests:
        try:
            answers.append(_send(op, request, transport, mode, ctx))
        except KeepaCliError as error:
            if answers and mode in SPENDING_MODES:
                error.details["answered"] = {"requests": len(answers), "of": len(requests)}
                error.details["answered_at"] = [str(modes.keep_failed(a.response, op.name, ctx)) for a in answers]
            raise
    return answers


def _send(op: Operation, request: Request, transport: Transport, mode: Mode, ctx: Context) -> Answer:
    from keepa_cli.keepa import answer
    from keepa_cli.keepa.wire import encode

    try:
        response = transport.send(encode(request), retry=op.effect != "write_remote")
    except KeyboardInterrupt:
        ctx.interrupted_while_spending = mode in SPENDING_MODES
        raise
    noted = [{"code": "recording", "message": note} for note in response.source.notes]
    if request.binary and response.status == 200:
        return Answer(response, None, {}, noted)
    body = answer.parse_body(response)
    bucket = answer.bucket_of(body, response.status)
    try:
        answer.check_answer(response, body)
    except KeepaCliError as error:
        error.token_bucket = bucket | error.token_bucket
        if mode in SPENDING_MODES and error.kind is Kind.AUTH_ERROR:
            auth.refused(ctx, error.kind)
        raise
    if mode in SPENDING_MODES:
        auth.worked(ctx)
    partial = answer.partial_failure(body)
    if partial:
        noted.append({"code": "partial", "message": partial})
    return Answer(response, body, bucket, noted + _contract(op, request, response, body, mode, ctx))


def _contract(
    op: Operation, request: Request, response: WireResponse, body: dict[str, Any], mode: Mode, ctx: Context
) -> list[dict[str, Any]]:
    if not op.returns:
        return []
    from keepa_cli.keepa import answer, contract

    verdict = contract.check(op.returns, body)
    errors = verdict.errors + answer.unasked(request, body)
    if errors:
        details: dict[str, Any] = {"schema": op.returns, "errors": errors[:20]}
        if mode in SPENDING_MODES:
            details["kept_at"] = str(modes.keep_failed(response, op.name, ctx))
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


def _answer(
    op: Operation,
    bound: dict[str, Any],
    planned: Request | Batch,
    answers: list[Answer],
    shown: dict[str, Any],
    mode: Mode,
    cost: Cost,
    ctx: Context,
    options: Options,
) -> Envelope:
    merged = planned.merge([a.body for a in answers]) if isinstance(planned, Batch) else answers[0].body
    data: dict[str, Any] = op.view(merged, bound) if op.view else {"body": merged}
    bucket = dict(answers[-1].bucket) | {"estimated": estimate(op, cost, ctx)}
    consumed = [a.bucket["tokens_consumed"] for a in answers if a.bucket.get("tokens_consumed") is not None]
    if consumed:
        bucket["tokens_consumed"] = sum(consumed)
    bucket["charged"] = bucket.get("tokens_consumed") if mode in SPENDING_MODES else 0
    warnings = [w for a in answers for w in a.warnings]
    result = envelope.ok(
        op.name, shown, data, token_bucket=bucket, warnings=warnings, provenance=modes.provenance(mode, answers, ctx)
    )
    single = len(answers) == 1 and data.get("body") is answers[0].body
    if options.out:
        raw = answers[0].response.body if single or answers[0].body is None else None
        data["output"] = modes.write_out(options.out, raw, merged, ctx)
        data.pop("body", None)
    elif single:
        result.raw_body = answers[0].response.body
    return result
