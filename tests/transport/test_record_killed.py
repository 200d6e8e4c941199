"""Recorders and their callers killed, interrupted and out of disk: what was paid for is found, nothing is half."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.cassettes import journal, recordings
from keepa_cli.cassettes.codec import parse_cassette
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.redact import Redactor
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.transport import child
from keepa_cli.transport.keeping import Keeper, Kept
from tests.cassettes.canary import KEY, leaked
from tests.conftest import REPO
from tests.support.scripted_server import ScriptedServer
from tests.transport.test_record import EMPTY, GOOD, TOKEN, Make, assert_no_key, recorder, state, stored

__all__ = ["recorder", "state"]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
WAITING = {"status": 429, "json": EMPTY | {"refillIn": 60_000}}


class Parent:
    """A process that records one call."""

    def __init__(self, env: dict[str, str], **job: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.transport.record_parent"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=REPO,
            start_new_session=True,
        )
        assert self.process.stdin
        self.process.stdin.write(json.dumps(job | {"key": KEY}).encode())
        self.process.stdin.close()
        self.process.stdin = None

    def report(self) -> dict[str, Any]:
        out, err = self.process.communicate(timeout=30)
        assert not leaked(out + err)
        return dict(json.loads(out)) if out else {}


@pytest.fixture
def parent(clean_env: dict[str, str], state: Path) -> Iterator[Callable[..., Parent]]:
    made: list[Parent] = []

    def start(server: ScriptedServer, **job: Any) -> Parent:
        made.append(Parent(clean_env, base_url=server.url, state=str(state), **job))
        return made[-1]

    yield start
    for each in made:
        each.process.kill()
        each.process.communicate()


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The recorder processes that this process starts."""
    started: list[Any] = []
    start = child._start
    monkeypatch.setattr(child, "_start", lambda env: started.append(start(env)) or started[-1])
    return started


