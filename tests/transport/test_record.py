"""Recording: the caller's answer, the inbox, and what is refused before anything is paid for."""

from __future__ import annotations

import gzip
import json
import os
import stat
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.cassettes import recordings
from keepa_cli.cassettes.codec import parse_cassette
from keepa_cli.cassettes.model import Exchange
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import lock
from keepa_cli.core.redact import REDACTED
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.transport import child, record
from keepa_cli.transport.live import LiveTransport
from keepa_cli.transport.policy import NO_RETRY, RetryPolicy
from keepa_cli.transport.record import RecordTransport
from tests.cassettes.canary import KEY, encodings, leaked
from tests.support.scripted_server import ScriptedServer, Step

TOKEN = WireRequest("GET", "/token")
GOOD = {"tokensLeft": 9, "refillIn": 1000, "refillRate": 5, "tokensConsumed": 0}
EMPTY = GOOD | {"tokensLeft": 0, "refillIn": 5, "error": {"type": "notEnoughToken", "message": "m", "details": ""}}
FAST = RetryPolicy(base=0.01)
Make = Callable[..., RecordTransport]


@pytest.fixture
def state(home: Path) -> Path:
    return home / "state"


@pytest.fixture
def recorder(state: Path, clean_env: dict[str, str]) -> Make:
    def store(exchanges: Any, meta: dict[str, Any]) -> Path:
        return recordings.store(state, exchanges, meta["name"], meta, datetime.now(UTC))

    def make(base: str, **more: Any) -> RecordTransport:
        given = {"state_dir": state, "store": store, "timeout": 10.0, "policy": FAST, "env": clean_env} | more
        return RecordTransport(base, KEY, **given)

    return make


def stored(state: Path) -> list[list[Exchange]]:
    return [parse_cassette(r.path.read_bytes(), r.path.name) for r in recordings.recordings(state)]


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def assert_no_key(folder: Path) -> None:
    found = {name: leaked(data) for name, data in files(folder).items()}
    assert not {name: forms for name, forms in found.items() if forms}


def failure_of(act: Callable[[], Any]) -> KeepaCliError:
    with pytest.raises(KeepaCliError) as caught:
        act()
    return caught.value


def test_the_caller_gets_the_untouched_answer_and_the_inbox_a_clean_one(recorder: Make, state: Path) -> None:
    body = {"tokensLeft": 9, "error": {"message": f"token {KEY}"}, "big": 12345678901234567890}
    with ScriptedServer([{"json": body, "headers": {"Set-Cookie": "id=1", "X-Key": KEY}, "encode": "gzip"}]) as server:
        answer = recorder(server.url, name="status").send(TOKEN)
    assert json.loads(answer.body) == body
    assert answer.headers["x-key"] == (KEY,)
    assert answer.source.kind == "record"
    assert answer.source.notes == ()
    assert answer.source.recorded_at
    assert Path(answer.source.name).parent == state / "inbox"
    [[kept]] = stored(state)
    assert json.loads(kept.body)["big"] == body["big"]
    assert REDACTED in json.loads(kept.body)["error"]["message"]
    assert_no_key(state)
    assert not list((state / "journal").rglob("*.jsonl"))


def test_no_spelling_of_the_key_reaches_the_disk(recorder: Make, state: Path) -> None:
    spelled = {name: encode(KEY).decode("latin-1") for name, encode in encodings().items()}
    moved = {
        "status": 302,
        "headers": {"Location": f"https://api.keepa.com/x?apikey={spelled['percent']}"},
        "text": KEY,
    }
    echoed = {"status": 404, "json": spelled, "encode": "gzip", "headers": {"Set-Cookie": [f"a={KEY}", "b=1"]}}
    with ScriptedServer([moved, echoed]) as server:
        assert KEY in recorder(server.url).send(TOKEN).body.decode()
        answer = recorder(server.url).send(WireRequest("GET", "/product", (("asin", "B1"), ("x", KEY))))
        assert json.loads(answer.body) == spelled
    assert len(stored(state)) == 2
    assert_no_key(state)


def test_real_bodies_are_kept_token_for_token(recorder: Make, state: Path, shared_data: Path) -> None:
    def tokens(data: bytes) -> Any:
        return json.loads(data, parse_int=str, parse_float=str, object_pairs_hook=list)

    for path in sorted(shared_data.rglob("*.json")):
        with ScriptedServer([{"body": path.read_bytes()}]) as server:
            answer = recorder(server.url, name=path.stem).send(WireRequest("GET", "/product", (("asin", path.stem),)))
        assert answer.source.notes == ()
        assert answer.body == path.read_bytes()
        kept = parse_cassette(Path(answer.source.name).read_bytes(), path.name)[0]
        assert tokens(kept.body) == tokens(path.read_bytes())


