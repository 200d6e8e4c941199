"""Verbs of the cassette library: replay, misses, round trips, threads, untrusted files, names."""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.cassettes import recordings
from keepa_cli.cassettes.codec import dump_cassette, parse_cassette
from keepa_cli.cassettes.fingerprint import fingerprint, request_path
from keepa_cli.cassettes.library import Library
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.names import file_name, safe_name
from keepa_cli.cassettes.vcr_serializer import deserialize
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.keepa.wire import WireRequest, WireResponse
from keepa_cli.transport.record import RecordTransport
from keepa_cli.transport.replay import ReplayTransport
from tests.cases_adapters import verb
from tests.support.scripted_server import ScriptedServer, Seen

KEY = "CASEKEY" * 9 + "X"
NEUTRAL = {Kind.CASSETTE_MISS: "no_match", Kind.CASSETTE_INVALID: "unsafe_or_invalid_cassette"}


@verb("cassette.replay")
def replay(given: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Requests in their order against one cassette; an answer is its tag, else its status."""
    exchanges = [
        _exchange({"url": row["url"]}, {"status": row["status"], "body": json.dumps({"tag": row.get("tag")})})
        for row in given["recorded"]
    ]
    _write(tmp_path / "cassettes" / "recorded.yaml", exchanges)
    transport = ReplayTransport(Library([tmp_path / "cassettes"], repeats=given.get("repeats", "once")))
    answers: list[Any] = []
    told = ""
    for url in given["requests"]:
        try:
            answer = transport.send(_request(url))
            answers.append(json.loads(answer.body)["tag"] or answer.status)
        except KeepaCliError as error:
            answers.append(NEUTRAL[error.kind])
            told += error.message
    count = len(given["recorded"])
    used_up = f"all {count} recorded answers for this request have been used" in told and "hold_last" in told
    return {"answers": answers, "error_text_contains": ["used"] if used_up else []}


@verb("cassette.replay_miss")
def replay_miss(given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A miss: what its text tells and hides. Told must be the endpoint and each parameter that differs."""
    exchanges = [_exchange(row["request"], row["response"]) for row in given["recorded"]]
    url = given["request"]
    error, network = _missed(exchanges, url, tmp_path, monkeypatch)
    differing = [d["parameter"] for d in error.details["nearest"]["differences"]]
    wanted = [request_path(url).strip("/"), *differing]
    return {
        "error": NEUTRAL[error.kind],
        "network_used": bool(network),
        "text_contains": [word for word in wanted if word in error.message],
        "text_must_not_contain": _hidden(url, error),
    }


@verb("cassette.modes")
def modes(given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A miss in a mode that must not reach the network, with neither connect nor look-up of a name."""
    assert given["mode"] == "replay"
    exchanges = [_exchange(row["request"], row["response"]) for row in given["recorded"]]
    error, network = _missed(exchanges, given["request"], tmp_path, monkeypatch)
    return {
        "error": NEUTRAL[error.kind],
        "network_used": bool(network),
        "dns_used": "getaddrinfo" in network,
        "text_contains": [given["mode"]] if f"mode {given['mode']}" in error.message else [],
        "text_must_not_contain": _hidden(given["request"], error),
    }


@verb("cassette.roundtrip")
def roundtrip(given: dict[str, Any], home: Path, clean_env: dict[str, str]) -> dict[str, Any]:
    """Recorded from a real server by the recorder process, then replayed from the inbox."""
    requests = [WireRequest("GET", "/probe", (("n", str(n)),)) for n in range(len(given["exchanges"]))]
    steps = [_step(row) for row in given["exchanges"]]
    with ScriptedServer(steps) as server:
        for request in requests:
            _recorder(server.url, home, clean_env).send(request)
    transport = ReplayTransport(Library([home / "state" / "inbox"]))
    try:
        return {"replayed": [_shown(transport.send(request)) for request in requests], "raises": False}
    except KeepaCliError as error:
        return {"replayed": [], "raises": error.kind.value}


@verb("cassette.threads")
def threads(
    given: dict[str, Any], home: Path, clean_env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """As many threads as calls, recording; then replaying, `repeat_runs` times, each time from a fresh library."""
    requests = [_request(given["url_format"] % n) for n in range(given["threads"])]
    with ScriptedServer(answer=_echo) as server:
        live = _in_threads(requests, lambda request: _recorder(server.url, home, clean_env).send(request).body)
    inbox = home / "state" / "inbox"
    kept = [exchange for path in inbox.glob("*.yaml") for exchange in parse_cassette(path.read_bytes(), path.name)]
    network = _guard(monkeypatch)
    wrong = sum(json.loads(body or "0") != _echoed(request) for request, body in live.items())
    for _ in range(given["repeat_runs"]):
        transport = ReplayTransport(Library([inbox]))
        replayed = _in_threads(requests, lambda request, t=transport: t.send(request).body)
        wrong += sum(json.loads(body or "0") != _echoed(request) for request, body in replayed.items())
    return {"interactions": len(kept), "mismatched_answers": wrong, "network_used_on_replay": bool(network)}


@verb("cassette.untrusted")
def untrusted(given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Somebody else's file through every way in: as a fixture, in the library, through the vcrpy serializer."""
    monkeypatch.chdir(tmp_path)
    text = given["file_text"]
    path = tmp_path / "cassettes" / file_name("foreign", fingerprint("GET", "https://api.keepa.com/token"))
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    library = Library([tmp_path / "cassettes"])
    ways_in = (
        lambda: library.fixture("foreign"),
        lambda: library.play(WireRequest("GET", "/token")),
        lambda: deserialize(text),
    )
    kinds = set()
    for way_in in ways_in:
        with pytest.raises(KeepaCliError) as failure:
            way_in()
        kinds.add(NEUTRAL[failure.value.kind])
    return {"error": kinds.pop() if len(kinds) == 1 else kinds, "marker_created": Path(given["marker"]).exists()}


@verb("cassette.name")
def name(given: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Names as files on a real disk, in the form that the library gives them."""
    print_ = fingerprint("GET", "https://api.keepa.com/product")
    files = [tmp_path / file_name(safe_name(text), print_) for text in given["names"]]
    for file in files:
        file.touch()
    longest = max(len(file.name.encode()) for file in files)
    return {
        "max_bytes": 255 if longest <= 255 else longest,
        "distinct": len(list(tmp_path.iterdir())),
        "outside_folder": any(file.resolve().parent != tmp_path.resolve() for file in files),
    }


def _request(url: str) -> WireRequest:
    """The request as a client builds it, the key still inside."""
    from urllib.parse import parse_qsl, urlsplit

    return WireRequest("GET", request_path(url), tuple(parse_qsl(urlsplit(url).query, keep_blank_values=True)))


def _exchange(request: dict[str, Any], response: dict[str, Any]) -> Exchange:
    return Exchange(
        method=request.get("method", "GET"),
        url=request["url"],
        request_headers={},
        request_body=(request.get("body") or "").encode(),
        status=response["status"],
        reason="",
        headers={key: [value] for key, value in response.get("headers", {}).items()},
        body=response["body"].encode(),
    )


def _write(path: Path, exchanges: list[Exchange]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(dump_cassette(exchanges)))


def _missed(
    exchanges: list[Exchange], url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[KeepaCliError, list[str]]:
    _write(folder / "cassettes" / "recorded.yaml", exchanges)
    with monkeypatch.context() as patched:
        network = _guard(patched)
        with pytest.raises(KeepaCliError) as failure:
            ReplayTransport(Library([folder / "cassettes"])).send(_request(url))
    return failure.value, network


def _guard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes every use of the network from now on."""
    used: list[str] = []

    def note(name: str) -> Any:
        def refuse(*_: Any, **__: Any) -> None:
            used.append(name)
            raise OSError("the network is closed")

        return refuse

    for owner, attribute in ((socket.socket, "connect"), (socket, "getaddrinfo"), (socket, "create_connection")):
        monkeypatch.setattr(owner, attribute, note(attribute))
    return used


def _hidden(url: str, error: KeepaCliError) -> list[str]:
    """The keys of `url` that neither text, details, next steps nor chained causes show."""
    told: list[str] = []
    at: BaseException | None = error
    while at is not None:
        told += [repr(at), str(at)]
        at = at.__cause__ or at.__context__
    text = " ".join([*told, json.dumps(error.details), *error.next_actions])
    return [value for key, value in _request(url).query if key.lower() == "key" and value not in text]


def _step(row: dict[str, Any]) -> dict[str, Any]:
    step = {key: row[key] for key in ("status", "headers", "json", "text", "encode") if key in row}
    return step | ({"body": base64.b64decode(row["body_base64"])} if "body_base64" in row else {})


def _shown(answer: WireResponse) -> dict[str, Any]:
    shown: dict[str, Any] = {"status": answer.status, "body_base64": base64.b64encode(answer.body).decode()}
    with contextlib.suppress(UnicodeDecodeError):
        shown["text"] = answer.body.decode()
        with contextlib.suppress(ValueError):
            shown["json"] = json.loads(answer.body)
    return shown


def _echo(seen: Seen) -> dict[str, Any]:
    return {"status": 200, "json": {"asin": seen.value("asin")}}


def _echoed(request: WireRequest) -> dict[str, str]:
    return {"asin": dict(request.query)["asin"]}


def _in_threads(requests: list[WireRequest], send: Any) -> dict[WireRequest, bytes]:
    answers: dict[WireRequest, bytes] = dict.fromkeys(requests, b"")
    start = threading.Barrier(len(requests))

    def run(request: WireRequest) -> None:
        start.wait()
        answers[request] = send(request)

    running = [threading.Thread(target=run, args=(request,)) for request in requests]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return answers


def _recorder(base: str, home: Path, env: dict[str, str]) -> RecordTransport:
    def store(exchanges: Iterator[Exchange], meta: dict[str, Any]) -> Path:
        return recordings.store(home / "state", exchanges, meta["name"], meta, datetime.now(UTC))

    return RecordTransport(base, KEY, state_dir=home / "state", store=store, env=env)
