"""The recorder's hook: it never gets in the way of an answer and never writes what was not sanitized."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes import journal, sanitize, scan
from keepa_cli.cassettes.journal import Journal
from keepa_cli.core.redact import Redactor
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.transport import child, quarantine
from keepa_cli.transport.keeping import Kept
from keepa_cli.transport.recorder import Channel, error_in, error_out, request_in, request_out
from keepa_cli.transport.tape import Tape, to_exchange
from tests.cassettes.canary import KEY, encodings, exchange, leaked, placements


class VcrRequest:
    method = "GET"
    uri = f"http://127.0.0.1:1/token?key={KEY}"
    body_bytes = None

    def __init__(self) -> None:
        self.headers = {"Accept": "*/*", "X": (b"a", b"b")}


def vcr_response(body: bytes = b'{"a":1}') -> dict[str, Any]:
    return {"status": {"code": 200, "message": "OK"}, "headers": {"X": ["1"]}, "body": {"string": body}}


def tape_on(path: Path, **more: Any) -> Tape:
    given = {"monotonic": lambda: 1.0} | more
    return Tape(Journal.create(path, {"name": "x"}), Redactor(KEY), WireRequest("GET", "/token"), **given)


def test_an_exchange_is_journalled_sanitized(tmp_path: Path) -> None:
    tape = tape_on(tmp_path / "j")
    tape.sending(1)
    tape.exchanged(VcrRequest(), vcr_response(json.dumps({"k": KEY}).encode()))
    found = journal.read(tmp_path / "j")
    assert (tape.kept, tape.problems, found.sent) == (1, [], 1)
    assert found.exchanges[0].url == "https://api.keepa.com/token"
    assert found.notes[0]["sanitizer"] == sanitize.SANITIZER_VERSION
    assert not leaked((tmp_path / "j").read_bytes())


@pytest.mark.parametrize("junk", [{}, {"status": {"code": "x"}}, {"status": {"code": 1}, "headers": 5, "body": {}}])
def test_the_hook_never_raises(tmp_path: Path, junk: dict[str, Any]) -> None:
    tape = tape_on(tmp_path / "j")
    tape.exchanged(VcrRequest(), junk)
    assert tape.problems
    assert not leaked((tmp_path / "j").read_bytes())


def test_a_journal_that_cannot_be_written_is_reported_and_not_raised(tmp_path: Path) -> None:
    made = Journal.create(tmp_path / "j", {})
    made.close()
    tape = Tape(made, Redactor(), WireRequest("GET", "/token"), monotonic=lambda: 1.0)
    tape.exchanged(VcrRequest(), vcr_response())
    assert (tape.kept, len(tape.problems)) == (0, 1)


def test_a_failing_sanitizer_leaves_a_marker_and_no_body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitize, "sanitize", lambda exchange, redactor: None)
    tape = tape_on(tmp_path / "j")
    tape.exchanged(VcrRequest(), vcr_response(b"SECRET"))
    found = journal.read(tmp_path / "j")
    assert found.notes[0]["withheld"] is True
    assert b"SECRET" not in (tmp_path / "j").read_bytes()
    assert "sanitized" in tape.problems[0]


def test_an_interruption_waits_until_the_line_is_written(tmp_path: Path) -> None:
    order: list[str] = []

    @contextmanager
    def undisturbed() -> Iterator[None]:
        yield
        order.append(str(len(journal.read(tmp_path / "j").exchanges)))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tape_on(tmp_path / "j", undisturbed=undisturbed).exchanged(VcrRequest(), vcr_response())
    assert order == ["1"]


def test_values_of_any_type_become_an_exchange() -> None:
    made = to_exchange(VcrRequest(), vcr_response() | {"body": {"string": "tëxt"}})
    assert made.body == "tëxt".encode()
    assert made.request_headers == {"Accept": ["*/*"], "X": ["a", "b"]}


# What is kept of an answer that the scan objects to


@pytest.mark.parametrize("place", sorted(placements()))
def test_a_cut_exchange_passes_the_scan_wherever_the_key_was(place: str) -> None:
    redactor = Redactor(KEY)
    for encode in (encodings()["raw"], list(encodings().values())[-1]):
        made = placements()[place](encode(KEY))
        clean = quarantine.cut(made, redactor)
        assert scan.scan_exchange(clean, "", redactor) == []
        assert clean.status == made.status


def test_only_the_offending_strings_are_cut() -> None:
    body = json.dumps({"a": [1.10, "fine", f"https://x.example/?key={KEY}"], "big": 12345678901234567890}).encode()
    made = exchange(body=body)
    clean = quarantine.cut(made, Redactor(KEY))
    assert clean.body == body.replace(f"https://x.example/?key={KEY}".encode(), b"[REDACTED]")
    assert quarantine.cut(clean, Redactor(KEY)) is clean


def test_an_answer_of_many_strings_is_cut_quickly() -> None:
    rows = [f"string number {i}" for i in range(20_000)]
    rows[777] = KEY
    made = exchange(body=json.dumps(rows).encode())
    assert json.loads(quarantine.cut(made, Redactor(KEY)).body)[777] == "[REDACTED]"


@settings(max_examples=40, deadline=None)
@given(body=st.binary(max_size=60), header=st.text(max_size=10), at=st.integers(0, 60))
def test_whatever_the_exchange_the_key_does_not_survive(body: bytes, header: str, at: int) -> None:
    redactor = Redactor(KEY)
    made = replace(exchange(body=body[:at] + KEY.encode() + body[at:]), headers={header: [KEY], "X": ["y"]})
    clean = quarantine.cut(made, redactor)
    assert scan.scan_exchange(clean, "", redactor) == []


# What goes between the two processes


def test_requests_and_errors_survive_the_pipe() -> None:
    request = WireRequest("POST", "/query", (("a", "ü"), ("b", "")), b"\xff\x00", "application/json")
    assert request_in(json.loads(json.dumps(request_out(request)))) == request
    from keepa_cli.core.errors import KeepaCliError, Kind

    error = KeepaCliError(Kind.TIMEOUT, "m", details={"a": 1}, next_actions=["n"], retryable=False)
    again = error_in(json.loads(json.dumps(error_out(error))))
    assert (again.kind, again.message, again.details, again.next_actions, again.retryable) == (
        Kind.TIMEOUT, "m", {"a": 1}, ["n"], False,
    )  # fmt: skip


ANSWER = {"status": 200, "reason": "", "headers": {}, "size": 5, "fingerprint": "", "attempts": 1, "elapsed_ms": 1.0}


@pytest.mark.parametrize(
    ("said", "died"),
    [
        (b"", True),
        (b"not json\n", True),
        (json.dumps({"answer": ANSWER, "problems": []}).encode() + b"\nab", True),
        (json.dumps({"answer": ANSWER, "problems": []}).encode() + b"\na\nb\xffc", False),
        (b'{"stopped": true}\n', False),
    ],
)
def test_a_report_that_is_not_whole_is_a_death(said: bytes, died: bool) -> None:
    outcome = child._read(io.BytesIO(said), "live", None)
    assert outcome.died is died
    assert (outcome.response is None) or outcome.response.body == b"a\nb\xffc"


def test_a_caller_that_is_gone_does_not_disturb_the_recorder() -> None:
    class Gone(io.BytesIO):
        def write(self, data: Any) -> int:
            raise BrokenPipeError

    channel = Channel(Gone())
    channel.send({"a": 1})
    channel.send({"a": 2}, b"body")


def test_the_recorder_gets_a_small_environment() -> None:
    given = {"PATH": "/bin", "KEEPA_API_KEY": KEY, "AWS_SECRET": "x", "https_proxy": "p", "LC_ALL": "C"}
    env = child.environment(given | {"PYTHONPATH": "/mine"})
    assert not {"KEEPA_API_KEY", "AWS_SECRET"} & set(env)
    assert (env["PATH"], env["https_proxy"], env["LC_ALL"]) == ("/bin", "p", "C")
    assert env["PYTHONPATH"].endswith("/mine")


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (Kept("x", path=Path("x.yaml")), "in the inbox now"),
        (Kept("x", kept_at=Path("q/x.yaml")), "was cut into"),
        (Kept("x", problems=["The disk is full."]), "The disk is full."),
        (Kept("x", sent=1), "tokens may have been spent"),
        (Kept("x"), "nothing was sent"),
    ],
)
def test_what_became_of_a_killed_recording_is_told(kept: Kept, said: str) -> None:
    assert said in kept.recovered()
