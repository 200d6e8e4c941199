"""What a session gets from a recording equals what it got live."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests
import vcr

from keepa_cli.cassettes.library import Library
from keepa_cli.testing import CassetteMiss, ReplayAdapter, ReplayError, replay_session
from tests.cassettes.made import KEY, answer, ask, promote, write

TEXT = "caf\u00e9 \u4ef7".encode()
BIG = json.dumps({"csv": [list(range(60_000))]}).encode()
JSON = ("Content-Type", "application/json;charset=UTF-8")
Reply = tuple[int, list[tuple[str, str]], bytes]
REPLIES: dict[str, Reply] = {
    "/json": (200, [JSON], b'{"tokensLeft":1.10,"tokensLeft":12345678901234567890123}'),
    "/empty": (200, [], b""),
    "/204": (204, [], b""),
    "/304": (304, [("ETag", '"x"')], b""),
    "/404": (404, [JSON], b'{"error":{"type":"notFound"}}'),
    "/429": (429, [JSON, ("Retry-After", "5")], b'{"tokensLeft":-3,"refillIn":5000}'),
    "/500": (500, [("Content-Type", "text/html")], b"<html>oops</html>"),
    "/text": (200, [("Content-Type", "text/plain")], b"caf\xe9"),
    "/utf8": (200, [("Content-Type", "text/plain; charset=utf-8")], TEXT),
    "/latin": (200, [("Content-Type", "text/plain; charset=iso-8859-1")], b"caf\xe9"),
    "/binary": (200, [("Content-Type", "image/png")], b"\x89PNG\r\n\x1a\n\x00\xff"),
    "/crlf": (200, [("Content-Type", "text/plain")], b"a\r\nb\n\n"),
    "/big": (200, [JSON], BIG),
    "/gzip": (200, [JSON, ("Content-Encoding", "gzip")], gzip.compress(b'{"a":1}')),
    "/gzip-two": (200, [JSON, ("Content-Encoding", "gzip")], gzip.compress(b'{"a":') + gzip.compress(b"1}")),
    "/gzip-empty": (200, [("Content-Encoding", "gzip")], b""),
    "/cookies": (200, [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Path=/x")], b"ok"),
    "/headers": (200, [("X-Two", "1"), ("X-Two", "2"), ("x-lower", " padded "), ("X-Name", "plain")], b"ok"),
    "/hop": (302, [("Location", "/json?hop=1"), ("Set-Cookie", "hop=1")], b"moved"),
    "/hops": (301, [("Location", "/hop")], b""),
    "/see-other": (303, [("Location", "/json")], b""),
    "/chunked": (200, [JSON, ("Transfer-Encoding", "chunked")], b'{"chunked":true}'),
}
"""The 22 answers whose replay must equal the live answer."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        status, headers, body = REPLIES[self.path.partition("?")[0]]
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        chunked = ("Transfer-Encoding", "chunked") in headers
        if not chunked and status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if chunked else body)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def date_time_string(self, timestamp: float | None = None) -> str:
        return "Sun, 10 May 2026 08:00:00 GMT"

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    thread.join()
    httpd.server_close()


