"""Verbs of the HTTP client and the recorder, run against a real scripted server."""

from __future__ import annotations

import contextlib
import functools
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from keepa_cli import ops
from keepa_cli.cassettes import recordings, sanitize
from keepa_cli.cassettes.codec import parse_cassette
from keepa_cli.cassettes.journal import Journal
from keepa_cli.cassettes.library import Library
from keepa_cli.cassettes.model import Exchange
from keepa_cli.core.context import Context
from keepa_cli.core.errors import Kind
from keepa_cli.core.redact import REDACTED, Redactor
from keepa_cli.engine import Flags, Options, run
from keepa_cli.keepa import answer
from keepa_cli.keepa.wire import Source, WireRequest, WireResponse
from keepa_cli.transport.live import LiveTransport
from keepa_cli.transport.policy import RetryPolicy
from keepa_cli.transport.record import RecordTransport
from keepa_cli.transport.replay import ReplayTransport
from keepa_cli.transport.tape import Tape, recording
from tests.cases_adapters import verb
from tests.support.scripted_server import ScriptedServer, Seen

KEY = "CASEKEY" * 9 + "X"
OPERATIONS = {"product": "products.get", "token": "tokens.status"}
NEUTRAL = {
    Kind.REQUEST_REJECTED: "invalid_request",
    Kind.AUTH_ERROR: "payment_required",
    Kind.API_ERROR: "not_found",
    Kind.NOT_ENOUGH_TOKEN: "insufficient_tokens",
    Kind.RATE_LIMITED: "insufficient_tokens",
    Kind.UPSTREAM_UNAVAILABLE: "server_error",
    Kind.OUTCOME_UNKNOWN: "bad_payload",
    Kind.CONTRACT_ERROR: "bad_payload",
    Kind.TIMEOUT: "timeout",
    Kind.TRANSPORT_ERROR: "network",
}


def neutral(kind: Kind, details: dict[str, Any]) -> str:
    """The case's name of a failure. A reset is told apart from a cut body, an odd status from a 404, by the details."""
    if details.get("error_type") == "connection_reset":
        return "network"
    if kind is Kind.API_ERROR and details.get("http_status") != 404:
        return "invalid_request"
    return NEUTRAL[kind]


@verb("http.classify")
def classify(given: dict[str, Any]) -> dict[str, Any]:
    errors = [answer.error_of(WireResponse(s, "", {}, b"", Source("live")), {}) for s in given["statuses"]]
    return {
        "kinds": [neutral(e.kind, e.details) for e in errors if e],
        "retryable": [e.retryable for e in errors if e],
    }


@verb("http.script")
def script(given: dict[str, Any], home: Path) -> dict[str, Any]:
    call = given["call"]
    with ScriptedServer(given["server"]) as server:
        sleeps: list[float] = []

        def sleep(seconds: float) -> None:
            sleeps.append(seconds)
            server.attempt_failed()

        ctx = _context(home, server)
        ctx.services["live"] = LiveTransport(
            server.url,
            KEY,
            call.get("timeout_ms", 5000) / 1000,
            RetryPolicy(attempts=1 + call["max_retries"]) if "max_retries" in call else RetryPolicy(),
            sleep=sleep,
            redactor=ctx.redactor,
        )
        start = time.monotonic()
        envelope = run(ops.find(OPERATIONS[call["op"]]), _params(call), ctx, Options(flags=Flags(live=True), yes=True))
        elapsed = (time.monotonic() - start) * 1000
    assert KEY not in json.dumps(envelope)
    return {
        "outcome": _outcome(envelope, given["server"]),
        "requests_sent": len(server.seen),
        "paid_requests_sent": sum(seen.path != "/token" for seen in server.seen),
        "sleep_ms_total": round(sum(sleeps) * 1000),
        "elapsed_ms": elapsed,
        "tokens": _tokens(envelope["token_bucket"]),
        "ids_per_request": [len(_ids(seen)) for seen in server.seen],
        "same_ids": _same([_ids(seen) for seen in server.seen]),
    }


def _context(home: Path, server: ScriptedServer) -> Context:
    env = {
        "KEEPA_BASE_URL": server.url,
        "KEEPA_API_KEY": KEY,
        "KEEPA_CLI_CONFIG": str(home / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "state"),
    }
    return Context(env=env, cwd=home / "work")


