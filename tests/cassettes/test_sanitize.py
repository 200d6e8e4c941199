from __future__ import annotations

import gzip
import json
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes.codec import dump_cassette
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.sanitize import SANITIZER_VERSION, sanitize
from keepa_cli.cassettes.scan import scan_exchange
from keepa_cli.core.redact import REDACTED, Redactor
from tests.cassettes.canary import API, EMAIL, KEY, PHONE, WEBHOOK, exchange, placements, png

REDACTOR = Redactor(KEY)


def body(text: str | bytes, **headers: list[str]) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return sanitize(exchange(body=data, **headers), REDACTOR)[0].body


def url(text: str) -> str:
    return sanitize(exchange(url=text), REDACTOR)[0].url


def test_headers_are_kept_by_an_allow_list() -> None:
    dirty = Exchange(
        "GET",
        f"{API}/product?key={KEY}&domain=1",
        {"User-Agent": ["python-requests/2.32"], "accept": ["*/*"], "Cookie": ["a=1"], "X-Any": ["1"], "Host": ["h"]},
        b"",
        200,
        "OK",
        {
            "content-type": ["application/json;charset=UTF-8"],
            "Date": ["Sun, 10 May 2026 10:00:00 GMT"],
            "Retry-After": ["5"],
            "Set-Cookie": ["a=1"],
            "Server": ["x"],
            "Content-Length": ["999"],
            "Content-Encoding": ["gzip"],
            "Transfer-Encoding": ["chunked"],
        },
        b"{}",
    )
    clean, counts = sanitize(dirty, REDACTOR)
    assert clean.request_headers == {"User-Agent": ["keepa-cli"], "accept": ["*/*"]}
    assert clean.headers == {
        "content-type": ["application/json;charset=UTF-8"],
        "Date": ["Sun, 10 May 2026 10:00:00 GMT"],
        "Retry-After": ["5"],
        "Content-Length": ["2"],
    }
    assert counts == {"header": 6, "key_parameter": 1, "value": 1}
    assert SANITIZER_VERSION


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("https://api.keepa.com/product?key=K&domain=1&asin=A%2CB,C", "https://api.keepa.com/product?domain=1&asin=A%2CB,C"),
        ("https://api.keepa.com/product?domain=1&key=K", "https://api.keepa.com/product?domain=1"),
        ("https://api.keepa.com/product?key=K", "https://api.keepa.com/product"),
        ("https://api.keepa.com/product?KEY=K&key=L&a=1", "https://api.keepa.com/product?a=1"),
        ("https://api.keepa.com/product?k%65y=K&a=%20b+c&flag=&d", "https://api.keepa.com/product?a=%20b+c&flag=&d"),
        ("https://api.keepa.com/product?a=1;key=K;b=2", "https://api.keepa.com/product?a=1;b=2"),
        ("https://api.keepa.com/product?a=1&a=1&monkey=2", "https://api.keepa.com/product?a=1&a=1&monkey=2"),
        ("https://api.keepa.com/p?token=T&Api_Key=A", "https://api.keepa.com/p?token=%5BREDACTED%5D&Api_Key=%5BREDACTED%5D"),
        ("http://127.0.0.1:8123/product?domain=1", "https://api.keepa.com/product?domain=1"),
        ("http://user:pw@proxy.example:1/product", "https://api.keepa.com/product"),
        ("HTTPS://API.KEEPA.COM:443/token", "https://api.keepa.com/token"),
        ("https://api.keepa.com", "https://api.keepa.com/"),
        ("http://[::1/broken?key=K", "https://api.keepa.com/broken"),
        ("/product?domain=1", "https://api.keepa.com/product?domain=1"),
        ("", "https://api.keepa.com/"),
        (f"https://api.keepa.com/tracking?type=webhook&url={WEBHOOK}?a=1&b", "https://api.keepa.com/tracking?type=webhook&url=%5BREDACTED%5D&b"),
        ("https://api.keepa.com/s?term=a%40b.com", "https://api.keepa.com/s?term=%5BREDACTED%5D"),
        ("https://api.keepa.com/q?selection=%7B%22token%22%3A%22abc%22%2C%22a%22%3A1%7D", "https://api.keepa.com/q?selection=%7B%22token%22%3A%22%5BREDACTED%5D%22%2C%22a%22%3A1%7D"),
        ("https://api.keepa.com/tracking?type=webhook", "https://api.keepa.com/tracking?type=webhook"),
        (WEBHOOK, "https://api.keepa.com/%5BREDACTED%5D"),
        (f"https://api.keepa.com/x?u={KEY}", "https://api.keepa.com/x?u=%5BREDACTED%5D"),
    ],
)  # fmt: skip
def test_urls(dirty: str, clean: str) -> None:
    assert url(dirty) == clean
    assert url(clean) == clean


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("https://api.keepa.com/product?key=K&domain=1#x", "https://api.keepa.com/product?domain=1#x"),
        ("http://127.0.0.1:99/a", "https://api.keepa.com/a"),
        ("/product?key=K", "/product"),
        ("product?a=1", "product?a=1"),
        ("//other.example/a?apikey=1", "https://api.keepa.com/a?apikey=%5BREDACTED%5D"),
    ],
)
def test_locations(dirty: str, clean: str) -> None:
    assert sanitize(exchange(status=302, location=[dirty]), REDACTOR)[0].headers["location"] == [clean]


