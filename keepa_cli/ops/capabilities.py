"""What this program can do."""

from __future__ import annotations

from typing import Any

from keepa_cli import __version__, ops
from keepa_cli.core.errors import ERRORS
from keepa_cli.core.registry import operation
from keepa_cli.core.schema import input_schema
from keepa_cli.core.settings import Mode


@operation("capabilities", toolset="research", examples=("kc --json capabilities",))
def capabilities() -> dict[str, Any]:
    """List every command with its parameters, effects and toolset, the modes and the error kinds."""
    return {
        "version": __version__,
        "modes": [m.value for m in Mode],
        "operations": [
            {
                "name": op.name,
                "summary": op.summary,
                "toolset": op.toolset,
                "effect": op.effect,
                "spends_tokens": op.remote,
                "input_schema": input_schema(op),
                "examples": list(op.examples),
            }
            for op in ops.load_all()
        ],
        "error_kinds": [
            {
                "kind": kind.value,
                "meaning": row.meaning,
                "retryable": row.retryable,
                "exit_code": int(row.exit),
                "next_step": row.next_step,
            }
            for kind, row in ERRORS.items()
        ],
    }
