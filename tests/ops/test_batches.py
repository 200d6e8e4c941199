"""One row per item asked, whatever the answers hold; work that grows with the list and not faster."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.ops._batches import chunks, codes_of, merge_products, product_items
from tests.support.remote import BUCKET, call
from tests.support.scripted_server import ScriptedServer

A, B, C = "B00AAAAAA1", "B00BBBBBB2", "B00CCCCCC3"
EAN = "4006381333931"


def rows(asked: list[str], products: Any, by: str = "asin") -> list[tuple[str, str, list[str]]]:
    items = product_items({"products": products}, {by: asked})["items"]
    return [(row["asked"], row["status"], row["asins"]) for row in items]


def test_rows_follow_the_order_asked_and_repeat_what_was_asked_twice() -> None:
    found = rows([C, A, C, B], [{"asin": A}, {"asin": B}, {"asin": C}])
    assert found == [(C, "found", [C]), (A, "found", [A]), (C, "found", [C]), (B, "found", [B])]


@pytest.mark.parametrize("products", [None, [], "none", {}, [None, 3, "x", {}, {"asin": None}]])
def test_answers_without_usable_products_find_nothing(products: Any) -> None:
    assert rows([A, B], products) == [(A, "not_found", []), (B, "not_found", [])]


def test_products_that_keepa_knows_nothing_of_are_invalid() -> None:
    dead = [{"asin": A, "productType": 3}, {"asin": B, "productType": 4, "title": None}, {"asin": C, "productType": 5}]
    assert rows([A, B, C], dead) == [(A, "invalid", [A]), (B, "invalid", [B]), (C, "found", [C])]


def test_of_two_products_with_one_asin_the_usable_one_counts() -> None:
    for products in ([{"asin": A, "productType": 4}, {"asin": A, "title": "x"}], [{"asin": A, "title": "x"}] * 2):
        assert product_items({"products": products}, {"asin": [A]})["items"] == [
            {"asked": A, "status": "found", "asins": [A], "title": "x"}
        ]


def test_codes_match_over_every_list_whatever_their_leading_zeros() -> None:
    products = [
        {"asin": A, "upcList": ["747474801770"], "eanList": ["0747474801770"], "gtinList": None},
        {"asin": B, "gtinList": ["04006381333931"], "eanList": None},
        {"asin": C, "eanList": [EAN, None]},
    ]
    asked = ["00747474801770", "747474801770", EAN, "5901234123457"]
    assert rows(asked, products, "code") == [
        ("00747474801770", "found", [A]),
        ("747474801770", "found", [A]),
        (EAN, "ambiguous", [B, C]),
        ("5901234123457", "not_found", []),
    ]


def test_an_unusable_product_does_not_make_a_code_ambiguous() -> None:
    products = [{"asin": A, "eanList": [EAN], "productType": 4}, {"asin": B, "eanList": [EAN]}]
    assert rows([EAN], products, "code") == [(EAN, "found", [B])]
    assert rows([EAN], products[:1], "code") == [(EAN, "invalid", [A])]


def test_products_that_answer_no_code_are_named() -> None:
    data = product_items({"products": [{"asin": A, "eanList": [EAN]}, {"asin": B}]}, {"code": [EAN]})
    assert data["unmatched"] == [B]
    assert "unmatched" not in product_items({"products": [{"asin": A, "eanList": [EAN]}]}, {"code": [EAN]})


def test_bodies_that_lack_products_are_merged_all_the_same() -> None:
    bodies = [{"products": [{"asin": A}], "tokensConsumed": 1}, {"tokensConsumed": None}, {"products": None, "x": 1}]
    assert merge_products(bodies) == {"products": [{"asin": A}], "tokensConsumed": 1, "x": 1}


def test_a_product_that_nobody_asked_for_is_a_broken_contract(home: Path) -> None:
    with ScriptedServer([{"json": BUCKET | {"products": [{"asin": A}, {"asin": C}]}}]) as server:
        result = call("products.get", home, {"asin": [A, B]}, server)
    assert result["error"]["kind"] == "contract_error" and C in result["error"]["message"]


@settings(max_examples=60)
@given(
    asked=st.lists(st.sampled_from([f"B{n:09d}" for n in range(40)]), min_size=1, max_size=60), size=st.integers(1, 9)
)
def test_chunks_hold_each_item_once_in_the_order_asked(asked: list[str], size: int) -> None:
    parts = list(chunks(asked, size))
    assert [item for part in parts for item in part] == list(dict.fromkeys(asked))
    assert all(len(part) == size for part in parts[:-1]) and 0 < len(parts[-1]) <= size


@settings(max_examples=60)
@given(
    asked=st.lists(st.sampled_from([A, B, C]), min_size=1, max_size=8),
    held=st.lists(st.sampled_from([A, B, C]), max_size=8).flatmap(st.permutations),
)
def test_one_row_per_item_in_any_order_of_products(asked: list[str], held: list[str]) -> None:
    found = rows(asked, [{"asin": asin} for asin in held])
    assert [row[0] for row in found] == asked
    assert all((status == "found") is (item in held) for item, status, _ in found)


def test_the_collector_is_on_again_unless_it_was_off() -> None:
    for switch in (gc.disable, gc.enable):
        switch()
        before = gc.isenabled()
        with pytest.raises(TypeError):
            product_items({"products": []}, {"asin": [None]})
        assert gc.isenabled() is before


def test_codes_of_odd_values() -> None:
    assert codes_of({"upcList": [12345678, "  4006381333931 ", None, {}], "eanList": "x"}) == {
        "00000012345678",
        "04006381333931",
    }