def test_json_is_edited_in_place() -> None:
    kept = '{"b": 1.10,"big":12345678901234567890123 , "b":1e5,"t":"a\\u00e9\\/\\n","n":null,"tokensLeft":5,\t"x":[1,2]'
    dirty = kept + ',"Key":"k","TOKEN":{"a":["}"]},"authorization":7,"apikey":null,"api_key":""}'
    clean = kept + ',"Key":"@","TOKEN":"@","authorization":"@","apikey":null,"api_key":"@"}'.replace("@", REDACTED)
    assert body(dirty) == clean.encode()
    assert body(kept + "}") == (kept + "}").encode()


@pytest.mark.parametrize("media", ["application/json", "application/json; charset=utf-8", "text/plain", ""])
def test_names_count_in_any_media_type_and_shape(media: str) -> None:
    assert body('[{"a":[{"key":"k"}]},"key","v"]', Content_Type=[media]) == b'[{"a":[{"key":"[REDACTED]"}]},"key","v"]'


def test_personal_data_of_sellers_keeps_its_json_types() -> None:
    seller = {
        "sellerId": "A2L77EE7U53NWQ",
        "sellerName": "Shop",
        "businessName": "Jane Doe e.K.",
        "tradeNumber": "HRB 1",
        "vatID": "DE1",
        "phoneNumber": PHONE,
        "representative": "Jane Doe",
        "email": EMAIL,
        "address": ["Street 1", "12345 Town", "DE"],
        "customerServicesAddress": [],
        "businessType": "GmbH",
        "ratingCount": [1, 2, 3, 4],
        "hasFBA": True,
    }
    clean = json.loads(body(json.dumps({"sellers": {"A2L77EE7U53NWQ": seller}})))["sellers"]["A2L77EE7U53NWQ"]
    personal = ("businessName", "tradeNumber", "vatID", "phoneNumber", "representative", "email")
    assert clean == seller | dict.fromkeys(personal, REDACTED) | {"address": [REDACTED]}
    odd = '{"email":true,"address":{"a":1},"vatID":123456,"phoneNumber":null,"representative":""}'
    assert body(odd) == b'{"email":true,"address":{},"vatID":0,"phoneNumber":null,"representative":""}'


def test_addresses_in_texts_are_replaced() -> None:
    dirty = {
        "description": f"Write to {EMAIL} or jane@shop.co.uk, not to photo@2x.png or @cosme",
        "webhookUrl": "https://a.example/x",
        "error": {"message": f"cannot reach {WEBHOOK}?x=1", "details": "https://hooks.slack.example/services/T1"},
        "image": "https://m.media-amazon.com/images/I/71abc.jpg",
        "link": "https://shop.example/fish-hooks/1",
    }
    assert json.loads(body(json.dumps(dirty))) == {
        "description": f"Write to {REDACTED} or {REDACTED}, not to photo@2x.png or @cosme",
        "webhookUrl": REDACTED,
        "error": {"message": f"cannot reach {REDACTED}", "details": REDACTED},
        "image": "https://m.media-amazon.com/images/I/71abc.jpg",
        "link": "https://shop.example/fish-hooks/1",
    }


def test_an_escape_before_a_find_stays_whole() -> None:
    for before in ("\\n", "\\u0041", "\\\\", '\\"', "x"):
        for found in ("jane@shop.example", "c2stQ0FOQVJZLzlmKzhlPWFi", KEY, "https://hooks.a.example/x"):
            clean = body('{"m":"' + before + found + '"}')
            assert json.loads(clean)["m"].endswith(REDACTED), (before, found, clean)