def test_the_note_beside_it_tells_where_and_when(recorder: Make, state: Path) -> None:
    with ScriptedServer([{"json": GOOD}]) as server:
        recorder(server.url).send(TOKEN)
    [recording] = recordings.recordings(state)
    meta = recording.meta
    assert (meta["origin"], meta["base_url_kind"], meta["complete"]) == ("sandbox", "other", True)
    assert meta["tokens"][0]["tokens_left"] == 9
    assert meta["durations_ms"][0] > 0
    assert datetime.fromisoformat(meta["recorded_at"]).tzinfo
    assert {"keepa-cli", "python", "vcrpy", "requests", "urllib3"} <= set(meta["versions"])
    assert recording.name == record.default_name(TOKEN)
    assert "127.0.0.1" not in recording.path.read_text(encoding="utf-8") + json.dumps(dict(meta))


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_only_its_owner_can_read_what_is_kept(recorder: Make, state: Path) -> None:
    with ScriptedServer([{"json": GOOD}]) as server:
        recorder(server.url).send(TOKEN)
    for path in state.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


PARITY: list[Step] = [
    {"json": GOOD | {"text": "ü"}},
    {"text": json.dumps({"csv": list(range(60_000))}), "encode": "gzip", "chunked": True},
    {"json": GOOD, "headers": {"X-Two": ["a", "b"]}, "reason": "Fine"},
    {"body": b"\x89PNG\r\n\x1a\n\x00\xff", "headers": {"Content-Type": "image/png"}},
    {"body": b'{"plain":1}', "headers": {"Content-Encoding": "gzip"}},
    {"body": gzip.compress(b'{"a":') + gzip.compress(b"1}"), "headers": {"Content-Encoding": "gzip"}},
    {"body": gzip.compress(b"x" * 999)[:-9], "headers": {"Content-Encoding": "gzip"}},
    {"status": 302, "headers": {"Location": "https://elsewhere.example/?key=x"}, "text": "moved"},
    {"status": 404, "text": "<html>"},
    {"json": GOOD, "cut": 0.5},
    {"fault": "reset_before_answer"},
    {"fault": "refused"},
]


def outcome(transport: Any, request: WireRequest) -> Any:
    try:
        answer = transport.send(request)
    except KeepaCliError as error:
        same = {k: v for k, v in error.details.items() if k not in {"http_status", "recording"}}
        return error.kind, error.message, same
    headers = {k: v for k, v in answer.headers.items() if k not in {"date", "transfer-encoding"}}
    return answer.status, answer.reason, headers, answer.body, answer.source.fingerprint, answer.source.attempts


@pytest.mark.parametrize("step", PARITY, ids=range(len(PARITY)))
def test_an_answer_is_the_same_recorded_or_not(recorder: Make, step: Step) -> None:
    request = WireRequest("GET", "/product", (("asin", "B1,B2"), ("term", "a b&ü"), ("flag", "")))
    with ScriptedServer([step]) as server:
        plain = outcome(LiveTransport(server.url, KEY, 5.0, NO_RETRY), request)
    with ScriptedServer([step]) as server:
        recorded = outcome(recorder(server.url, policy=NO_RETRY, timeout=5.0), request)
        asked = [seen.target for seen in server.seen]
    assert recorded == plain
    assert asked == [request.url("", (("key", KEY),))] * len(asked)


def test_a_post_is_recorded_with_its_body(recorder: Make, state: Path) -> None:
    request = WireRequest("POST", "/query", (("domain", "1"),), b'{"perPage":50}', "application/json; charset=UTF-8")
    with ScriptedServer([{"json": GOOD}]) as server:
        recorder(server.url).send(request)
        assert server.seen[0].body == request.body
        assert server.seen[0].headers["Content-Type"] == request.content_type
    [[kept]] = stored(state)
    assert (kept.method, kept.request_body) == ("POST", request.body)


