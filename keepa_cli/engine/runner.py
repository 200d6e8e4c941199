"""Runs one operation: bind its parameters, then work here or ask through a transport, and wrap the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.core import envelope
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.errors import KeepaCliError, Kind, internal_error
from keepa_cli.core.registry import Operation
from keepa_cli.engine import inputs
from keepa_cli.engine.calling import caller
from keepa_cli.engine.options import Options


def run(op: Operation, params: Mapping[str, Any], ctx: Context, options: Options | None = None) -> Envelope:
    """The envelope of one call; failures become failed envelopes, `KeyboardInterrupt` passes through."""
    chosen = options or Options()
    try:
        return inputs.without_secrets(op, _run(op, params, ctx, chosen), ctx)
    except KeepaCliError as error:
        return inputs.without_secrets(op, envelope.failed(op.name, error), ctx)
    except OSError as error:
        problem = KeepaCliError(Kind.IO_ERROR, f"The system refused: {error.strerror or type(error).__name__}.")
        return envelope.failed(op.name, problem)
    except Exception as error:  # noqa: BLE001 - a defect must still be a well-formed answer
        return envelope.failed(op.name, internal_error(error))


def _run(op: Operation, params: Mapping[str, Any], ctx: Context, options: Options) -> Envelope:
    bound = inputs.bound(op, params, ctx, text=options.text)
    if not op.remote:
        return _run_local(op, bound, ctx, options)
    from keepa_cli.engine.remote import run_remote

    return run_remote(op, bound, ctx, options)


def _run_local(op: Operation, bound: dict[str, Any], ctx: Context, options: Options) -> Envelope:
    flags = options.flags
    if flags.dry_run and any(a.name == "dry_run" for a in op.args):
        bound["dry_run"] = True
    elif flags.given() and (flags.fixture or not op.passes_mode):
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            f"{op.name} works on this machine only: {', '.join(flags.given())} does not apply.",
            next_actions=["kc " + op.name.replace(".", " ") + " --help"],
        )
    injected: dict[str, Any] = {}
    if "ctx" in op.needs:
        injected["ctx"] = ctx
    if "call" in op.needs:
        injected["call"] = caller(ctx, options, same_mode=op.passes_mode)
    data = op.run(**injected, **bound)
    warnings = data.pop("warnings", []) if isinstance(data, dict) else []
    return envelope.ok(op.name, {"transport": options.transport}, data, warnings=warnings)
