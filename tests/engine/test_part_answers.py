"""Answers that came in part: what was paid for is kept or told, never dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.engine import Flags, Options, run
from tests.support.scripted_server import ScriptedServer

BUCKET = {"timestamp": 1, "tokensLeft": 50, "refillIn": 1000, "refillRate": 5, "tokensConsumed": 100}
LIVE = Options(flags=Flags(live=True), yes=True)


def call(server: ScriptedServer, home: Path, name: str, params: dict[str, Any]) -> dict[str, Any]:
    env = {
        "KEEPA_CLI_CONFIG": str(home / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "state"),
        "KEEPA_BASE_URL": server.url,
        "KEEPA_API_KEY": "k" * 64,
    }
    ctx = Context(env=env, cwd=home / "work", sleep=lambda seconds: None)
    return run(ops.find(name), params, ctx, LIVE)


def test_an_error_beside_results_is_a_warning(home: Path) -> None:
    body = BUCKET | {"error": {"message": "one of them is unknown"}, "products": [{"asin": "B000000001"}]}
    with ScriptedServer([{"json": body}]) as server:
        result = call(server, home, "products.get", {"asin": ["B000000001", "B000000002"]})
    assert result["ok"], result
    [partial] = [w for w in result["warnings"] if w["code"] == "partial"]
    assert "one of them is unknown" in partial["message"]
