"""Cassette files are written so that every reader gets the same bytes, and read strictly."""

from __future__ import annotations

import base64
import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from vcr.serialize import deserialize
from vcr.serializers import yamlserializer

from keepa_cli.cassettes import codec
from keepa_cli.cassettes.codec import dump_cassette, parse_cassette
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.relayout import relayout
from keepa_cli.core.errors import KeepaCliError, Kind

URL = "https://api.keepa.com/product?domain=1&asin=B00AAAAAA1"


def exchange(body: bytes = b"{}", **more: Any) -> Exchange:
    values = {
        "method": "GET",
        "url": URL,
        "request_headers": {"accept": ["*/*"]},
        "request_body": b"",
        "status": 200,
        "reason": "OK",
        "headers": {"content-type": ["application/json"]},
        "body": body,
    }
    return Exchange(**values | more)


def dump(*exchanges: Exchange) -> bytes:
    return b"".join(dump_cassette(exchanges))


def readings(data: bytes) -> list[Any]:
    """What four readers see: the C loader, the Python loader, vcrpy, and ours."""
    plain = [yaml.load(data, Loader=loader) for loader in (yaml.CSafeLoader, yaml.SafeLoader)]
    requests, responses = deserialize(data.decode("ascii"), yamlserializer)[:2]
    ours = parse_cassette(data, "x.yaml")
    bodies = [[i["response"]["body"]["string"] for i in p["interactions"]] for p in plain]
    sent = [[i["request"]["body"] for i in p["interactions"]] for p in plain]
    return [
        *[(list(map(as_bytes, b)), list(map(as_bytes, s))) for b, s in zip(bodies, sent, strict=True)],
        ([r["body"]["string"] for r in responses], [as_bytes(r.body) for r in requests]),
        ([e.body for e in ours], [e.request_body for e in ours]),
    ]


def as_bytes(value: str | bytes | None) -> bytes:
    return value.encode() if isinstance(value, str) else value or b""


def test_the_file_is_plain_vcrpy_yaml() -> None:
    data = dump(
        exchange(b'{"tokensLeft":9,"title":"caf\xc3\xa9"}', headers={"retry-after": ["5"], "content-type": ["a/b"]})
    )
    assert data.decode() == (
        "interactions:\n"
        "- request:\n"
        "    body: null\n"
        "    headers:\n"
        "      accept:\n"
        "      - '*/*'\n"
        "    method: GET\n"
        f"    uri: {URL}\n"
        "  response:\n"
        "    body:\n"
        "      string: |-\n"
        "        {\n"
        '         "tokensLeft": 9,\n'
        '         "title": "caf\\u00e9"\n'
        "        }\n"
        "    headers:\n"
        "      content-type:\n"
        "      - a/b\n"
        "      retry-after:\n"
        "      - '5'\n"
        "    status:\n"
        "      code: 200\n"
        "      message: OK\n"
        "version: 1\n"
    )


BODIES = [
    b"",
    b" ",
    b"\n",
    b"\n\n",
    b" \n \n",
    b"null",
    b"~",
    b"true",
    b"12",
    b"plain",
    b"a\n",
    b"a\n\n\n",
    b"\na",
    b"  lead\n",
    b"\tlead\nb",
    b"a\n \n\t\nb \n  ",
    b"a\r\nb\r\n",
    b"\r",
    b"tab\there",
    b"# no comment",
    b"--- \n...\n",
    b"- a: b\n? c",
    b"'q' \"d\" \\ \\n",
    "caf\u00e9 \u0085 \u2028 \u2029 \ufeff \U0001f600 \x7f\x80".encode(),
    b"\xef\xbb\xbf{}",
    b"\xff\xfe\x00",
    b"\x00",
    b"a\x07b",
    base64.b64decode("iVBORw0KGgoAAAANSUhEUgD/gIGCww=="),
    b'{"a":1.10,"a":"\\ud800"}',
    b'{"x":"\x7f"}',
    b"<html>" + "\u00fc ".encode() * 400,
    b"x" * 5000,
    b"y" * 99 + b"\n" + b" " * 250 + b"\t" * 130,
    ("\u00e9" * 99 + "\n" + " " * 250 + "\t" * 130 + "\n").encode(),
    b"%PDF",
    b"[1,2",
]


