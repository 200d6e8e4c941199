"""A body in parts says the same as the body in one piece, for every shape, and takes little memory."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes import parts as module
from keepa_cli.cassettes.contracts import check_exchange
from keepa_cli.cassettes.parts import outline, parts
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa.strictjson import load_json
from tests.cassettes.promoting import BUCKET, exchange

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=4), inner, max_size=6),
    max_leaves=12,
)
bodies = st.dictionaries(st.text(max_size=4), values, max_size=6)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few bytes, so that small bodies are cut in many places."""
    monkeypatch.setattr(module, "_WHOLE", 0)
    monkeypatch.setattr(module, "_PART", 8)


def joined(data: bytes) -> Any:
    whole: dict[str, Any] = {}
    for part in parts(data):
        if part.member is None:
            return part.body
        items = part.body.pop(part.member)
        whole |= part.body
        known = whole.setdefault(part.member, type(items)())
        assert part.offset == len(known)
        if isinstance(items, dict):
            known |= items
        else:
            known += items
    return whole


@given(bodies, st.sampled_from([None, 1]))
@settings(max_examples=60, deadline=None)
def test_the_parts_together_are_the_body(body: dict[str, Any], indent: int | None) -> None:
    assert joined(json.dumps(body, indent=indent, ensure_ascii=False).encode()) == body


@given(bodies, st.integers(0, 400), st.sampled_from([b"", b",", b"]", b"}", b'"', b"{", b":", b"1", b"\x0b"]))
@settings(max_examples=100, deadline=None)
def test_what_is_no_json_is_refused_wherever_it_breaks(body: dict[str, Any], at: int, put: bytes) -> None:
    text = json.dumps(body).encode()
    at = min(at, len(text))
    broken = text[:at] + put + text[at + (not put) :]
    try:
        expected = load_json(broken)
    except ValueError:
        with pytest.raises(ValueError):
            joined(broken)
        return
    if len(dict(json.loads(broken, object_pairs_hook=list))) == len(json.loads(broken, object_pairs_hook=list)):
        assert joined(broken) == expected


@pytest.mark.parametrize("tail", [b"x", b",", b"{}", b"\x00"])
def test_text_after_the_body_is_refused(tail: bytes) -> None:
    with pytest.raises(ValueError):
        joined(b'{"a": [1, 2, 3, 4, 5, 6]}' + tail)


def test_an_outline_keeps_what_tells_the_request() -> None:
    products = [{"asin": f"B0AAAAAA{n:02}", "domainId": 1, "title": "x" * 50} for n in range(30)]
    found = outline(json.dumps(BUCKET | {"products": products}).encode())
    assert found["products"] == [{"asin": p["asin"], "domainId": 1} for p in products]
    assert found["tokensLeft"] == 94
    many = outline(json.dumps({"asinList": ["B0AAAAAAA1"] * 500, "totalResults": 500}).encode())
    assert many["totalResults"] == 500
    assert len(many["asinList"]) < 30


def test_a_breach_in_a_late_part_is_placed_in_the_whole_body() -> None:
    products: list[dict[str, Any]] = [{"asin": f"B0AAAAAA{n:02}", "domainId": 1, "productType": 0} for n in range(30)]
    assert check_exchange(exchange(BUCKET | {"products": products}), "x").verdict == "pass"
    del products[23]["asin"]
    with pytest.raises(KeepaCliError) as caught:
        check_exchange(exchange(BUCKET | {"products": products}), "x")
    assert caught.value.details["path"] == "$.products[23].asin"


def test_unknown_fields_of_all_parts_are_counted() -> None:
    products = [{"asin": f"B0AAAAAA{n:02}", "domainId": 1, "productType": 0, "brandNew": 1} for n in range(30)]
    found = check_exchange(exchange(BUCKET | {"products": products}), "x")
    assert sum(found.unknown_fields.values()) == 30


def test_an_error_beside_small_members_is_still_an_error() -> None:
    body = {"error": {"message": "x" * 50, "details": [1, 2, 3, 4, 5]}, "tokensLeft": 0}
    assert check_exchange(exchange(body), "x").verdict == "error_answer"