def test_silence_is_a_timeout_in_the_recorder_too(recorder: Make, state: Path) -> None:
    with ScriptedServer([{"fault": "stall_after_request"}]) as server:
        error = failure_of(lambda: recorder(server.url, timeout=0.3).send(TOKEN))
        assert len(server.seen) == 1
    assert (error.kind, error.details["charged"]) == (Kind.TIMEOUT, "unknown")
    assert not stored(state)


def test_every_attempt_is_part_of_the_recording(recorder: Make, state: Path) -> None:
    waits: list[float] = []
    steps = [{"status": 429, "json": EMPTY}, {"status": 503, "text": "<html>"}, {"json": GOOD}]
    with ScriptedServer(steps) as server:
        transport = recorder(server.url, on_wait=lambda seconds, error: waits.append(seconds))
        answer = transport.send(TOKEN)
    assert (answer.status, answer.source.attempts, len(waits)) == (200, 3, 2)
    assert [[e.status for e in exchanges] for exchanges in stored(state)] == [[429, 503, 200]]


def test_a_write_is_sent_once(recorder: Make) -> None:
    with ScriptedServer([{"status": 503}]) as server:
        assert recorder(server.url).send(WireRequest("POST", "/tracking", (), b"{}"), retry=False).status == 503
        assert len(server.seen) == 1


def test_a_lost_answer_keeps_what_came_before_it(recorder: Make, state: Path) -> None:
    with ScriptedServer([{"status": 429, "json": EMPTY}, {"fault": "reset_before_answer"}]) as server:
        error = failure_of(lambda: recorder(server.url).send(TOKEN))
    assert error.kind is Kind.OUTCOME_UNKNOWN
    [recording] = recordings.recordings(state)
    assert error.details["recording"] == str(recording.path)
    assert recording.meta["complete"] is False


def refused(recorder: Make, **more: Any) -> KeepaCliError:
    with ScriptedServer([{"json": GOOD}]) as server:
        error = failure_of(lambda: recorder(server.url, **more).send(TOKEN))
        assert not server.seen
    return error


@pytest.mark.parametrize("folder", ["inbox", "journal", "quarantine"])
def test_a_folder_that_cannot_be_written_is_found_before_paying(recorder: Make, state: Path, folder: str) -> None:
    (state / folder).write_text("in the way", encoding="utf-8")
    error = refused(recorder)
    assert error.kind is Kind.IO_ERROR
    assert folder in error.message


def test_a_full_disk_is_found_before_paying(recorder: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "ROOM", 2**60)
    error = refused(recorder)
    assert error.kind is Kind.IO_ERROR
    assert error.details["free_bytes"] < error.details["needed_bytes"]


@pytest.mark.parametrize("name", ["../x", "a/b", "/etc/x", "..", "CON", "x" * 300])
def test_a_name_that_is_no_file_name_is_refused_before_paying(recorder: Make, name: str) -> None:
    assert refused(recorder, name=name).kind is Kind.INVALID_ARGUMENTS


@pytest.mark.parametrize("holder", ["", "recorder"])
def test_a_second_recorder_of_the_same_name_is_refused_before_paying(recorder: Make, state: Path, holder: str) -> None:
    with lock(state / "journal" / "mine" / holder, what="the other recorder"):
        error = refused(recorder, name="mine")
        assert (error.kind, error.retryable) == (Kind.IO_ERROR, True)
        with ScriptedServer([{"json": GOOD}]) as server:
            recorder(server.url, name="other").send(TOKEN)


def test_threads_record_side_by_side_and_lose_nothing(recorder: Make, state: Path) -> None:
    with ScriptedServer(answer=lambda seen: {"json": GOOD | {"i": seen.value("i")}}) as server:
        transport = recorder(server.url)
        wrong: list[Any] = []

        def work(thread: int) -> None:
            for i in (thread, 0):  # one request of its own, one that all threads make
                try:
                    answer = transport.send(WireRequest("GET", "/token", (("i", str(i)),)))
                    if json.loads(answer.body)["i"] != str(i) or answer.source.notes:
                        wrong.append((i, answer))
                except KeepaCliError as error:
                    wrong.append(error.message)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(server.seen) == 16
    assert not wrong
    kept = sorted(json.loads(e.body)["i"] for exchanges in stored(state) for e in exchanges)
    assert kept == sorted([*map(str, range(1, 9)), *["0"] * 8])