def test_json_inside_json_strings() -> None:
    inner = json.dumps({"token": "t", "email": EMAIL, "n": 1.5, "deep": json.dumps({"vatID": "DE1"})})
    clean = json.loads(body(json.dumps({"error": {"details": inner, "type": "é"}})))
    details = json.loads(clean["error"]["details"])
    assert details == {"token": REDACTED, "email": REDACTED, "n": 1.5, "deep": json.dumps({"vatID": REDACTED})}
    assert clean["error"]["type"] == "é"


def test_quoted_requests_in_texts() -> None:
    text = "Bad request:\nGET /p\nAuthorization: Bearer abc\nCookie: a=1; b=2\nDate: today\n"
    clean = body(text, Content_Type=["text/plain"]).decode()
    assert clean == f"Bad request:\nGET /p\nAuthorization: {REDACTED}\nCookie: {REDACTED}\nDate: today\n"
    page = body("<e><apiKey>abc</apiKey><note>key</note></e>", Content_Type=["application/xml"]).decode()
    assert page == f"<e><apiKey>{REDACTED}</apiKey><note>key</note></e>"


def test_a_moment_that_holds_a_secret_is_dropped() -> None:
    assert "Retry-After" not in sanitize(exchange(Retry_After=[KEY]), REDACTOR)[0].headers


def test_a_key_that_is_not_configured_is_found_through_the_request() -> None:
    other = "z9y8x7w6" * 8
    dirty = exchange(url=f"{API}/product?key={other}", body=f'{{"error":{{"message":"bad {other}"}}}}'.encode())
    assert sanitize(dirty, Redactor())[0].body == b'{"error":{"message":"bad [REDACTED]"}}'
    bearer = exchange(asks={"Authorization": [f"Bearer {other}"]}, body=other.encode(), Content_Type=["text/plain"])
    assert sanitize(bearer, Redactor())[0].body == REDACTED.encode()
    hook = exchange(
        url=f"{API}/tracking?type=webhook&url=https%3A%2F%2Fa.example%2Fsecret-path",
        body=b'{"error":{"message":"https://a.example/secret-path is bad"}}',
    )
    assert sanitize(hook, Redactor())[0].body == b'{"error":{"message":"[REDACTED] is bad"}}'


PLAIN = b'{"products":[],"tokensLeft":1}'


@pytest.mark.parametrize(
    ("packed", "coding"),
    [
        (gzip.compress(PLAIN), "gzip"),
        (gzip.compress(PLAIN), "GZIP"),
        (gzip.compress(PLAIN), " x-gzip "),
        (gzip.compress(PLAIN[:9]) + gzip.compress(b"") + gzip.compress(PLAIN[9:]), "gzip"),
        (gzip.compress(PLAIN) + b"\0" * 9, "gzip"),
        (zlib.compress(PLAIN), "deflate"),
        (zlib.compress(PLAIN)[2:-4], "deflate"),
        (gzip.compress(zlib.compress(PLAIN)), "deflate, gzip"),
        (PLAIN, "gzip"),
        (PLAIN, "deflate"),
        (PLAIN, "br"),
        (PLAIN, "identity"),
    ],
)
def test_bodies_are_stored_decoded(packed: bytes, coding: str) -> None:
    clean, _ = sanitize(exchange(body=packed, Content_Encoding=[coding]), REDACTOR)
    assert clean.body == PLAIN
    assert clean.headers == {"Content-Type": ["application/json;charset=UTF-8"], "Content-Length": ["30"]}


def test_empty_cut_and_unreadable_bodies() -> None:
    assert sanitize(exchange(body=b"", status=204, Content_Encoding=["gzip"]), REDACTOR)[0].headers == {
        "Content-Type": ["application/json;charset=UTF-8"]
    }
    assert sanitize(exchange(body=b"", method="HEAD", Content_Length=["30"]), REDACTOR)[0].headers.keys() == {
        "Content-Type"
    }
    cut = body(gzip.compress(PLAIN * 1000, 0)[:5000], Content_Encoding=["gzip"])
    assert cut.startswith(PLAIN) and len(cut) > 4000
    brotli = exchange(body=b"\x8b\x00\x80\xff\xfe", Content_Encoding=["br"])
    assert sanitize(brotli, REDACTOR)[0].body == REDACTED.encode()
    assert sanitize(brotli, REDACTOR)[1] == {"opaque": 1}


def test_a_decompression_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    from keepa_cli.cassettes import content

    monkeypatch.setattr(content, "LIMIT", 1 << 20)
    bomb = gzip.compress(bytes(50 << 20))
    assert body(bomb, Content_Encoding=["gzip"]) == REDACTED.encode()


