"""The record mode's transport, joined to the inbox."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from keepa_cli.cassettes import recordings
from keepa_cli.cassettes.model import Exchange
from keepa_cli.core.context import Context
from keepa_cli.transport.policy import NO_RETRY, RetryPolicy
from keepa_cli.transport.record import RecordTransport


def recorder_for(name: str, key: str, ctx: Context, *, wait: bool = True) -> RecordTransport:
    """A transport whose recordings go to the inbox under `name`, or a name made from the request."""

    def store(exchanges: Sequence[Exchange], meta: dict[str, Any]) -> Path:
        return recordings.store(ctx.state_dir, exchanges, str(meta["name"]), meta, ctx.now())

    return RecordTransport(
        base_url=ctx.settings["base_url"],
        key=key,
        state_dir=ctx.state_dir,
        store=store,
        name=name,
        timeout=ctx.settings["timeout_seconds"],
        policy=RetryPolicy() if wait else NO_RETRY,
        redactor=ctx.redactor,
        env=ctx.env,
        now=ctx.now,
        on_wait=lambda seconds, error: ctx.tell(f"{error.message} Waiting {seconds:.0f} s."),
    )