@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), ValueError(KEY)])
def test_an_answer_that_cannot_be_stored_is_delivered_and_stored_later(
    recorder: Make, state: Path, problem: Exception
) -> None:
    def full(exchanges: Any, meta: Any) -> Path:
        raise problem

    with ScriptedServer([{"json": GOOD}, {"json": GOOD}]) as server:
        answer = recorder(server.url, store=full).send(TOKEN)
        assert json.loads(answer.body) == GOOD
        assert "not recorded" in answer.source.notes[0]
        assert "journal" in answer.source.notes[0]
        assert KEY not in answer.source.notes[0]
        assert not stored(state)
        recorder(server.url).send(WireRequest("GET", "/token", (("i", "2"),)))
    assert len(stored(state)) == 2


def patched(tmp_path: Path, env: dict[str, str], code: str) -> dict[str, str]:
    """The environment of a recorder in which `code` runs first."""
    (tmp_path / "patch").mkdir(exist_ok=True)
    (tmp_path / "patch" / "sitecustomize.py").write_text(code, encoding="utf-8")
    return env | {"PYTHONPATH": os.pathsep.join([str(tmp_path / "patch"), env["PYTHONPATH"]])}


BROKEN = """
import keepa_cli.cassettes.sanitize as module
def sanitize(exchange, redactor): {body}
module.sanitize = sanitize
"""


@pytest.mark.parametrize("body", ["raise RuntimeError(exchange.url)", "return None", "return (None, {})"])
def test_an_answer_that_cannot_be_sanitized_is_delivered_but_not_written(
    recorder: Make, state: Path, clean_env: dict[str, str], body: str, home: Path
) -> None:
    env = patched(home, clean_env, BROKEN.format(body=body))
    with ScriptedServer([{"json": GOOD | {"echo": KEY}}]) as server:
        answer = recorder(server.url, env=env).send(TOKEN)
    assert json.loads(answer.body)["echo"] == KEY
    assert "not recorded" in answer.source.notes[0]
    assert not stored(state)
    assert_no_key(state)


def test_what_the_scan_objects_to_goes_to_the_quarantine_cut(
    recorder: Make, state: Path, clean_env: dict[str, str], home: Path
) -> None:
    env = patched(home, clean_env, BROKEN.format(body="return exchange, {}"))
    body = GOOD | {"echo": f"x {KEY}", "title": "kept", "tokensConsumed": 3, "price": 12.5}
    with ScriptedServer([{"json": body, "headers": {"X-Key": KEY}}]) as server:
        error = failure_of(lambda: recorder(server.url, env=env, name="mine").send(TOKEN))
    assert (error.kind, error.details["charged"]) == (Kind.SECRET_DETECTED, "yes")
    assert error.details["findings"]
    kept_at = Path(error.details["kept_at"])
    assert kept_at.parent == state / "quarantine"
    [kept] = parse_cassette(kept_at.read_bytes(), kept_at.name)
    assert json.loads(kept.body) == body | {"echo": REDACTED}
    assert not stored(state)
    assert_no_key(state)
    assert not leaked(json.dumps([error.message, error.details]).encode())


def test_no_log_of_the_recorder_holds_the_key(state: Path, clean_env: dict[str, str], home: Path) -> None:
    env = patched(home, clean_env, "import logging; logging.basicConfig(level=logging.DEBUG)")
    with ScriptedServer([{"json": GOOD}]) as server:
        transport = RecordTransport(server.url, KEY, state_dir=state, store=lambda e, m: state, env=env)
        (state / "journal" / "x").mkdir(parents=True)
        job = transport._job(TOKEN, "x", state / "journal" / "x" / "a.jsonl", True)
        ended = child.run(job, env, origin="sandbox", limit=30)
    assert ended.response is not None
    assert "urllib3" in ended.stderr
    assert "CANARY" not in ended.stderr
    assert_no_key(state)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
def test_neither_arguments_nor_environment_of_the_recorder_hold_the_key(
    recorder: Make, clean_env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    start = child._start
    monkeypatch.setattr(child, "_start", lambda env: started.append(start(env)) or started[-1])
    with ScriptedServer([{"json": GOOD, "delay": 0.3}]) as server:
        transport = recorder(server.url, env=clean_env | {"KEEPA_API_KEY": KEY, "SECRET_OF_MINE": KEY})
        caller = threading.Thread(target=transport.send, args=(TOKEN,))
        caller.start()
        server.wait_for(1)
        process = Path(f"/proc/{started[0].pid}")
        seen = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        caller.join()
    assert b"recorder" in seen
    assert not leaked(seen)
    assert b"KEEPA" not in seen
