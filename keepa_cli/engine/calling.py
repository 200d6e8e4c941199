"""How an operation runs other operations."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.settings import Mode
from keepa_cli.engine import modes
from keepa_cli.engine.modes import Flags
from keepa_cli.engine.options import Options


class Caller:
    """What composite operations run other operations with: `call(name, params, **changes of Options)`.

    `flags` may be a plain dict: operations do not know the engine's classes. With `same_mode` the inner call takes its
    bytes from where the outer one does; a fixture answers one call only. `cwd` is the folder that the inner call takes
    relative paths from.
    """

    def __init__(self, ctx: Context, options: Options, *, same_mode: bool) -> None:
        self._ctx, self._options = ctx, options
        self._flags = _inner(options.flags) if same_mode else Flags()

    @property
    def mode(self) -> Mode:
        """Where inner calls get their answers from. Raises what `modes.choose` raises."""
        return modes.choose(self._flags, self._ctx)

    @property
    def mode_flags(self) -> list[str]:
        """The flags that a command needs for the same mode."""
        name = self._flags.record
        return [f"--record={name}" if given == "--record" and name else given for given in self._flags.given()]

    @property
    def keyed(self) -> bool:
        """Whether the outer call has an idempotency key, from which those of inner calls are made."""
        return self._options.idempotency_key is not None

    def __call__(self, name: str, params: Mapping[str, Any], **changes: Any) -> Envelope:
        from keepa_cli.engine.accounting import inner_key
        from keepa_cli.engine.runner import run

        options = self._options
        if options.find is None:
            raise KeepaCliError(Kind.UNKNOWN_COMMAND, f"{name} cannot be run from here.")
        if isinstance(changes.get("flags"), dict):
            changes["flags"] = Flags(**changes["flags"])
        fresh = {"flags": self._flags, "out": None, "text": False, "idempotency_key": inner_key(options, name, params)}
        ctx = self._in(changes.pop("cwd", None))
        inner = replace(options, **(fresh | changes))
        return run(options.find(name), params, ctx, inner)

    def _in(self, cwd: Path | None) -> Context:
        """The context with another working folder: the same services, settings and known secrets."""
        if cwd is None:
            return self._ctx
        self._ctx.redactor  # noqa: B018 - made before the copy, so that both know the same secrets
        found = copy(self._ctx)
        found.cwd = cwd
        return found


def _inner(flags: Flags) -> Flags:
    """The flags of an inner call. Beside a fixture that is replay: whoever works on a fixture spends nothing."""
    return flags if flags.fixture is None else replace(flags, fixture=None, replay=True)


def caller(ctx: Context, options: Options, *, same_mode: bool = False) -> Caller:
    """The caller that an operation is handed."""
    return Caller(ctx, options, same_mode=same_mode)
