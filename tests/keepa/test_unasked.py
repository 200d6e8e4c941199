"""An answer for another ASIN than the one asked is a broken contract."""

from __future__ import annotations

import pytest

from keepa_cli.core.registry import Request
from keepa_cli.keepa.answer import unasked

ASKED = Request(
    "GET", "/product", {"domain": 1, "asin": ["B0PPJ248DY", "B001GZ6QEC"]}, asked=("B0PPJ248DY", "B001GZ6QEC")
)


@pytest.mark.parametrize(
    "products", [[], None, [{"asin": "B001GZ6QEC"}], [{"asin": "B001GZ6QEC"}, {"asin": "B0PPJ248DY"}]]
)
def test_what_was_asked_for_is_fine_in_any_order_and_number(products: object) -> None:
    assert unasked(ASKED, {"products": products}) == []


@pytest.mark.parametrize("stray", ["B0D8W1YVBX", "b0ppj248dy", None])
def test_a_stray_product_is_named_by_its_place(stray: object) -> None:
    (error,) = unasked(ASKED, {"products": [{"asin": "B0PPJ248DY"}, {"asin": stray}]})
    assert error["path"] == "$.products[1].asin"
    assert str(stray) in error["message"]


def test_products_found_by_code_are_not_compared() -> None:
    by_code = Request("GET", "/product", {"domain": 1, "code": ["0747474801770"]}, asked=("0747474801770",))
    assert unasked(by_code, {"products": [{"asin": "B001GZ6QEC"}]}) == []
