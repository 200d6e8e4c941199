"""What makes two requests the same request."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes.fingerprint import fingerprint, of_request, query_pairs
from keepa_cli.keepa.wire import WireRequest

BASE = "https://api.keepa.com/product?domain=1&asin=B00AAAAAA1,B00BBBBBB2&stats=90"


def test_the_value_is_stable_between_releases() -> None:
    assert fingerprint("GET", "https://api.keepa.com/product?domain=1&asin=B00AAAAAA1") == "74041c4442279769"


@pytest.mark.parametrize(
    "url",
    [
        "https://api.keepa.com/product?stats=90&asin=B00AAAAAA1%2CB00BBBBBB2&domain=1",
        "https://api.keepa.com/product?key=SECRET&domain=1&asin=B00AAAAAA1,B00BBBBBB2&stats=90",
        "https://api.keepa.com/product?Key=A&KEY=B&k%65y=C&domain=1&asin=B00AAAAAA1,B00BBBBBB2&stats=90",
        "https://api.keepa.com/product/?domain=1&asin=B00AAAAAA1,B00BBBBBB2&stats=90",
        "http://127.0.0.1:8123/product?domain=1&asin=B00AAAAAA1,B00BBBBBB2&stats=90",
        "https://API.KEEPA.COM:443/product?domain=%31&asin=B00AAAAAA1,B00BBBBBB2&stats=90#top",
    ],
)
def test_spelling_host_and_key_do_not_matter(url: str) -> None:
    assert fingerprint("get", url) == fingerprint("GET", BASE)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.keepa.com/product?domain=1&asin=B00BBBBBB2,B00AAAAAA1&stats=90",
        "https://api.keepa.com/product?domain=1&asin=B00AAAAAA1,B00BBBBBB2&stats=90&history=",
        "https://api.keepa.com/product?domain=1&asin=B00AAAAAA1,B00BBBBBB2&stats=90&stats=90",
        "https://api.keepa.com/products?domain=1&asin=B00AAAAAA1,B00BBBBBB2&stats=90",
        "https://api.keepa.com/product?Domain=1&asin=B00AAAAAA1,B00BBBBBB2&stats=90",
    ],
)
def test_content_matters(url: str) -> None:
    assert fingerprint("GET", url) != fingerprint("GET", BASE)


def test_method_and_body_matter_and_json_bodies_count_by_content() -> None:
    url = "https://api.keepa.com/query?domain=1"
    one = fingerprint("POST", url, b'{"title":"x","perPage":50}')
    assert one == fingerprint("POST", url, b'{ "perPage": 50,\n "title": "x" }')
    others = {fingerprint("GET", url), fingerprint("POST", url), fingerprint("POST", url, b'{"title":"y"}'), one}
    assert len(others) == 4
    assert fingerprint("POST", url, b"\xff\x00") != fingerprint("POST", url, b"\xff\x01")
    assert fingerprint("POST", url, b"[" * 100_000) != one


def test_blank_and_plus_are_read_like_a_form() -> None:
    assert query_pairs("/x?a=&b=1+2&key=K&b=%20&c") == [("a", ""), ("b", "1 2"), ("b", " "), ("c", "")]


def test_undecodable_bytes_stay_apart() -> None:
    assert fingerprint("GET", "https://h/x?a=%ff") != fingerprint("GET", "https://h/x?a=%fe")


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(texts, texts), max_size=6), st.randoms(), texts)
def test_a_sent_request_has_the_fingerprint_of_its_url(pairs: list[tuple[str, str]], random: object, key: str) -> None:
    sent = WireRequest("GET", "/product", tuple(pairs))
    mixed = [("KEY", key), *pairs]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    url = "http://localhost:1/product?" + urlencode(mixed, quote_via=quote)
    assert of_request(sent) == fingerprint("GET", url)
    assert of_request(sent) == fingerprint("GET", sent.url())
