"""Parameters on their way to an operation: what is secret, what only today's date can refuse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from keepa_cli.core.commandline import command_line
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.errors import KeepaCliError, invalid
from keepa_cli.core.registry import Operation, Request
from keepa_cli.core.schema import bind

_SHORTEST_SECRET = 8
"""Shorter values stand in too many texts to be taken out of them."""


def bound(op: Operation, params: Mapping[str, Any], ctx: Context, *, text: bool) -> dict[str, Any]:
    """`bind`, and hidden values made known to the redactor."""
    checked = bind(op, params, text=text)
    for arg in op.args:
        value = checked[arg.name]
        if arg.spec.hidden and isinstance(value, str) and len(value) >= _SHORTEST_SECRET:
            ctx.redactor.add_secret(value)
    return checked


def without_secrets(op: Operation, result: Envelope, ctx: Context) -> Envelope:
    """The envelope; of an operation with hidden parameters without anything that an answer echoed of them."""
    if not any(arg.spec.hidden for arg in op.args):
        return result
    return Envelope(ctx.redactor.data(dict(result)))


def check_today(requests: Iterable[Request], ctx: Context) -> None:
    """Refuse what Keepa would refuse today. Recordings answer whenever they are asked."""
    for request in requests:
        if request.check is not None:
            request.check(ctx.now())


def needs_out(op: Operation, params: Mapping[str, Any]) -> KeepaCliError:
    """The refusal of a live picture without a file to put it in."""
    return invalid(
        f"{op.name} downloads a picture: name a file with --out.",
        field="out",
        next_command=command_line(op, params, ("--live", "--out", "graph.png")),
    )
