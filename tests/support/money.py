"""Live calls of tests and what the ledger says of them."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.engine import Flags, Options, run
from keepa_cli.store.ledger import FILE
from tests.support.sandbox import KEY

LIVE = Flags(live=True)
BUCKET = {"timestamp": 1, "tokensLeft": 50, "refillIn": 1000, "refillRate": 5, "tokenFlowReduction": 0.0}
ONE = {"asin": ["B000000001"]}


def context(home: Path, url: str, config: str = "", **more: Any) -> Context:
    if config:
        (home / "config.toml").write_text(config, encoding="utf-8")
    env = {
        "KEEPA_CLI_CONFIG": str(home / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "state"),
        "KEEPA_CLI_DATA_DIR": str(home / "data"),
        "KEEPA_BASE_URL": url,
        "KEEPA_API_KEY": KEY,
        "KEEPA_CLI_NO_CACHE": "1",
    }
    return Context(env=env, cwd=home / "work", **{"sleep": lambda seconds: None} | more)


def call(ctx: Context, name: str = "products.get", params: dict[str, Any] = ONE, **options: Any) -> Envelope:
    return run(ops.find(name), params, ctx, Options(find=ops.find, **{"flags": LIVE, "yes": True} | options))


def rows(home: Path) -> list[dict[str, Any]]:
    connection = sqlite3.connect(home / "state" / FILE)
    connection.row_factory = sqlite3.Row
    found = [dict(row) for row in connection.execute("SELECT * FROM calls ORDER BY id")]
    connection.close()
    return found


def outline(home: Path) -> list[tuple[str, int | None, int | None]]:
    return [(row["state"], row["consumed"], row["attempts"]) for row in rows(home)]
