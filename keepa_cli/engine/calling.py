"""How an operation runs other operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.engine.modes import Flags
from keepa_cli.engine.options import Options


def caller(ctx: Context, options: Options, *, same_mode: bool = False) -> Callable[..., Envelope]:
    """What composite operations run other operations with: `call(name, params, **changes of Options)`.

    `flags` may be a plain dict: operations do not know the engine's classes. With `same_mode` the inner call takes its
    bytes from where the outer one does; a fixture answers one call only.
    """
    flags = replace(options.flags, fixture=None) if same_mode else Flags()

    def call(name: str, params: Mapping[str, Any], **changes: Any) -> Envelope:
        from keepa_cli.engine.accounting import inner_key
        from keepa_cli.engine.runner import run

        if options.find is None:
            raise KeepaCliError(Kind.UNKNOWN_COMMAND, f"{name} cannot be run from here.")
        if isinstance(changes.get("flags"), dict):
            changes["flags"] = Flags(**changes["flags"])
        fresh = {"flags": flags, "out": None, "text": False, "idempotency_key": inner_key(options, name, params)}
        inner = replace(options, **(fresh | changes))
        return run(options.find(name), params, ctx, inner)

    return call
