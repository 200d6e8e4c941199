"""Every kind of promotion input is recognized by its content; bad input is one typed error that names the file."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes.codec import dump_cassette
from keepa_cli.cassettes.importers import LIMIT, Hints, apply_meta, load_input, read_meta
from keepa_cli.cassettes.infer import given_request
from keepa_cli.cassettes.model import Exchange
from keepa_cli.core.errors import KeepaCliError, Kind

BUCKET = {"timestamp": 1778386768884, "tokensLeft": 9, "refillIn": 5, "refillRate": 5, "tokensConsumed": 1,
          "tokenFlowReduction": 0.0, "processingTimeInMs": 1}  # fmt: skip
PRODUCTS = BUCKET | {"products": [{"asin": "B0AAAAAAA1", "domainId": 3}, {"asin": "B0AAAAAAA2", "domainId": 3}]}


def put(tmp_path: Path, content: Any, name: str = "input.json") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def har_entry(url: str = "https://api.keepa.com/token?key=K", **response: Any) -> dict[str, Any]:
    headers = [{"name": "Content-Encoding", "value": "gzip"}, {"name": "Content-Type", "value": "application/json"}]
    content = {"size": 2, "mimeType": "application/json", "text": json.dumps(BUCKET)}
    return {
        "startedDateTime": "2026-05-10T04:19:28.884+00:00",
        "time": 12.5,
        "request": {"method": "GET", "url": url, "headers": [{"name": ":authority", "value": "x"}]},
        "response": {"status": 200, "statusText": "OK", "headers": headers, "content": content} | response,
    }


def har(*entries: Any) -> dict[str, Any]:
    return {"log": {"version": "1.2", "entries": list(entries)}}


@pytest.mark.parametrize(
    ("body", "url"),
    [
        (PRODUCTS, "/product?domain=3&asin=B0AAAAAAA1,B0AAAAAAA2"),
        (BUCKET, "/token"),
        (
            BUCKET | {"categories": {"1": {"domainId": 1}, "2": {"domainId": 1}}, "categoryParents": None},
            "/category?domain=1&category=1,2&parents=0",
        ),
        (BUCKET | {"sellers": {"A1": {"domainId": 1}}}, "/seller?domain=1&seller=A1"),
        (
            BUCKET | {"bestSellersList": {"domainId": 1, "categoryId": 77, "asinList": []}},
            "/bestsellers?domain=1&category=77",
        ),
    ],
)
def test_a_raw_body_tells_its_request_and_says_so(tmp_path: Path, body: Any, url: str) -> None:
    found = load_input(put(tmp_path, body))
    assert found.kind == "raw"
    assert found.exchanges[0].url == "https://api.keepa.com" + url
    assert found.origin == "import"
    assert found.moments == ["2026-05-10T04:19:28Z"]
    assert [w["code"] for w in found.warnings] == ["request_inferred"]
    assert url in found.warnings[0]["message"]
    assert found.exchanges[0].body == json.dumps(body).encode()


@pytest.mark.parametrize(
    "body", [{"products": []}, {"asinList": ["B0AAAAAAA1"]}, {}, {"error": {"message": "no"}},
             {"products": [{"asin": "B0AAAAAAA1", "domainId": 1}, {"asin": "B0AAAAAAA2", "domainId": 2}]},
             {"products": [{"asin": 5, "domainId": 1}]}, {"categories": {}}]
)  # fmt: skip
def test_a_body_that_does_not_tell_needs_the_request(tmp_path: Path, body: Any) -> None:
    path = put(tmp_path, body)
    with pytest.raises(KeepaCliError) as caught:
        load_input(path)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
    assert "--request" in caught.value.next_actions[0]
    found = load_input(path, Hints(request="/query?domain=1&selection=%7B%7D"))
    assert found.exchanges[0].url == "https://api.keepa.com/query?domain=1&selection=%7B%7D"
    assert not found.warnings


def test_a_given_request_loses_its_key_and_nothing_else() -> None:
    given = "https://api.keepa.com/product?KEY=secret&domain=1&asin=A,B&update=&flag="
    assert given_request(given).url() == "https://api.keepa.com/product?domain=1&asin=A,B&update=&flag="


@pytest.mark.parametrize(
    "text", ["", "product", "https://evil.example/product", "http://api.keepa.com/x", "//x/y", "/"]
)
def test_a_request_elsewhere_is_refused(text: str) -> None:
    with pytest.raises(KeepaCliError) as caught:
        given_request(text)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS


def test_a_picture_needs_its_request(tmp_path: Path) -> None:
    path = put(tmp_path, b"\x89PNG\r\n\x1a\n....", "graph.png")
    with pytest.raises(KeepaCliError):
        load_input(path)
    exchange = load_input(path, Hints(request="/graphimage?asin=B0AAAAAAA1&domain=1")).exchanges[0]
    assert exchange.headers == {"Content-Type": ["image/png"]}
    assert exchange.body.startswith(b"\x89PNG")


def test_an_error_body_keeps_the_status_it_is_given(tmp_path: Path) -> None:
    path = put(tmp_path, BUCKET | {"error": {"message": "slow down"}})
    exchange = load_input(path, Hints(request="/token", status=429)).exchanges[0]
    assert (exchange.status, exchange.reason) == (429, "Too Many Requests")


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_vcrpy_cassettes_of_both_kinds(tmp_path: Path, suffix: str) -> None:
    exchange = Exchange("GET", "https://api.keepa.com/token", {}, b"", 200, "OK", {}, json.dumps(BUCKET).encode())
    data = b"".join(dump_cassette([exchange, exchange]))
    if suffix == "json":
        response = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": json.dumps(BUCKET)}}
        request = {"method": "GET", "uri": exchange.url, "body": None, "headers": {}}
        data = json.dumps({"version": 1, "interactions": [{"request": request, "response": response}] * 2}).encode()
    found = load_input(put(tmp_path, data, "c." + suffix))
    assert found.kind == "cassette"
    assert [json.loads(e.body) for e in found.exchanges] == [BUCKET, BUCKET]
    with pytest.raises(KeepaCliError) as caught:
        load_input(put(tmp_path, data, "c." + suffix), Hints(request="/token"))
    assert caught.value.kind is Kind.INVALID_ARGUMENTS


def test_a_har_keeps_only_keepa_decoded(tmp_path: Path) -> None:
    packed = base64.b64encode(b"\x89PNG").decode()
    entries = [
        har_entry("https://example.org/x"),
        har_entry("https://api.keepa.com.evil.example/token"),
        har_entry(),
        har_entry(content={"size": 4, "text": packed, "encoding": "base64"}),
        har_entry(status=0),
    ]
    found = load_input(put(tmp_path, har(*entries)))
    assert [e.body for e in found.exchanges] == [json.dumps(BUCKET).encode(), b"\x89PNG"]
    assert found.exchanges[0].headers == {"Content-Type": ["application/json"]}
    assert found.exchanges[0].request_headers == {}
    assert found.moments == ["2026-05-10T04:19:28Z"] * 2
    assert found.durations_ms == [12.5, 12.5]
    assert [w["code"] for w in found.warnings] == ["unanswered"]


def test_a_har_of_another_host_needs_that_host_named(tmp_path: Path) -> None:
    path = put(tmp_path, har(har_entry("http://127.0.0.1:8765/token")))
    with pytest.raises(KeepaCliError) as caught:
        load_input(path)
    assert caught.value.kind is Kind.CASSETTE_INVALID
    assert len(load_input(path, Hints(hosts=("127.0.0.1",))).exchanges) == 1


BAD = {
    "empty": b"",
    "blank": b" \r\n\t ",
    "bom-only": b"\xef\xbb\xbf",
    "null": b"null",
    "list": b"[1, 2]",
    "text": b'"x"',
    "number": b"5",
    "truncated": json.dumps(PRODUCTS).encode()[:-20],
    "latin-1": b'{"products": "caf\xe9"}',
    "utf-16": json.dumps(PRODUCTS).encode("utf-16"),
    "gzip": b"\x1f\x8b\x08\x00",
    "nan": b'{"products": NaN}',
    "deep": b'{"a":' + b"[" * 200_000,
    "no-interactions": b"version: 1\n",
    "interactions-null": b'{"interactions": null, "version": 1}',
    "interactions-empty": b"interactions: []\nversion: 1\n",
    "version-999": b"interactions: []\nversion: 999\n",
    "python-tag": b"!!python/object/apply:os.system ['true']\n",
    "har-null": b'{"log": {"entries": null}}',
    "har-empty": b'{"log": {"entries": []}}',
    "har-junk": b'{"log": {"entries": [{"request": 5}]}}',
    "har-no-text": json.dumps(har(har_entry(content={"size": 9}))).encode(),
    "har-bad-base64": json.dumps(har(har_entry(content={"size": 9, "text": "*", "encoding": "base64"}))).encode(),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_a_typed_error_that_names_the_file(tmp_path: Path, case: str) -> None:
    path = put(tmp_path, BAD[case], f"{case}.bin")
    with pytest.raises(KeepaCliError) as caught:
        load_input(path)
    assert caught.value.kind is Kind.CASSETTE_INVALID
    assert path.name in caught.value.message
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_bom_in_front_is_accepted(tmp_path: Path) -> None:
    found = load_input(put(tmp_path, b"\xef\xbb\xbf" + json.dumps(PRODUCTS).encode()))
    assert found.exchanges[0].body == json.dumps(PRODUCTS).encode()


def test_links_folders_pipes_and_giants_are_refused_unopened(tmp_path: Path) -> None:
    target = put(tmp_path, PRODUCTS)
    link = tmp_path / "link.json"
    giant = tmp_path / "giant.json"
    with giant.open("wb") as out:
        out.truncate(80_000_000)
    paths = [tmp_path, tmp_path / "absent.json", giant]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        paths.append(tmp_path / "pipe")
    try:
        link.symlink_to(target)
        paths.append(link)
    except OSError:
        pass
    for path in paths:
        with pytest.raises(KeepaCliError) as caught:
            load_input(path)
        assert caught.value.kind is Kind.IO_ERROR


def test_a_body_of_60_mb_is_refused_and_one_of_50_mb_is_not(tmp_path: Path) -> None:
    assert 50_000_000 < LIMIT < 60_000_000
    path = tmp_path / "giant.json"
    with path.open("wb") as out:
        out.write(json.dumps(PRODUCTS).encode()[:-1] + b',"csv":[')
        out.write(b"1000000," * 7_500_000)
        out.write(b"1]}")
    with pytest.raises(KeepaCliError) as caught:
        load_input(path)
    assert caught.value.kind is Kind.CASSETTE_INVALID
    assert "60000" in caught.value.message


@given(st.binary(max_size=200))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_input_raises_anything_but_a_typed_error(tmp_path: Path, data: bytes) -> None:
    path = put(tmp_path, data)
    try:
        assert load_input(path).exchanges
    except KeepaCliError as error:
        assert error.kind in {Kind.CASSETTE_INVALID, Kind.INVALID_ARGUMENTS}


def test_the_recorders_note_gives_origin_moments_and_durations(tmp_path: Path) -> None:
    path = put(tmp_path, BUCKET)
    put(
        tmp_path,
        {"origin": "sandbox", "recorded_at": "2026-05-10T06:00:00+02:00", "durations_ms": [7]},
        "input.meta.json",
    )
    found = load_input(path)
    apply_meta(found, read_meta(path))
    assert (found.origin, found.moments, found.durations_ms) == ("sandbox", ["2026-05-10T04:00:00Z"], [7.0])


@pytest.mark.parametrize("note", [b"", b"null", b"\xff", b'{"origin": "moon", "recorded_at": 5, "durations_ms": "x"}'])
def test_a_broken_note_changes_nothing_that_matters(tmp_path: Path, note: bytes) -> None:
    path = put(tmp_path, BUCKET)
    put(tmp_path, note, "input.meta.json")
    found = load_input(path)
    apply_meta(found, read_meta(path))
    assert found.origin == "import"
    assert found.durations_ms == [None]