@pytest.mark.parametrize("body", BODIES, ids=lambda b: repr(b[:20]))
def test_every_reader_gets_the_same_body(body: bytes) -> None:
    data = dump(exchange(body), exchange(b"next", request_body=body))
    assert data.isascii() and b"\r" not in data and data.endswith(b"\nversion: 1\n")
    try:
        wanted = relayout(body.decode()).encode()
    except UnicodeDecodeError:
        wanted = body
    for replies, sent in readings(data):
        assert replies == [wanted, b"next"]
        assert sent == [b"", body]


text_bodies = st.text(st.sampled_from("ab \n\t\r\u00e9\u2028:#-'\"\\&*!|>%@`{}[],?\x7f\x85\U0001f600"), max_size=40)


@settings(max_examples=150, deadline=None)
@given(text_bodies.map(str.encode) | st.binary(max_size=30))
@example(b"a\n\n ")
def test_any_body_round_trips_through_every_reader(body: bytes) -> None:
    try:
        wanted = relayout(body.decode()).encode()
    except UnicodeDecodeError:
        wanted = body
    for replies, sent in readings(dump(exchange(body, request_body=body))):
        assert replies == [wanted]
        assert sent == [body]


header_text = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), max_size=20)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=12), st.lists(header_text, max_size=3), max_size=4), header_text)
@example(
    {"n" * 3000: ["v" * 3000], "true": ["yes", "1e3", "0x1f", "2020-01-01", "a: b", "a #b", "-", "", " ", "="]}, "No"
)
def test_headers_and_reason_round_trip(headers: dict[str, list[str]], reason: str) -> None:
    try:
        json.dumps(headers, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return
    if "<<" in headers:
        return
    data = dump(exchange(headers=headers, reason=reason))
    (ours,) = parse_cassette(data, "x.yaml")
    assert (ours.headers, ours.reason) == (headers, reason)
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        response = yaml.load(data, Loader=loader)["interactions"][0]["response"]
        assert (response["headers"], response["status"]) == (headers, {"code": 200, "message": reason})


def test_the_same_exchanges_give_the_same_bytes_whatever_the_order_of_their_headers() -> None:
    one = exchange(headers={"b": ["2"], "a": ["1", "0"]})
    other = exchange(headers={"a": ["1", "0"], "b": ["2"]})
    assert dump(one) == dump(other)
    assert dump(*parse_cassette(dump(one), "x")) == dump(one)


def test_an_empty_cassette_is_a_cassette() -> None:
    assert dump() == b"interactions: []\nversion: 1\n"
    assert parse_cassette(dump(), "x.yaml") == []


def test_what_vcrpy_writes_is_read() -> None:
    document = {
        "version": 1,
        "interactions": [
            {
                "request": {"method": "GET", "uri": URL, "body": None, "headers": {"Accept": ["*/*"], "X": "y"}},
                "response": {
                    "status": {"code": 429, "message": None},
                    "headers": {"Retry-After": [3], "X": [b"caf\xe9"]},
                    "body": {"string": '{"a": "\u00e9"}'},
                },
            }
        ],
        "metadata": {"any": "thing"},
    }
    (read,) = parse_cassette(yaml.dump(document, allow_unicode=True).encode(), "x.yaml")
    assert (read.status, read.reason, read.body) == (429, "", '{"a": "\u00e9"}'.encode())
    assert read.request_headers == {"Accept": ["*/*"], "X": ["y"]}
    assert read.headers == {"Retry-After": ["3"], "X": ["caf\u00e9"]}
    document["interactions"][0]["response"]["headers"] = {}  # type: ignore[index]
    (from_json,) = parse_cassette(b"\xef\xbb\xbf" + json.dumps(document).encode(), "x.json")
    assert (from_json.status, from_json.body) == (429, '{"a": "\u00e9"}'.encode())


def test_small_shared_parts_are_read_as_vcrpy_reads_them() -> None:
    shared = {"content-type": ["application/json"]}
    one = {
        "request": {"method": "GET", "uri": URL, "body": None, "headers": shared},
        "response": {"status": {"code": 200, "message": "OK"}, "headers": shared, "body": {"string": "{}"}},
    }
    text = yaml.dump({"interactions": [one], "version": 1})
    assert "*id" in text
    assert parse_cassette(text.encode(), "x.yaml")[0].headers == shared


GOOD = dump(exchange(), exchange()).decode()
LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{n}: &{n} [{','.join(['*' + p] * 9)}]\n" for p, n in zip("abcdefgh", "bcdefghi", strict=True)
)