def test_what_is_clean_stays_byte_for_byte(shared_data: Path) -> None:
    for file in sorted(shared_data.glob("*.json")):
        data = file.read_bytes()
        for shape in (data, json.dumps(json.loads(data), separators=(",", ":")).encode()):
            clean, counts = sanitize(exchange(body=shape), REDACTOR)
            assert clean.body is shape
            assert counts == {}
    for data in (
        png(),
        b"\xff\xd8\xff\xe0 jpeg \x00\x01",
        "é".encode("latin-1"),
        '{"a":1}'.encode("utf-16"),
        gzip.compress(PLAIN),
    ):
        assert body(data, Content_Type=["image/png"]) == data


def test_a_picture_loses_the_texts_that_hold_the_key_and_stays_a_picture() -> None:
    dirty = png((b"tEXt", b"Author\0" + KEY.encode()), (b"tEXt", b"Title\0chart"))
    assert body(dirty, Content_Type=["image/png"]) == png((b"tEXt", b"Title\0chart"))


def test_the_exchange_that_was_given_is_not_changed() -> None:
    dirty = placements()["echo in error"](KEY.encode())
    before = repr(dirty)
    sanitize(dirty, REDACTOR)
    assert repr(dirty) == before


junk: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.lists(st.text())


@settings(max_examples=150, deadline=None)
@given(
    method=junk, url=junk, sent=junk, status=junk, reason=junk, data=junk,
    asks=st.none() | st.dictionaries(st.text() | st.none() | st.binary(), junk),
    answers=st.dictionaries(st.text() | st.sampled_from(["Location", "Content-Encoding", "Content-Type"]), junk),
)  # fmt: skip
def test_no_input_raises_and_twice_is_the_same_as_once(**parts: Any) -> None:
    dirty = Exchange(
        parts["method"], parts["url"], parts["asks"], parts["sent"], parts["status"], parts["reason"],
        parts["answers"], parts["data"],
    )  # fmt: skip
    clean, _ = sanitize(dirty, REDACTOR)
    assert sanitize(clean, REDACTOR)[0] == clean


pieces = st.sampled_from(
    [
        *'{}[]:,"\\%&;=?#@/ \n',
        "key", '"key":', "token=", "\\u0073", "\\n", KEY, EMAIL, WEBHOOK, "&amp;", "%2F", "1.10",
        "null", '"email":', "c2stQ0FOQVJZLzlmKzhlPWFi", "é", "\0", "\x1f\x8b\x08", "<key>", "</key>", "\ud800", "://",
    ]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(text=st.lists(pieces, max_size=25).map("".join))
def test_hostile_texts_end_clean_and_stable(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    dirty = replace(exchange(url=f"{API}/{text}", body=data, Location=[text]), request_body=data, reason=text)
    clean, counts = sanitize(dirty, REDACTOR)
    assert sanitize(clean, REDACTOR) == (clean, {}), counts
    assert KEY.encode() not in clean.body
    assert EMAIL.encode() not in clean.body
    assert scan_exchange(clean, "a", REDACTOR) == []
    assert REDACTOR.find(b"".join(dump_cassette([clean]))) == []


@settings(max_examples=80, deadline=None)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text() | pieces,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | pieces, inner, max_size=4),
        max_leaves=12,
    ),
    ascii_only=st.booleans(),
)
def test_valid_json_stays_valid_json(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    clean = body(text.encode("utf-8", "surrogatepass"))
    json.loads(clean.decode("utf-8", "surrogatepass"))


@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read from the resource module")
def test_a_50_mb_body_needs_little_more_than_one_copy() -> None:
    import subprocess

    program = """
import resource
from keepa_cli.cassettes.sanitize import sanitize
from keepa_cli.core.redact import Redactor
from tests.cassettes.canary import KEY, exchange
unit = b'{"t":"some title","csv":[' + b"7654321,1999," * 3000 + b'1]}'
dirty = exchange(body=b'{"p":[' + b",".join([unit] * 1300) + b',{"email":"a@b.com","t":"' + KEY.encode() + b'"}]}')
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
clean, counts = sanitize(dirty, Redactor(KEY))
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
print(len(dirty.body), grown * 1024 / len(dirty.body), counts)
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60)
    size, copies, counts = done.stdout.split(maxsplit=2)
    assert int(size) > 50_000_000
    assert float(copies) < 2.5, done.stdout
    assert "personal_data" in counts
