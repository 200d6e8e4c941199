"""One cassette, five readers: our transport, our adapter, plain vcrpy, vcrpy with our serializer, pytest-recording."""

from __future__ import annotations

import base64
import contextlib
import json
import os
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

from keepa_cli.cassettes.codec import dump_cassette, register
from keepa_cli.cassettes.fingerprint import fingerprint
from keepa_cli.cassettes.library import Library
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.names import file_name
from keepa_cli.cassettes.relayout import relayout
from keepa_cli.keepa.wire import WireRequest
from keepa_cli.testing import replay_session
from keepa_cli.transport.replay import ReplayTransport

JSON = {"content-type": ["application/json;charset=UTF-8"], "date": ["Sun, 10 May 2026 08:00:00 GMT"]}
ANSWERS: dict[str, tuple[int, str, dict[str, list[str]], bytes]] = {
    "numbers": (200, "OK", JSON, b'{"a":1.10,"a":12345678901234567890123,"b":[1E5,-0.0,null]}'),
    "unicode": (200, "OK", JSON, '{"title":"caf\u00e9 \u4ef7\u683c \U0001f600 \u2028","e":"\\ud83d\\ude00"}'.encode()),
    "series": (200, "OK", JSON, json.dumps({"csv": [list(range(7_000_000, 7_003_000)), None]}).encode()),
    "storm": (429, "Too Many Requests", {**JSON, "retry-after": ["3"]}, b'{"tokensLeft":-1,"refillIn":3000}'),
    "refused": (400, "Bad Request", JSON, b'{"error":{"type":"invalidParameter","message":"a: b # c"}}'),
    "html": (500, "", {"content-type": ["text/html"]}, b"<html>\n <p>\toops\n\n</p>  \n</html>\n\n"),
    "latin": (200, "OK", {"content-type": ["text/plain"]}, b"caf\xe9"),
    "picture": (200, "OK", {"content-type": ["image/png"]}, b"\x89PNG\r\n\x1a\n\x00\xff" * 40),
    "crlf": (200, "OK", {"content-type": ["text/plain"]}, b"a\r\nb\r\n\t\xc2\x85"),
    "empty": (200, "OK", {}, b""),
    "null": (200, "OK", JSON, b"null"),
    "none": (204, "No Content", {}, b""),
}

PROBE = """
import base64, json, pathlib, pytest, requests

URLS = json.loads(pathlib.Path({urls!r}).read_text())

@pytest.fixture(scope="module")
def vcr_cassette_dir():
    return {folder!r}

def probe(name):
    with requests.Session() as session:
        session.trust_env = False
        answer = session.get(URLS[name])
    seen = [answer.status_code, answer.reason, {{k.lower(): v for k, v in answer.headers.items()}}]
    seen.append(base64.b64encode(answer.content).decode())
    (pathlib.Path({out!r}) / name).write_text(json.dumps(seen))
"""
ONE = """
@pytest.mark.vcr
@pytest.mark.default_cassette({file!r})
def test_{name}():
    probe({name!r})
"""


def url_of(name: str) -> str:
    return f"https://api.keepa.com/product?domain=1&asin=B00AAAAAA1&note={name}"


def expected(name: str) -> list[Any]:
    """Status, reason, headers and body as every reader must give them."""
    status, reason, headers, body = ANSWERS[name]
    with contextlib.suppress(UnicodeDecodeError):
        body = relayout(body.decode()).encode()
    return [status, reason, {k: ", ".join(v) for k, v in headers.items()}, base64.b64encode(body).decode()]


def seen(response: requests.Response) -> list[Any]:
    headers = {k.lower(): v for k, v in response.headers.items()}
    return [response.status_code, response.reason, headers, base64.b64encode(response.content).decode()]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("equality") / "cassettes" / "product"
    folder.mkdir(parents=True)
    for name, (status, reason, headers, body) in ANSWERS.items():
        exchange = Exchange("GET", url_of(name), {}, b"", status, reason, headers, body)
        (folder / path_of(name)).write_bytes(b"".join(dump_cassette([exchange])))
    return folder.parent


def path_of(name: str) -> str:
    return file_name(name, fingerprint("GET", url_of(name)))