def without(key: str, text: str = GOOD) -> str:
    kept = [line for line in text.splitlines(keepends=True) if line.strip().split(":")[0] != key]
    return "".join(kept)


BROKEN: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "empty"),
    "blank": (" \n\n", "empty"),
    "comment": ("# nothing\n", "null"),
    "null": ("null", "null"),
    "text": ("just text", "text"),
    "list": ("- 1\n- 2\n", "a list"),
    "number": ("12", "int"),
    "html": ("<html><body>x</body></html>", "text, not a mapping"),
    "truncated inside": (GOOD[: len(GOOD) // 3], "cut off"),
    "truncated in a quote": (GOOD[: GOOD.index("'*/*'") + 2], "broken or cut off at line"),
    "truncated between interactions": (GOOD[: GOOD.rindex("- request:")], "version"),
    "truncated json": ('{"interactions": [', "cut off"),
    "not utf-8": (GOOD.encode().replace(b"OK", b"\xff\xfe"), "UTF-8"),
    "json not utf-8": (b'{"version":1,"interactions":["\xff"]}', "UTF-8"),
    "utf-16": (GOOD.encode("utf-16"), "UTF-8"),
    "nul": (GOOD.replace("OK", "\x00"), "UTF-8"),
    "version 999": (GOOD.replace("version: 1", "version: 999"), "999"),
    "version true": (GOOD.replace("version: 1", "version: true"), "version"),
    "no interactions": ("version: 1\n", "interactions"),
    "interactions null": ("interactions: null\nversion: 1\n", "null, not a list"),
    "interactions junk": ("interactions: junk\nversion: 1\n", "text, not a list"),
    "interaction junk": ("interactions: [1]\nversion: 1\n", "interactions[0]"),
    "no request": (GOOD.replace("- request:", "- question:"), "interactions[0].request is missing"),
    "no method": (without("method"), "request.method is missing"),
    "bad uri": (GOOD.replace(URL, "ftp://x/y"), "request.uri"),
    "bad port": (GOOD.replace(URL, "http://h:x/"), "request.uri"),
    "no status": (without("code").replace("message", "code"), "response.status.code"),
    "odd status": (GOOD.replace("code: 200", "code: 2000"), "response.status.code"),
    "reason list": (GOOD.replace("message: OK", "message: [OK]"), "response.status.message holds a list"),
    "no body string": (GOOD.replace("string:", "json:"), "response.body.string is missing"),
    "body number": (GOOD.replace("string: |-\n        {}", "string: 1"), "the int 1, not text"),
    "body list": (GOOD.replace("string: |-\n        {}", "string: []"), "a list, not text"),
    "headers list": (GOOD.replace("headers:\n      accept:", "headers:\n    - accept:"), "headers"),
    "python tag": (GOOD.replace("code: 200", "code: !!python/object/apply:os.getpid []"), "tag"),
    "python name": (GOOD.replace("code: 200", "code: !!python/name:os.system ''"), "tag"),
    "own tag": (GOOD.replace("code: 200", "code: !thing 200"), "tag"),
    "bad base64": (GOOD.replace("string: |-\n        {}", "string: !!binary '*'"), "base64"),
    "laughs": (LAUGHS + GOOD, "too much"),
    "self alias": ("interactions: &a [*a]\nversion: 1\n", "alias"),
    "unknown alias": ("interactions: *a\nversion: 1\n", "alias"),
    "deep": ("x: " + "{a: " * 5000, "nest"),
    "deep block": ("? " * 5000, "nest"),
    "deep json": ('{"a":' * 100_000, "cassette"),
    "two documents": (GOOD + "---\n" + GOOD, "more than one"),
    "two versions": (GOOD + "version: 1\n", "twice"),
    "two keys in json": ('{"version": 1, "version": 1, "interactions": []}', "twice"),
    "merge key": ("<<: {interactions: []}\nversion: 1\n", "key"),
    "key list": ("[a, b]: 1\nversion: 1\n", "key"),
    "tab": ("\tinteractions: []\n", "broken"),
    "half a pair": (json.dumps(yaml.safe_load(GOOD)).replace('"{}"', '"\\ud800"'), "surrogate"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_cassette_is_refused_by_name(name: str) -> None:
    text, part = BROKEN[name]
    with pytest.raises(KeepaCliError) as failure:
        parse_cassette(text if isinstance(text, bytes) else text.encode(), "product/some.yaml")
    assert failure.value.kind is Kind.CASSETTE_INVALID
    assert failure.value.message.startswith("product/some.yaml ")
    assert failure.value.details["file"] == "product/some.yaml"
    assert part in failure.value.message
    assert len(failure.value.message) < 300


@pytest.mark.parametrize("name", [n for n in BROKEN if "json" not in n])
def test_the_python_loader_refuses_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(yaml, "CSafeLoader")
    test_what_is_no_cassette_is_refused_by_name(name)


@settings(max_examples=120, deadline=None)
@given(st.binary(max_size=60) | st.tuples(st.integers(0, len(GOOD) - 1), st.binary(max_size=3)))
def test_any_bytes_give_exchanges_or_cassette_invalid(data: bytes | tuple[int, bytes]) -> None:
    if isinstance(data, tuple):
        at, patch = data
        data = GOOD.encode()[:at] + patch + GOOD.encode()[at + len(patch) :]
    try:
        parse_cassette(data, "f")
    except KeepaCliError as error:
        assert error.kind is Kind.CASSETTE_INVALID


def test_a_cassette_that_was_cut_anywhere_is_refused() -> None:
    for cut in range(len(GOOD.rstrip())):
        with pytest.raises(KeepaCliError) as failure:
            parse_cassette(GOOD[:cut].encode(), "f")
        assert failure.value.kind is Kind.CASSETTE_INVALID
    assert len(parse_cassette(GOOD.rstrip().encode(), "f")) == 2


def test_a_secret_in_a_broken_cassette_is_not_repeated() -> None:
    secret = "S" * 64
    for text in (GOOD.replace("OK", f"[{secret}"), GOOD.replace(URL, f"gopher://x?key={secret}"), f"{secret}: [\n"):
        with pytest.raises(KeepaCliError) as failure:
            parse_cassette(text.encode(), "f")
        assert secret not in str(failure.value.details) + failure.value.message


def test_sixty_megabytes_of_junk_are_refused_at_once() -> None:
    start = time.monotonic()
    for junk in (b"[", b"- a\n", b"a: b\n", b"\x00", b'{"a":', b"{", b"interactions:\n- a\n", b"? ", b"&a "):
        with pytest.raises(KeepaCliError):
            parse_cassette(junk * (60_000_000 // len(junk)), "junk")
    assert time.monotonic() - start < 10


def test_a_cassette_above_the_limit_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(codec, "SIZE_LIMIT", 10)
    with pytest.raises(KeepaCliError) as failure:
        parse_cassette(b"x" * 11, "f")
    assert failure.value.kind is Kind.CASSETTE_INVALID
    (tmp_path / "x.yaml").write_bytes(b"x" * 11)
    with pytest.raises(KeepaCliError):
        codec.load_cassette(tmp_path / "x.yaml")


@pytest.mark.parametrize("kind", ["one array", "many rows", "text", "binary"])
def test_writing_needs_little_more_than_the_body(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keepa_cli.cassettes.yaml_writer._WHOLE", 100_000)
    body = {
        "one array": b'{"csv":[' + b"7654321,1999," * 100_000 + b'1],"t":"\xf0\x9f\x98\x80"}',
        "many rows": b'{"csv":[' + b'{"a":[7654321,1999]},' * 10_000 + b"{}]}",
        "text": b"caf\xc3\xa9 and\nmore " * 50_000,
        "binary": b"\xff\x00\x01" * 300_000,
    }[kind]
    tracemalloc.start()
    size = sum(map(len, dump_cassette([exchange(body)])))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size >= len(body)
    assert peak < len(body) + 2_500_000
