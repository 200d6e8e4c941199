"""The live smoke script as it is run by hand: a process of its own against a sandbox."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.sandbox import Sandbox
from keepa_cli.sandbox.catalogue import example_asin
from tests.conftest import REPO
from tests.support.sandbox import KEY, running_sandbox

ASIN = example_asin(1)
SCRIPT = REPO / "scripts" / "manual_live_product_read.py"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with running_sandbox(tokens=300, rate=20) as running:
        yield running


def script(env: dict[str, str], *args: str) -> tuple[int, dict[str, Any]]:
    """Exit code and printed document. Nothing that is printed may hold the key."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--asin", ASIN, "--json", *args],
        env=env,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    assert KEY not in done.stdout
    assert len(done.stdout.splitlines()) == 1
    found: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, found


@pytest.mark.parametrize("key", [False, True], ids=["no key", "key"])
def test_without_consent_nothing_is_sent(key: bool, clean_env: dict[str, str], sandbox: Sandbox) -> None:
    env = clean_env | {"KEEPA_BASE_URL": sandbox.base_url} | ({"KEEPA_API_KEY": KEY} if key else {})
    code, found = script(env)
    assert (code, found["mode"], list(sandbox.log)) == (0, "dry-run", [])
    assert "--yes-live" in found["to_go_live"]


def test_consent_without_a_key_sends_nothing_either(clean_env: dict[str, str], sandbox: Sandbox) -> None:
    code, found = script(clean_env | {"KEEPA_BASE_URL": sandbox.base_url}, "--yes-live")
    assert (code, found["mode"], list(sandbox.log)) == (0, "dry-run", [])


def test_live_it_proves_the_whole_path(clean_env: dict[str, str], sandbox: Sandbox, home: Path) -> None:
    env = clean_env | {"KEEPA_BASE_URL": sandbox.base_url, "KEEPA_API_KEY": KEY, "KEEPA_CLI_CACHE_TTL_SECONDS": "600"}
    for _ in range(2):  # the second time a cache could have answered
        code, found = script(env, "--yes-live")
        assert code == 0, found
        assert found["product"][0]["asin"] == ASIN
        assert found["items"] == [{"asked": ASIN, "status": "found"}]
        assert found["charged"] == found["estimated"]["estimated_tokens"] == 1
        assert found["tokens_before"]["tokens_left"] - found["tokens_after"]["tokens_left"] == 1
        assert found["provenance"]["origin"] == "sandbox"
        assert (found["provenance"]["source"], found["cache"]) == ("live", {"used": False})
    [row] = found["ledger"]
    assert (row["state"], row["consumed"], row["operation"]) == ("settled", 1, "products.get")
    assert found["tokens_after"]["spending"]["today"]["settled"] == 2
    assert [entry.path for entry in sandbox.log] == ["/token", "/product", "/token"] * 2
    assert not any(name in json.dumps(found) for name in ('"csv"', "imagesCSV", '"description"'))
    written = [p.read_bytes() for p in home.rglob("*") if p.is_file()]
    assert not any(KEY.encode() in data for data in written)


def test_ci_is_respected(clean_env: dict[str, str], sandbox: Sandbox) -> None:
    env = clean_env | {"KEEPA_BASE_URL": sandbox.base_url, "KEEPA_API_KEY": KEY, "CI": "true"}
    code, found = script(env, "--yes-live")
    assert (code, found["error"]["kind"], list(sandbox.log)) == (1, "live_blocked_in_ci", [])


@pytest.mark.parametrize(
    ("fault", "kind", "code"),
    [("402", "auth_error", 4), ("type-flip@/product", None, 0), ("reset-after-request@/product", "outcome_unknown", 1)],
)
def test_trouble_is_told_as_it_is(fault: str, kind: str | None, code: int, clean_env: dict[str, str]) -> None:
    config: dict[str, Any] = {"deny_keys": [KEY]} if fault == "402" else {"faults": [fault]}
    with running_sandbox(**config) as sandbox:
        env = clean_env | {"KEEPA_BASE_URL": sandbox.base_url, "KEEPA_API_KEY": KEY}
        ended, found = script(env, "--yes-live")
    assert (ended, found.get("error", {}).get("kind")) == (code, kind)
    if kind is None:
        assert "websiteDisplayGroup is array where string is documented" in json.dumps(found["warnings"])
