"""The demo does the main job in one process tree and proves it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_three_calls_are_recorded_and_replayed_equal_for_nothing(kc: Any, home: Path) -> None:
    done = kc("--json", "demo")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)["data"]
    assert [row["call"].split()[0] for row in data["table"]] == ["products", "categories", "tokens"]
    assert all(row["same_json"] and row["replay_tokens"] == 0 and len(row["sha256"]) == 64 for row in data["table"])
    assert data["key_search"]["found"] == 0
    assert data["key_search"]["files"] >= 6
    assert data["seconds"] < 10
    assert not [p for p in (home / "state").rglob("*") if p.is_file()]


def test_it_runs_where_live_calls_are_refused(kc: Any) -> None:
    done = kc("demo", env={"CI": "true", "KEEPA_CLI_MODE": "dry-run", "KEEPA_API_KEY": "x" * 64})
    assert done.returncode == 0, done.stderr
    assert "0 tokens to replay" in done.stdout
