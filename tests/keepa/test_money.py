from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.keepa.domains import DOMAINS, resolve
from keepa_cli.keepa.money import amount, money, tenths


@given(st.integers(0, 10**20), st.sampled_from(list(DOMAINS.values())))
def test_amounts_are_exact(minor: int, domain: Any) -> None:
    text = amount(minor, domain)
    assert text is not None
    assert Decimal(text) == Decimal(minor).scaleb(-domain.digits)
    assert len(text.partition(".")[2]) == domain.digits


@pytest.mark.parametrize("minor", [-1, -2, None, 1.5, "12", True])
def test_no_price_is_no_amount(minor: Any) -> None:
    assert amount(minor, resolve("US")) is None
    assert money(minor, resolve("US")) == {"raw": minor, "amount": None, "currency": "USD", "formatted": None}


def test_money_names_its_currency() -> None:
    assert money(129900, resolve("IN")) == {
        "raw": 129900, "amount": "1299.00", "currency": "INR", "formatted": "1,299.00 INR",
    }  # fmt: skip
    assert money(4900, resolve("JP"))["formatted"] == "4,900 JPY"


@pytest.mark.parametrize(
    ("value", "text"), [(45, "4.5"), (50, "5.0"), (0, "0.0"), (7, "0.7"), (-1, None), (None, None)]
)
def test_ratings_are_tenths(value: Any, text: str | None) -> None:
    assert tenths(value) == text