def _params(call: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the operation: the ids asked for and whatever else the case names."""
    options = {k: v for k, v in call.items() if k not in {"op", "asins", "rule", "timeout_ms", "max_retries"}}
    if call["op"] == "token":
        return options
    rule = call.get("rule")
    return options | {"asin": [rule["format"] % i for i in range(rule["count"])] if rule else call["asins"]}


def _outcome(envelope: dict[str, Any], steps: list[dict[str, Any]]) -> dict[str, Any]:
    if envelope["ok"]:
        rows = envelope["data"].get("items", [])
        found = sum(row["status"] == "found" for row in rows)
        return {"ok": True, "rows": rows, "rows_found": found}
    error = envelope["error"]
    details = error["details"]
    return {
        "ok": False,
        "error": {
            "kind": neutral(Kind(error["kind"]), details),
            "http_status": details["http_status"],
            "type": details["error_type"],
            "charged": details["charged"],
            "retryable": error["retryable"],
            "message_contains": [part for part in _worth_telling(steps[-1]) if part in error["message"]],
        },
    }


def _worth_telling(step: dict[str, Any]) -> list[str]:
    """What the server said that a user needs: its message, and the parameters named in its details."""
    error = step.get("json", {}).get("error", {})
    named = json.loads(error.get("details") or "[]")
    return [error.get("message", ""), *(row["type"] for row in named)]


def _tokens(bucket: dict[str, Any]) -> Any:
    return {"left": bucket["tokens_left"]} if "tokens_left" in bucket else "unchanged"


def _ids(seen: Seen) -> list[str]:
    return [asin for asin in (seen.value("asin") or "").split(",") if asin]


def _same(asked: list[list[str]]) -> list[list[int]]:
    return [[i, j] for j in range(len(asked)) for i in range(j) if asked[i] == asked[j]]


@verb("cassette.record")
def record(given: dict[str, Any], home: Path, clean_env: dict[str, str]) -> dict[str, Any]:
    """Record one exchange; `[SCRUBBED]` of the case is the product's own mark inside the value."""
    exchange = given["exchanges"][0]
    answered = exchange["response"]
    step = {"status": answered["status"], "headers": answered["headers"], "text": answered["body"]}
    request = WireRequest(exchange["request"]["method"], urlsplit(exchange["request"]["url"]).path)
    secret = given["secret"]
    with ScriptedServer([step]) as server:
        live = _recorder(server.url, secret, home, clean_env).send(request)
    replayed = ReplayTransport(Library([home / "state" / "inbox"])).send(request)
    body = json.loads(replayed.body)
    for path, mark in given["scrub_response"].items():
        *parents, last = path.split(".")
        owner = functools.reduce(lambda value, name: value[name], parents, body)
        owner[last] = mark if REDACTED in owner[last] and secret not in owner[last] else owner[last]
    written = b"".join(p.read_bytes() for p in (home / "state").rglob("*") if p.is_file())
    return {
        "live_body_contains": [secret] if secret.encode() in live.body else [],
        "replay_body": body,
        "must_not_contain": [secret] if secret.encode() not in written + replayed.body else [],
    }


@verb("cassette.interrupt")
def interrupt(
    given: dict[str, Any], home: Path, clean_env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """A program that records over an existing recording and then raises; and a scrubber that returns nothing."""
    existing = recordings.store(home / "state", _exchanges(given["existing"]), "token", {}, datetime.now(UTC))
    before = existing.read_bytes()
    request = WireRequest("GET", "/token")
    with ScriptedServer([{"json": {"tokensLeft": 2}}], repeat_last=True) as server:
        with contextlib.suppress(RuntimeError):
            _recorder(server.url, KEY, home, clean_env, "token").send(request)
            raise RuntimeError(given["run"][-1])
        after = [path for path in (home / "state" / "inbox").glob("*.yaml") if parse_cassette(path.read_bytes(), "x")]
        monkeypatch.setattr(sanitize, "sanitize", lambda exchange, redactor: None)
        tape = Tape(Journal.create(home / "j", {}), Redactor(), request, monotonic=time.monotonic)
        with recording(tape, 5.0):
            LiveTransport(server.url, KEY).send(request)
    return {
        "file_after_exception": "unchanged" if existing.read_bytes() == before else "changed",
        "file_parses": len(after) == 2,
        "hook_none": "error" if tape.problems else "ignored",
    }


def _recorder(base: str, key: str, home: Path, env: dict[str, str], name: str = "") -> RecordTransport:
    def store(exchanges: Any, meta: dict[str, Any]) -> Path:
        return recordings.store(home / "state", exchanges, meta["name"], meta, datetime.now(UTC))

    return RecordTransport(base, key, state_dir=home / "state", store=store, name=name, env=env)


def _exchanges(rows: list[dict[str, Any]]) -> list[Exchange]:
    return [
        Exchange(
            method=row["request"]["method"],
            url=row["request"]["url"],
            request_headers={},
            request_body=(row["request"]["body"] or "").encode(),
            status=row["response"]["status"],
            reason="",
            headers={name: [value] for name, value in row["response"]["headers"].items()},
            body=row["response"]["body"].encode(),
        )
        for row in rows
    ]
