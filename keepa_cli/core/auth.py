"""What is known about the API key's health: stored when, last worked when, last failed when and why."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.files import write_atomic

if TYPE_CHECKING:
    from keepa_cli.core.context import Context

_FIELDS = ("stored_at", "last_worked_at", "last_failed_at", "last_error")


def health(ctx: Context) -> dict[str, Any]:
    """The four fields, None where nothing is known."""
    try:
        known = json.loads((ctx.state_dir / "auth.json").read_bytes())
    except (OSError, ValueError):
        known = {}
    return {name: known.get(name) if isinstance(known, dict) else None for name in _FIELDS}


def note(ctx: Context, changes: Mapping[str, Any]) -> None:
    """Remember `changes`. A state folder that cannot be written must not cost an answer."""
    with contextlib.suppress(KeepaCliError, OSError):
        ctx.state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        text = json.dumps(health(ctx) | dict(changes), sort_keys=True)
        write_atomic(ctx.state_dir / "auth.json", text.encode(), mode=0o600)


def stamp(ctx: Context) -> str:
    return ctx.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def worked(ctx: Context) -> None:
    """Remember that the key works; at most one write a minute."""
    known = health(ctx)
    moment = stamp(ctx)
    failed = known["last_failed_at"] or ""
    if (known["last_worked_at"] or "")[:16] != moment[:16] or failed >= (known["last_worked_at"] or ""):
        note(ctx, {"last_worked_at": moment})


def refused(ctx: Context, kind: str) -> None:
    """Remember that Keepa refused the key."""
    note(ctx, {"last_failed_at": stamp(ctx), "last_error": kind})
