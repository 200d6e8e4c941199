"""Replay answers like the live transport would, without a network code path."""

from __future__ import annotations

import gzip
import socket
import subprocess
import sys
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.cassettes import content
from keepa_cli.cassettes.fingerprint import of_request
from keepa_cli.cassettes.library import Library
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.keepa.wire import Source, WireRequest, WireResponse
from keepa_cli.transport.replay import FixtureTransport, ReplayTransport
from tests.cassettes.made import answer, ask, promote, write

JSON = b'{"tokensLeft":1}'


def reply(tmp_path: Path, body: bytes, status: int = 200, **headers: str) -> WireResponse:
    named = {name.replace("_", "-"): [value] for name, value in headers.items()}
    root = tmp_path / "cassettes"
    write(root / "x.yaml", answer(ask(), body, headers=named, status=status))
    return ReplayTransport(Library([root])).send(ask())


def test_the_answer_carries_status_headers_body_and_source(tmp_path: Path) -> None:
    root = tmp_path / "cassettes"
    when = "2026-05-10T08:00:00Z"
    path = promote(root, "one", ask(), b"[1]", evidence={"origin": "live", "recorded_at": when})
    response = ReplayTransport(Library([root])).send(ask())
    assert response == WireResponse(
        status=200,
        reason="OK",
        headers={"content-type": ("application/json",)},
        body=b"[1]",
        source=Source("cassette", f"cassettes/product/{path.name}", "live", of_request(ask()), when),
    )


def test_header_names_are_lower_case_and_framing_is_dropped(tmp_path: Path) -> None:
    response = reply(tmp_path, JSON, Retry_After="5", Content_Length="9999", Transfer_Encoding="chunked")
    assert response.headers == {"retry-after": ("5",)}


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "x-gzip", "deflate", "identity", "gzip, gzip", "br", "zstd"])
@pytest.mark.parametrize("body", [b"", JSON])
def test_an_encoding_that_is_not_there_is_ignored(tmp_path: Path, coding: str, body: bytes) -> None:
    response = reply(tmp_path, body, Content_Encoding=coding)
    assert response.body.replace(b"\n", b"").replace(b" ", b"") == body
    assert response.header("content-encoding") is None
    assert content.decoded(body, [coding]) == body


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(JSON)),
        ("gzip", gzip.compress(JSON[:5]) + gzip.compress(JSON[5:])),
        ("gzip, gzip", gzip.compress(gzip.compress(JSON))),
        ("deflate", zlib.compress(JSON)),
        ("deflate", zlib.compress(JSON)[2:-4]),
        ("deflate, gzip", gzip.compress(zlib.compress(JSON))),
    ],
)
def test_a_stored_encoding_is_undone(tmp_path: Path, coding: str, body: bytes) -> None:
    response = reply(tmp_path, body, content_encoding=coding)
    assert response.body == JSON
    assert response.header("content-encoding") is None


def test_a_cut_gzip_body_is_an_error(tmp_path: Path) -> None:
    for body in (gzip.compress(JSON)[:-9], b"\x1f\x8b\x08junk\xff\xff"):
        with pytest.raises(KeepaCliError) as failure:
            reply(tmp_path, body, content_encoding="gzip")
        assert failure.value.kind is Kind.CASSETTE_INVALID
        assert "x.yaml" in failure.value.message


def test_bytes_in_an_encoding_nobody_knows_keep_its_name(tmp_path: Path) -> None:
    response = reply(tmp_path, b"\xff\x00\xfe", content_encoding="br")
    assert (response.body, response.header("content-encoding")) == (b"\xff\x00\xfe", "br")


def test_a_fixture_answers_whatever_its_endpoint_is_asked(tmp_path: Path) -> None:
    promote(tmp_path, "one", ask(), b"[1]", b"[2]")
    fixture = FixtureTransport(Library([tmp_path]), "one")
    answers = [fixture.send(ask("B00BBBBBB2")) for _ in range(3)]
    assert [a.body for a in answers] == [b"[1]", b"[2]", b"[2]"]
    assert {a.source.kind for a in answers} == {"fixture"}
    with pytest.raises(KeepaCliError, match="answers GET /product; this command asks GET /token") as failure:
        fixture.send(WireRequest("GET", "/token"))
    assert failure.value.kind is Kind.INVALID_ARGUMENTS


def test_a_fixture_prefers_the_answer_to_the_very_request(tmp_path: Path) -> None:
    write(tmp_path / "many.yaml", *(answer(ask(f"B00000000{n}"), b"[%d]" % n) for n in range(3)))
    fixture = FixtureTransport(Library([tmp_path]), "many")
    assert [fixture.send(ask(f"B00000000{n}")).body for n in (2, 0, 1, 9, 9)] == [
        b"[2]",
        b"[0]",
        b"[1]",
        b"[0]",
        b"[1]",
    ]


def test_an_unknown_fixture_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(KeepaCliError) as failure:
        FixtureTransport(Library([tmp_path]), "none").send(ask())
    assert failure.value.kind is Kind.FIXTURE_NOT_FOUND


def test_32_threads_replay_without_touching_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was touched")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    for number in range(40):
        promote(tmp_path, f"p{number}", ask(f"B0{number:08d}"), b"[%d]" % number)
    transport = ReplayTransport(Library([tmp_path]))
    wrong: list[bytes] = []

    def run(seed: int) -> None:
        for turn in range(400):
            number = (seed * 7 + turn) % 40
            body = transport.send(ask(f"B0{number:08d}")).body
            if body != b"[%d]" % number:
                wrong.append(body)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_replay_imports_nothing_that_could_open_a_socket(tmp_path: Path) -> None:
    promote(tmp_path, "one", ask(), JSON)
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from keepa_cli.cassettes.library import Library\n"
        "from keepa_cli.keepa.wire import WireRequest\n"
        "from keepa_cli.transport.replay import ReplayTransport\n"
        "request = WireRequest('GET', '/product', (('domain', '1'), ('asin', 'B00AAAAAA1')))\n"
        "assert ReplayTransport(Library([Path(sys.argv[1])])).send(request).status == 200\n"
        "heavy = {'requests', 'urllib3', 'vcr', 'socket', 'ssl', 'http.client', 'jsonschema', 'deepdiff', 'click'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