def eventually(true: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + 15
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def journalled(state: Path) -> list[journal.Journalled]:
    return [journal.read(p) for p in (state / "journal").rglob("*.jsonl")]


def recover(state: Path) -> list[Kept]:
    def store(exchanges: Any, meta: dict[str, Any]) -> Path:
        return recordings.store(state, exchanges, meta["name"], meta, datetime.now(UTC))

    return Keeper(state, store, Redactor()).recover()


def assert_whole(state: Path) -> None:
    """Every file in the inbox parses, and no key is anywhere."""
    for recording in recordings.recordings(state):
        assert parse_cassette(recording.path.read_bytes(), recording.path.name)
    assert_no_key(state)


def killed_when(ready: Callable[[], Any], transport: Any, children: list[Any]) -> KeepaCliError | None:
    """The outcome of a call whose recorder is killed once `ready`."""

    def kill() -> None:
        eventually(ready, "the recorder never got that far")
        children[0].kill()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        transport.send(TOKEN)
    except KeepaCliError as error:
        return error
    finally:
        killer.join()
    return None


def test_a_recorder_killed_before_it_sends_cost_nothing(recorder: Make, children: list[Any], state: Path) -> None:
    with ScriptedServer([{"json": GOOD}]) as server:
        error = killed_when(lambda: children, recorder(server.url), children)
        assert not server.seen
    assert error is not None
    assert (error.kind, error.details["charged"]) == (Kind.TRANSPORT_ERROR, "no")
    assert error.details["exit_code"] == -signal.SIGKILL


def test_a_recorder_killed_after_the_request_left_is_an_unknown_outcome(
    recorder: Make, children: list[Any], state: Path
) -> None:
    with ScriptedServer([{"fault": "stall_after_request"}]) as server:
        error = killed_when(lambda: server.seen, recorder(server.url), children)
        assert len(server.seen) == 1
    assert error is not None
    assert (error.kind, error.details["charged"], error.retryable) == (Kind.OUTCOME_UNKNOWN, "unknown", False)
    assert not stored(state)
    assert not journalled(state)


def test_a_recorder_killed_between_attempts_loses_no_exchange(recorder: Make, children: list[Any], state: Path) -> None:
    with ScriptedServer([WAITING]) as server:
        transport = recorder(server.url)
        error = killed_when(lambda: any(j.exchanges for j in journalled(state)), transport, children)
    assert error is not None
    assert error.kind is Kind.OUTCOME_UNKNOWN
    assert [[e.status for e in exchanges] for exchanges in stored(state)] == [[429]]
    assert error.details["recording"]


def test_a_recorder_killed_at_any_moment_leaves_nothing_half(recorder: Make, children: list[Any], state: Path) -> None:
    big = GOOD | {"csv": list(range(200_000))}
    for moment in (0.05, 0.12, 0.16, 0.2, 0.25):
        children.clear()
        with ScriptedServer([{"json": big, "drip": 0.02}]) as server:
            due = time.monotonic() + moment
            error = killed_when(lambda due=due: children and time.monotonic() > due, recorder(server.url), children)
            if error is not None and server.seen:
                assert error.details["charged"] == "unknown"
    assert_whole(state)
    assert not journalled(state)


def test_a_caller_killed_while_the_answer_is_on_its_way_leaves_a_journal_that_is_recovered(
    parent: Callable[..., Parent], state: Path
) -> None:
    with ScriptedServer([{"json": GOOD | {"paid": True}, "delay": 0.5}]) as server:
        caller = parent(server)
        server.wait_for(1)
        os.killpg(caller.process.pid, signal.SIGKILL)
        caller.process.wait()
        assert recover(state) == []  # its recorder is still at work
        eventually(lambda: [j for j in journalled(state) if j.ended], "the recorder did not finish")
        eventually(lambda: [k for k in recover(state) if k.path], "the journal was not recovered")
    [[kept]] = stored(state)
    assert json.loads(kept.body)["paid"] is True
    assert not journalled(state)
    assert_whole(state)


def test_a_caller_killed_while_it_stores_is_recovered_too(parent: Callable[..., Parent], state: Path) -> None:
    with ScriptedServer([{"json": GOOD}]) as server:
        caller = parent(server, hang_in_store=True)
        eventually((state / "storing").exists, "it never stored")
        assert recover(state) == []  # the caller holds its journal
        caller.process.kill()
        caller.process.wait()
    assert [k.path for k in recover(state)] != [None]
    assert len(stored(state)) == 1
    assert recover(state) == []


def test_the_next_recording_recovers_what_is_left(parent: Callable[..., Parent], recorder: Make, state: Path) -> None:
    with ScriptedServer([{"json": GOOD}, {"json": GOOD}]) as server:
        caller = parent(server, hang_in_store=True)
        eventually((state / "storing").exists, "it never stored")
        caller.process.kill()
        caller.process.wait()
        answer = recorder(server.url).send(WireRequest("GET", "/product"))
    assert len(stored(state)) == 2
    assert "in the inbox now" in answer.source.notes[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_caller_ends_with_130_and_keeps_what_came(
    parent: Callable[..., Parent], state: Path, number: int
) -> None:
    with ScriptedServer([WAITING]) as server:
        caller = parent(server, policy={"budget": 100.0})
        eventually(lambda: any(j.exchanges for j in journalled(state)), "nothing was journalled")
        caller.process.send_signal(number)
        assert caller.report() == {}
    assert caller.process.returncode == 130
    assert len(stored(state)) == 1
    assert not journalled(state)
    assert_whole(state)


def test_ctrl_c_while_waiting_for_the_answer_ends_the_recorder(parent: Callable[..., Parent], state: Path) -> None:
    with ScriptedServer([{"fault": "stall_after_request"}]) as server:
        caller = parent(server)
        server.wait_for(1)
        begun = time.monotonic()
        os.killpg(caller.process.pid, signal.SIGINT)
        caller.report()
        assert time.monotonic() - begun < 5
        assert len(server.seen) == 1
    assert caller.process.returncode == 130
    assert not journalled(state)


def test_a_disk_that_fills_up_costs_no_answer_and_harms_no_file(
    parent: Callable[..., Parent], recorder: Make, state: Path
) -> None:
    body = {"json": GOOD | {"csv": list(range(20_000))}}
    with ScriptedServer([{"json": GOOD}, body]) as server:
        recorder(server.url).send(TOKEN)
        before = {p: p.read_bytes() for p in (state / "inbox").iterdir()}
        report = parent(server, file_limit=20_000).report()
    assert report["size"] > 100_000
    assert "not recorded" in report["notes"][0]
    assert {p: p.read_bytes() for p in (state / "inbox").iterdir()} == before
    assert_whole(state)


def test_two_processes_cannot_record_under_one_name(parent: Callable[..., Parent], recorder: Make) -> None:
    with ScriptedServer([{"json": GOOD, "delay": 1.0}, {"json": GOOD}]) as server:
        first = parent(server, name="mine")
        server.wait_for(1)
        with pytest.raises(KeepaCliError) as caught:
            recorder(server.url, name="mine").send(TOKEN)
        assert len(server.seen) == 1
        assert "mine" in first.report()["name"]
    assert caught.value.kind is Kind.IO_ERROR


def test_the_calling_process_never_imports_an_http_library(parent: Callable[..., Parent]) -> None:
    with ScriptedServer([{"json": GOOD}]) as server:
        assert parent(server).report()["loaded"] == []


def test_a_recorder_that_hangs_is_ended(recorder: Make, state: Path, clean_env: dict[str, str]) -> None:
    with ScriptedServer([{"fault": "stall_after_request"}]) as server:
        transport = recorder(server.url)
        (state / "journal" / "x").mkdir(parents=True)
        job = transport._job(TOKEN, "x", state / "journal" / "x" / "a.jsonl", True)
        ended = child.run(job, clean_env, origin="sandbox", limit=1.0)
    assert ended.died
