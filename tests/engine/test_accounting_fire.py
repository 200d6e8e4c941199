"""Money under fire: processes that share one ledger against a Keepa that fails in every way it can.

The larger runs are marked slow: pytest -m slow tests/engine/test_accounting_fire.py
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.cassettes.fingerprint import of_request
from keepa_cli.core.context import Context
from keepa_cli.engine import run
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.sandbox import Sandbox
from keepa_cli.sandbox.server import LogEntry
from keepa_cli.store.ledger import FILE
from tests.conftest import REPO
from tests.support.sandbox import running_sandbox

FAULTS = (
    "429=20%12",
    "500%6",
    "503%3",
    "200-with-error%3",
    "reset-after-request%6",
    "cut-body%3",
    "html%2",
    "slow=1.3%2",
)
MODEST = pytest.param(4, 25, id="4x25")
FULL = pytest.param(8, 200, id="8x200", marks=pytest.mark.slow)


@pytest.fixture(autouse=True)
def only_when_asked_for(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("slow") and "slow" not in request.config.getoption("markexpr"):
        pytest.skip("a long run: pytest -m slow")


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with running_sandbox(rate=100_000, faults=FAULTS, seed=11) as sandbox:
        yield sandbox


def start(box: Sandbox, home: Path, workers: int, calls: int, setting: str = "") -> list[subprocess.Popen[str]]:
    (home / "state" / "config.toml").write_text(f"timeout_seconds = 1\n{setting}\n", encoding="utf-8")
    program = [sys.executable, "-m", "tests.engine.fire_worker", box.base_url, str(home / "state")]
    return [
        subprocess.Popen([*program, str(n), str(calls)], cwd=REPO, stdout=subprocess.PIPE, text=True)
        for n in range(workers)
    ]


def settle_down(box: Sandbox) -> list[LogEntry]:
    """The log once the sandbox has finished what nobody waits for any more."""
    time.sleep(1.5)
    return list(box.log)


def rows(home: Path) -> list[dict[str, Any]]:
    connection = sqlite3.connect(home / "state" / FILE)
    connection.row_factory = sqlite3.Row
    found = [dict(row) for row in connection.execute("SELECT * FROM calls")]
    connection.close()
    return found


def charges(log: list[LogEntry]) -> dict[str, list[int]]:
    """What the sandbox took for each read, attempt by attempt, by fingerprint."""
    found: dict[str, list[int]] = defaultdict(list)
    for entry in log:
        if entry.method == "GET":
            found[of_request(WireRequest(entry.method, entry.path, entry.query))].append(entry.tokens)
    return found


def assert_writes_left_once(log: list[LogEntry], ledger: list[dict[str, Any]], *, killed: bool) -> None:
    sent = Counter(dict(e.query)["list"] for e in log if e.path == "/tracking")
    written = [r for r in ledger if r["path"] == "/tracking"]
    assert set(sent.values()) <= {1}, "a write was sent twice"
    assert len(sent) <= len(written) if killed else len(sent) == len(written)
    assert all(r["attempts"] in {1, None} for r in written)


def assert_row_tells_the_truth(row: dict[str, Any], taken: list[int]) -> None:
    if row["state"] == "settled":
        assert row["consumed"] == sum(taken) and row["attempts"] == len(taken)
    elif row["state"] == "released":
        assert sum(taken) == 0 and row["attempts"] == len(taken)
    else:
        assert row["state"] == "manual_review" and sum(taken) <= row["worst"]


@pytest.mark.parametrize(("workers", "calls"), [MODEST, FULL])
def test_every_request_has_one_row_and_every_token_is_found(box: Sandbox, home: Path, workers: int, calls: int) -> None:
    running = start(box, home, workers, calls)
    said: Counter[str] = Counter()
    for process in running:
        out, _ = process.communicate(timeout=900)
        assert process.returncode == 0
        said.update(json.loads(out))
    assert not said["invalid_arguments"], "the calls of this test are none of today's"
    log, ledger = settle_down(box), rows(home)
    taken = charges(log)
    assert len(ledger) == sum(said.values()) == workers * calls
    reads = [r for r in ledger if r["method"] == "GET"]
    assert {r["fingerprint"] for r in reads} == set(taken) and len(reads) == len(taken)
    for row in reads:
        assert_row_tells_the_truth(row, taken[row["fingerprint"]])
    assert_writes_left_once(log, ledger, killed=False)
    states = Counter(r["state"] for r in ledger)
    assert states["manual_review"] == said["outcome_unknown"] + said["timeout"] > 0
    assert states["settled"] >= said["ok"] > 0 and states["reserved"] == 0
    unknown = {r["fingerprint"] for r in ledger if r["state"] == "manual_review"}
    known = sum(sum(tokens) for fingerprint, tokens in taken.items() if fingerprint not in unknown)
    assert sum(r["consumed"] for r in reads if r["state"] == "settled") == known


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
@pytest.mark.parametrize(("workers", "calls"), [MODEST, FULL])
def test_a_kill_at_any_moment_leaves_a_ledger_that_explains_itself(
    box: Sandbox, home: Path, workers: int, calls: int
) -> None:
    chance = random.Random(workers)
    running = start(box, home, workers, calls)
    while box.answered < workers:
        time.sleep(0.01)
    for process in running:
        time.sleep(chance.random() * 0.4)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    log = settle_down(box)
    env = {"KEEPA_CLI_STATE_DIR": str(home / "state"), "KEEPA_CLI_CONFIG": str(home / "none.toml")}
    listed = run(ops.find("ledger.list"), {"limit": 10_000}, Context(env=env))
    assert listed["ok"], listed
    ledger, taken = rows(home), charges(log)
    assert listed["data"]["count"] == len(ledger) > 0
    assert {r["state"] for r in ledger} <= {"settled", "released", "manual_review"}
    reads = {r["fingerprint"]: r for r in ledger if r["method"] == "GET"}
    assert len(reads) == sum(r["method"] == "GET" for r in ledger), "one row per request"
    assert set(taken) <= set(reads), "a request left without a row"
    for fingerprint, row in reads.items():
        assert_row_tells_the_truth(row, taken.get(fingerprint, []))
    assert_writes_left_once(log, ledger, killed=True)
    cut_off = [r for r in ledger if "ended" in (r["note"] or "")]
    assert len(cut_off) <= workers and all(r["error_kind"] == "outcome_unknown" for r in cut_off)


@pytest.mark.parametrize(("workers", "calls"), [MODEST, FULL])
def test_processes_never_pass_a_limit_together(home: Path, workers: int, calls: int) -> None:
    with running_sandbox(rate=100_000) as box:
        limit = workers * calls // 2
        running = start(box, home, workers, calls, f"max_tokens_per_day = {limit}")
        said: Counter[str] = Counter()
        for process in running:
            said.update(json.loads(process.communicate(timeout=900)[0]))
        charged = sum(e.tokens for e in box.log)
    assert said["budget_exceeded"] > 0 and charged <= limit
    assert limit - charged <= 3, "what is left is less than the largest call needs"
    assert sum(r["consumed"] or 0 for r in rows(home)) == charged
