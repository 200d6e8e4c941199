"""Products are read out of a body one at a time, as strictly as the whole would be."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.bodies import iter_products, iter_subjects

US = DOMAINS[1]
ONE, TWO = {"asin": "B00AAAAAA1", "title": 'a "products": [1] \\'}, {"asin": "B00BBBBBB2", "csv": [[1, 2], None]}


@pytest.mark.parametrize(
    "whole",
    [
        {"products": [ONE, TWO]},
        {"timestamp": 1, "other": {"products": [3]}, "products": [ONE, 7, TWO, None], "last": [1, {"a": "]"}]},
        [ONE, TWO],
        {"ok": True, "data": {"items": [{"products": [1]}], "body": {"products": [ONE, TWO]}}},
        {"ok": True, "data": {"products": [ONE, TWO]}},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_products_come_in_order_from_every_wrapping(whole: Any, indent: int | None) -> None:
    assert list(iter_products(json.dumps(whole, indent=indent).encode())) == [ONE, TWO]
    assert list(iter_products(b"\xef\xbb\xbf" + json.dumps(whole).encode() + b" \n")) == [ONE, TWO]


def test_a_name_written_with_escapes_is_the_same_name() -> None:
    assert list(iter_products(b'{"pro\\u0064ucts":[{"asin":"B00AAAAAA1"}]}')) == [{"asin": "B00AAAAAA1"}]


@pytest.mark.parametrize("empty", [b"[]", b'{"products":[]}', b'{"products":[ ]}'])
def test_an_empty_list_has_no_products(empty: bytes) -> None:
    assert list(iter_products(empty)) == []


@pytest.mark.parametrize(
    "broken",
    [
        b"", b"7", b"{}", b'{"products":7}', b'{"products":null}', b'{"products":[{"a":1}', b'{"products":[{"a":1},]}',
        b'{"products":[{"a":1} {"b":2}]}', b'{"products":[{"a":NaN}]}', b'{"products":[{"a":1]}', b"[{}]x",
        b'{"products":[{}]} {}', b'{"a" "products":[]}', b'{"products":[]', b'{"products":[{"a":"\xff"}]}',
        b'{"products":[{"a":' + b"[" * 300 + b"]" * 300 + b"}]}", b'{"products":[{"a":1e999}]}', b'{"data":{"data":1}}',
        b'{"products":[{}],}', b"{products:[]}", b'{"products":[tru]}',
    ],
)  # fmt: skip
def test_what_is_not_strict_json_with_products_is_refused(broken: bytes) -> None:
    with pytest.raises(ValueError):
        list(iter_products(broken))


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:products1 ', max_size=60).map(str.encode))
def test_any_bytes_give_products_or_a_value_error(data: bytes) -> None:
    try:
        found = list(iter_products(data))
    except ValueError:
        return
    assert all(isinstance(p, dict) for p in found)


def test_subjects_know_where_they_stand_and_when_the_answer_was_made() -> None:
    whole = {"products": [7, ONE | {"domainId": 5}], "timestamp": 1778000000000}
    (found,) = iter_subjects(json.dumps(whole).encode(), US)
    assert (found.path, found.domain.code, found.now) == ("$.products[1]", "JP", 8_069_334)
    (listed,) = iter_subjects(json.dumps([TWO]).encode(), US)
    assert listed.path == "$[0]"


def test_the_real_body_reads_the_same_either_way(shared_data: Path) -> None:
    raw = (shared_data / "product-B0D8W1YVBX-US-20260510.json").read_bytes()
    assert list(iter_products(raw)) == json.loads(raw)["products"]


def test_memory_holds_one_product_at_a_time() -> None:
    big = json.dumps({"asin": "B00AAAAAA1", "csv": [list(range(20_000))]})
    data = f'{{"products":[{",".join([big] * 40)}]}}'.encode()

    def peak(work: Any) -> int:
        tracemalloc.start()
        work()
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    whole = peak(lambda: json.loads(data))
    assert peak(lambda: sum(1 for _ in iter_products(data))) < whole / 10
