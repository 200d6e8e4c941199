"""Operations run against a scripted Keepa."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.engine import Flags, Options, run
from tests.support.scripted_server import ScriptedServer

KEY = "0123456789abcdef" * 4
BUCKET = {
    "timestamp": 1790000000000, "tokensLeft": 1000, "refillIn": 100, "refillRate": 20, "tokenFlowReduction": 0.0,
    "tokensConsumed": 1, "processingTimeInMs": 1,
}  # fmt: skip
"""The envelope of a synthetic answer."""


def context(home: Path, server: ScriptedServer | None = None, **env: str) -> Context:
    """A context below `home`; with a server, one whose live calls go there and never really sleep."""
    base = {
        "KEEPA_CLI_CONFIG": str(home / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "state"),
        "KEEPA_CLI_DATA_DIR": str(home / "data"),
    }
    if server is not None:
        base |= {"KEEPA_BASE_URL": server.url, "KEEPA_API_KEY": KEY}
    return Context(env=base | env, cwd=home / "work", sleep=lambda _: None)


def call(
    name: str, home: Path, params: dict[str, Any], server: ScriptedServer | None = None, **options: Any
) -> Envelope:
    """One call: live where a server is given, else replay; `dry_run=True` and `fixture=NAME` choose another mode."""
    ctx = options.pop("ctx", None) or context(home, server)
    flags = Flags(
        live=server is not None and not options.get("record"),
        dry_run=options.pop("dry_run", False),
        fixture=options.pop("fixture", None),
        record=options.pop("record", None),
    )
    return run(ops.find(name), params, ctx, Options(flags=flags, find=ops.find, **options))


def refusal(result: Envelope) -> dict[str, Any]:
    """The error of a failed envelope."""
    assert not result["ok"], result
    error: dict[str, Any] = result["error"]
    return error