@pytest.fixture(scope="module")
def recorded(server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every answer as plain vcrpy records it, one cassette each."""
    root = tmp_path_factory.mktemp("recorded") / "cassettes"
    for path in REPLIES:
        with vcr.use_cassette(str(root / f"{path[1:]}.yaml"), record_mode="all"), session() as live:
            live.get(server + path)
            live.head(server + path)
    return root


def session() -> requests.Session:
    live = requests.Session()
    live.trust_env = False
    return live


def seen(response: requests.Response, *, body: bool = True) -> dict[str, Any]:
    """Everything a program can see in an answer. Recorders drop the encoding of a body they store decoded."""
    headers = {k.lower(): v for k, v in response.headers.items() if k.lower() != "content-encoding"}
    return {
        "status": response.status_code,
        "reason": response.reason,
        "headers": headers,
        "cookies": sorted((c.name, c.value, c.path) for c in response.cookies),
        "history": [seen(r) for r in response.history],
        "url": response.url,
        "encoding": response.encoding,
        "content": response.content if body else None,
        "text": response.text if body else None,
        "ok": response.ok,
        "links": response.links,
        "redirect": (response.is_redirect, response.is_permanent_redirect),
        "apparent": response.apparent_encoding if body and len(response.content) < 1000 else None,
    }


@pytest.mark.parametrize("path", REPLIES)
def test_a_replayed_answer_equals_the_live_one(path: str, server: str, recorded: Path) -> None:
    with session() as live, replay_session(recorded) as replay:
        for method in ("get", "head"):
            there, here = getattr(live, method)(server + path), getattr(replay, method)(server + path)
            assert seen(here) == seen(there)
            assert here.elapsed.total_seconds() >= 0
        assert sorted(replay.cookies.items()) == sorted(live.cookies.items())


def test_answers_stream_like_live_ones(server: str, recorded: Path) -> None:
    with session() as live, replay_session(recorded) as replay:
        for path in ("/big", "/crlf", "/gzip", "/chunked"):
            there, here = (s.get(server + path, stream=True) for s in (live, replay))
            assert b"".join(here.iter_content(1000)) == b"".join(there.iter_content(1000))
            there, here = (s.get(server + path, stream=True) for s in (live, replay))
            assert list(here.iter_lines()) == list(there.iter_lines())
        there, here = (s.get(server + "/json", stream=True) for s in (live, replay))
        assert (here.raw.read(7), here.raw.version) == (there.raw.read(7), there.raw.version)
        with replay.get(server + "/json", stream=True) as closed:
            pass
        assert closed.raw.closed


def test_an_encoded_body_in_a_cassette_is_decoded_by_the_session(tmp_path: Path) -> None:
    body = gzip.compress(b'{"a":') + gzip.compress(b"1}")
    write(tmp_path / "x.yaml", answer(ask(), body, headers={"Content-Encoding": ["GZIP"], "Content-Length": ["7"]}))
    response = replay_session(tmp_path).get(ask().url())
    assert response.json() == {"a": 1}
    assert response.headers["content-encoding"] == "GZIP"


def test_a_latin_1_header_comes_back_as_it_is(tmp_path: Path) -> None:
    write(tmp_path / "x.yaml", answer(ask(), headers={"X": ["caf\u00e9"]}))
    assert replay_session(tmp_path).get(ask().url()).headers["x"] == "caf\u00e9"


@pytest.mark.parametrize("form", [bytes, lambda b: b.decode(), io.BytesIO, lambda b: iter([b[:3], b[3:]])])
def test_a_post_is_matched_by_its_body(tmp_path: Path, form: Any) -> None:
    url = "https://api.keepa.com/query?domain=1"
    for number, body in enumerate((b'{"title":"a","perPage":50}', b'{"title":"b"}')):
        post = answer(ask(), b"[%d]" % number, method="POST", url=url, request_body=body)
        write(tmp_path / f"{number}.yaml", post)
    replay = replay_session([tmp_path])
    assert replay.post(url, data=form(b'{"perPage":50, "title":"a"}')).content == b"[0]"
    assert replay.post(url, json={"title": "b"}).content == b"[1]"
    with pytest.raises(CassetteMiss):
        replay.post(url, data=form(b'{"title":"c"}'))


def test_a_miss_is_a_connection_error_that_explains_itself_and_pickles(tmp_path: Path) -> None:
    promote(tmp_path, "one", ask())
    url = ask("B00BBBBBB2").url() + f"&key={KEY}"
    with pytest.raises(requests.ConnectionError) as failure:
        replay_session(tmp_path).get(url)
    error = failure.value
    assert isinstance(error, CassetteMiss) and isinstance(error, requests.RequestException)
    assert error.kind == "cassette_miss" and error.details["nearest"]["name"] == "one"
    assert error.request is not None and error.request.url == url
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.kind, copy.details) == (CassetteMiss, str(error), error.kind, error.details)
    chain = [error, error.__cause__, error.__context__ if not error.__suppress_context__ else None]
    assert KEY.encode() not in pickle.dumps(error) and not any(KEY in str(e) + repr(e) for e in chain)


def test_a_broken_cassette_is_a_connection_error_too(tmp_path: Path) -> None:
    promote(tmp_path, "one", ask()).write_text("null")
    with pytest.raises(ReplayError) as failure:
        replay_session(tmp_path).get(ask().url())
    assert failure.value.kind == "cassette_invalid" and not isinstance(failure.value, CassetteMiss)


def test_one_library_serves_transport_and_adapter_from_many_threads(tmp_path: Path) -> None:
    promote(tmp_path, "one", ask(), *(b"[%d]" % n for n in range(160)))
    adapter = ReplayAdapter(Library([tmp_path]))
    shared = session()
    shared.mount("https://", adapter)
    got: list[bytes] = []

    def run() -> None:
        for _ in range(20):
            got.append(shared.get(ask().url()).content)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == sorted(b"[%d]" % n for n in range(160))


def test_replay_and_live_sessions_do_not_mix(server: str, recorded: Path) -> None:
    wrong: list[str] = []

    def run(number: int) -> None:
        with replay_session(recorded) if number % 2 else session() as own:
            for _ in range(10):
                adapter = own.get_adapter(server)
                reply = own.get(server + "/json")
                if reply.content != REPLIES["/json"][2] or isinstance(adapter, ReplayAdapter) != bool(number % 2):
                    wrong.append(str(number))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_package_imports_requests_only_when_asked() -> None:
    code = (
        "import sys, keepa_cli.testing as t\n"
        "assert not {'requests', 'urllib3'} & set(sys.modules)\n"
        "assert t.ReplayAdapter and 'requests' in sys.modules and t.Library\n"
        "try:\n    t.nothing\nexcept AttributeError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "nothing" in done.stdout