@pytest.fixture(scope="module")
def recording_plugin(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pytest-recording replays in a pytest run of its own, with the network blocked; one file per answer."""
    home = tmp_path_factory.mktemp("probe")
    (home / "out").mkdir()
    (home / "urls.json").write_text(json.dumps({name: url_of(name) for name in ANSWERS}))
    text = PROBE.format(urls=str(home / "urls.json"), folder=str(library / "product"), out=str(home / "out"))
    text += "".join(ONE.format(name=name, file=path_of(name)) for name in ANSWERS)
    (home / "test_probe.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--record-mode=none", "--block-network"]
    done = subprocess.run(
        [*command, str(home)], cwd=home, capture_output=True, text=True, env=dict(os.environ), check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return home / "out"


@pytest.mark.parametrize("name", ANSWERS)
def test_every_reader_gives_the_same_answer(name: str, library: Path, recording_plugin: Path) -> None:
    request = WireRequest("GET", "/product", (("domain", "1"), ("asin", "B00AAAAAA1"), ("note", name)))
    wire = ReplayTransport(Library([library])).send(request)
    headers = {key: ", ".join(values) for key, values in wire.headers.items()}
    assert [wire.status, wire.reason, headers, base64.b64encode(wire.body).decode()] == expected(name)
    with replay_session(library) as session:
        assert seen(session.get(url_of(name))) == expected(name)
    for serializer in ("yaml", "keepa"):
        assert vcrpy_gives(library / "product" / path_of(name), url_of(name), serializer) == expected(name)
    assert json.loads((recording_plugin / name).read_text()) == expected(name)


def vcrpy_gives(path: Path, url: str, serializer: str) -> list[Any]:
    recorder = vcr.VCR(record_mode="none", serializer=serializer)
    register(recorder)
    with recorder.use_cassette(str(path)) as cassette, requests.Session() as session:
        session.trust_env = False
        answer = seen(session.get(url))
        assert cassette.all_played
    return answer


def test_replay_leaves_the_files_alone(library: Path, recording_plugin: Path) -> None:
    before = {path: path.read_bytes() for path in library.rglob("*") if path.is_file()}
    for name in ANSWERS:
        replay_session(library).get(url_of(name))
        vcrpy_gives(library / "product" / path_of(name), url_of(name), "yaml")
    assert {path: path.read_bytes() for path in library.rglob("*") if path.is_file()} == before


@pytest.fixture
def counted() -> Iterator[tuple[str, list[str]]]:
    """A loopback server and the requests it saw."""
    seen_paths: list[str] = []

    class Counter(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen_paths.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Counter)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", seen_paths
    server.shutdown()
    thread.join()
    server.server_close()


def test_32_threads_of_400_replays_never_reach_the_server_they_name(
    counted: tuple[str, list[str]], library: Path
) -> None:
    base, seen_paths = counted
    with requests.Session() as live:
        live.trust_env = False
        live.get(base + "/alive")
    assert seen_paths == ["/alive"]
    wrong: list[str] = []
    shared = Library([library])
    names = list(ANSWERS)
    wanted = {name: base64.b64decode(expected(name)[3]) for name in names}

    def run(seed: int) -> None:
        with replay_session(shared) as session:
            for turn in range(40):
                name = names[(seed + turn) % len(names)]
                if session.get(url_of(name).replace("https://api.keepa.com", base)).content != wanted[name]:
                    wrong.append(name)
        transport = ReplayTransport(shared)
        for turn in range(360):
            name = names[(seed + turn) % len(names)]
            pairs = (("domain", "1"), ("asin", "B00AAAAAA1"), ("note", name))
            if transport.send(WireRequest("GET", "/product", pairs)).body != wanted[name]:
                wrong.append(name)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert seen_paths == ["/alive"]


def test_real_bodies_give_the_same_json_through_every_reader(shared_data: Path, tmp_path: Path) -> None:
    for file in sorted(shared_data.glob("product-*.json")):
        name = file.stem
        exchange = Exchange("GET", url_of(name), {}, b"", 200, "OK", JSON, file.read_bytes())
        path = tmp_path / "product" / path_of(name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join(dump_cassette([exchange])))
        plain = base64.b64decode(vcrpy_gives(path, url_of(name), "yaml")[3])
        with replay_session(tmp_path) as session:
            assert session.get(url_of(name)).content == plain
        exact = {"parse_int": str, "parse_float": str, "object_pairs_hook": tuple}
        assert json.loads(plain, **exact) == json.loads(file.read_bytes(), **exact)
