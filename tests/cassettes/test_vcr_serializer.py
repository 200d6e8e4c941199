"""vcrpy with our serializer: same files, same strictness."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import vcr
from vcr.cassette import Cassette
from vcr.persisters.filesystem import FilesystemPersister
from vcr.request import Request

from keepa_cli.cassettes import vcr_serializer
from keepa_cli.cassettes.codec import parse_cassette, register
from keepa_cli.core.errors import KeepaCliError

URL = "https://api.keepa.com/token"


def response(body: bytes) -> dict[str, object]:
    return {"status": {"code": 200, "message": "OK"}, "headers": {"X": ["y"]}, "body": {"string": body}}


def save(path: Path, *pairs: tuple[Request, dict[str, object]]) -> None:
    document = {"requests": [p[0] for p in pairs], "responses": [p[1] for p in pairs]}
    FilesystemPersister.save_cassette(path, document, vcr_serializer)


@pytest.mark.parametrize("sent", [None, b"caf\xc3\xa9", "text", io.BytesIO(b"file"), iter([b"a", b"b"])])
def test_a_saved_cassette_is_ours_and_loads_again(tmp_path: Path, sent: object) -> None:
    path = tmp_path / "one.yaml"
    save(path, (Request("POST", URL, sent, {"A": "b"}), response(b'{"a":[1,2]}')))
    (read,) = parse_cassette(path.read_bytes(), "one.yaml")
    assert read.method == "POST" and read.request_headers == {"A": ["b"]}
    assert read.request_body == {None: b"", "text": b"text"}.get(sent if isinstance(sent, str) else None, b"") or sent
    requests, responses = FilesystemPersister.load_cassette(path, vcr_serializer)
    assert responses[0]["body"]["string"] == b'{\n "a": [1,2]\n}'
    assert requests[0].uri == URL


def test_binary_and_plain_yaml_load_too(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    save(path, (Request("GET", URL, None, {}), response(b"\xff\x00")))
    my = vcr.VCR(record_mode="none")
    register(my)
    for serializer in ("keepa", "yaml"):
        with my.use_cassette(str(path), serializer=serializer) as cassette:
            assert isinstance(cassette, Cassette)
            assert cassette.responses[0]["body"]["string"] == b"\xff\x00"


def test_what_the_library_refuses_is_refused_here(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("interactions:\n- request: !!python/object/apply:os.getpid []\nversion: 1\n")
    my = vcr.VCR(record_mode="none", serializer="keepa")
    register(my)
    with pytest.raises(KeepaCliError, match="tag"), my.use_cassette(str(tmp_path / "bad.yaml")):
        pass
