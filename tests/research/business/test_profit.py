"""What one unit earns: exact to the minor unit, with every assumption told."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.business import fees
from keepa_cli.research.business.amounts import decimal_text, minor_units, percent_text, signed
from keepa_cli.research.business.fees import Terms
from keepa_cli.research.business.profit import profit_view
from tests.research.business.support import DAY, NOW, body, product, real
from tests.support.views import problems

amounts = st.integers(0, 5000)
shares = st.integers(0, 3000).map(lambda n: Fraction(n, 10_000))
terms = st.builds(
    Terms,
    cost=amounts, referral=shares, fulfilment=amounts, inbound=amounts, storage=amounts, closing=amounts,
    other=amounts, ads=shares, returns=shares, least_referral=st.integers(0, 100),
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(terms, st.integers(0, 10**7))
def test_the_price_is_the_deductions_and_the_profit_to_the_cent(t: Terms, price: int) -> None:
    left = fees.profit(t, price)
    parts = fees.parts(t, price)
    assert left is not None
    assert price == sum(p or 0 for p in parts.values()) + left
    assert (parts["referral_fee"] or 0) >= t.least_referral


@settings(max_examples=100, deadline=None)
@given(terms)
def test_break_even_is_the_smallest_price_without_loss(t: Terms) -> None:
    price = fees.break_even(t)
    assert price is not None
    assert fees.profit(t, price) == 0
    for lower in {*range(max(0, price - 40), price), *range(0, price, max(1, price // 50))}:
        assert (fees.profit(t, lower) or 0) < 0


def test_a_half_of_a_minor_unit_is_rounded_up() -> None:
    t = Terms(cost=0, referral=Fraction(15, 100), fulfilment=0)
    assert [fees.referral_fee(t, p) for p in (10, 11, 29, 30)] == [2, 2, 4, 5]


def test_no_price_breaks_even_where_shares_eat_it_all() -> None:
    eaten = Terms(cost=1, referral=Fraction(1, 2), fulfilment=1, ads=Fraction(1, 2))
    assert fees.break_even(eaten) is None
    assert fees.break_even(Terms(cost=1, referral=None, fulfilment=1)) is None
    assert fees.profit(Terms(cost=1, referral=Fraction(0), fulfilment=None), 100) is None


@pytest.mark.parametrize("odd", ["4,20", "$4.20", "-1", "1e3", "", ".5", "4.", "٤", "inf", None, True])
def test_amounts_are_plain_decimals(odd: Any) -> None:
    with pytest.raises(ValueError, match="no decimal number"):
        decimal_text(odd)


def test_amounts_have_the_decimals_of_their_currency() -> None:
    us, jp = DOMAINS[1], DOMAINS[5]
    assert [minor_units(t, us) for t in ("4.20", "4.2", "4", "0.05", "4.2000")] == [420, 420, 400, 5, 420]
    assert minor_units("420", jp) == 420
    for text, domain in (("4.205", us), ("4.2", jp)):
        with pytest.raises(ValueError, match="no amount in"):
            minor_units(text, domain)
    assert signed(-123, us)["amount"] == "-1.23"
    assert signed(-5, jp)["formatted"] == "-5 JPY"


def test_percentages_are_bounded() -> None:
    assert [percent_text(t) for t in ("12.5", "12.5%", 8)] == ["12.5", "12.5", "8"]
    for odd in ("101", "1.234", "-1", "ten"):
        with pytest.raises(ValueError):
            percent_text(odd)


def asked(**more: Any) -> dict[str, Any]:
    return {"asin": "B001GZ6QEC", "domain": "US", "cost": "4.20"} | more


def profit_of(answer: Any, **more: Any) -> Any:
    view = profit_view(answer, asked(**more))
    assert problems(view, answer) == []
    return view


def figures(answer: Any, **more: Any) -> Any:
    return profit_of(answer, **more)["products"][0]["metrics"]["profit"]


def test_the_product_brings_its_own_fees() -> None:
    found = figures(body(product(price=2000)))
    assert found["fees"]["referral_rate"]["method"] == "referralFeePercentage"
    now = found["scenarios"]["current"]
    assert {n: p["raw"] for n, p in now["deductions"].items()} == {
        "cost": 420, "inbound": 0, "referral_fee": 300, "fulfilment_fee": 400, "closing_fee": 0, "storage": 0,
        "advertising": 0, "returns": 0, "other": 0,
    }  # fmt: skip
    assert now["profit"]["value"]["raw"] == 880
    assert (now["margin_percent"]["value"], now["roi_percent"]["value"]) == (44.0, 209.52)
    assert now["highest_cost"]["value"]["raw"] == 1300
    assert found["break_even_price"]["value"]["raw"] == 965


def test_every_option_is_counted_and_every_default_is_told() -> None:
    given_all = {
        "inbound": "0.50", "ads_rate": "10", "return_rate": "5", "storage": "0.25", "other": "0.10",
        "min_referral_fee": "0.30", "referral_rate": "8", "fulfilment_fee": "3.00",
    }  # fmt: skip
    found = figures(body(product(price=2000, variableClosingFee=180)), **given_all)
    parts = {n: p["raw"] for n, p in found["scenarios"]["current"]["deductions"].items()}
    assert parts == {
        "cost": 420, "inbound": 50, "referral_fee": 160, "fulfilment_fee": 300, "closing_fee": 180, "storage": 25,
        "advertising": 200, "returns": 100, "other": 10,
    }  # fmt: skip
    assert {a["input"] for a in found["assumptions"] if a["given"]} == set(given_all) - {
        "referral_rate", "fulfilment_fee",
    }  # fmt: skip
    plain = figures(body(product()))
    defaults = {a["input"]: a.get("value") for a in plain["assumptions"]}
    assert defaults["ads_rate"] == 0.0
    assert defaults["storage"]["amount"] == "0.00"
    assert all(a["given"] is False for a in plain["assumptions"])


def test_the_merchant_pays_shipping_instead_of_the_fba_fee() -> None:
    found = figures(body(product(price=2000, fbaFees=None)), fbm=True, shipping_cost="3.90")
    assert found["scenarios"]["current"]["deductions"]["fulfilment_fee"]["raw"] == 390
    assert found["fulfilment"] == "fbm"


def test_prices_are_means_over_time_and_the_buy_box_counts_first() -> None:
    csv = product()["csv"]
    csv[18] = [NOW - 400 * DAY, 1800, 200, NOW - 15 * DAY, 2800, 200]
    found = figures(body(product(csv=csv)))
    assert found["price_basis"] == "buy_box"
    prices = {n: s["price"]["raw"] for n, s in found["scenarios"].items()}
    assert (prices["current"], prices["mean_30_days"]) == (3000, 2500)
    assert prices["mean_90_days"] in {2166, 2165}


def test_a_price_of_another_type_is_labelled() -> None:
    view = profit_of(body(product()))
    found = view["products"][0]["metrics"]["profit"]
    assert found["price_basis"] == "new"
    assert "was not requested" in found["price_basis_says"]
    assert found["price_basis_says"] in view["brief"]["risk"]
    assert "is not known" in figures(body(product()), buybox=True)["price_basis_says"]


def test_the_older_referral_field_is_told() -> None:
    view = profit_of(body(product(referralFeePercentage=None, referralFeePercent=12)))
    found = view["products"][0]["metrics"]["profit"]["fees"]["referral_rate"]
    assert (found["value"], found["method"], found["confidence"]) == (12.0, "referralFeePercent", "medium")
    assert any("older" in r for r in view["brief"]["risk"])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"fbaFees": None}, "--fulfilment-fee"),
        ({"referralFeePercentage": None}, "--referral-rate"),
        ({"csv": None}, "price"),
    ],
)
def test_what_is_missing_is_null_with_a_reason_and_named(change: Any, word: str) -> None:
    view = profit_of(body(product(**change)))
    now = view["products"][0]["metrics"]["profit"]["scenarios"]["current"]
    assert now["profit"]["value"] is None
    assert word in view["brief"]["decision"]
    even = view["products"][0]["metrics"]["profit"]["break_even_price"]["value"]
    assert (even is None) == ("csv" not in change)


def test_a_price_beyond_reason_is_unreadable() -> None:
    csv = product()["csv"]
    csv[1] = [NOW - 400 * DAY, 10**400]
    scenarios = figures(body(product(csv=csv)))["scenarios"]
    assert {s["absent"]["price"] for s in scenarios.values()} == {"unreadable"}


def test_a_loss_is_told_as_a_loss() -> None:
    view = profit_of(body(product(price=500)))
    assert view["summary"]["profit"]["amount"] == "-3.95"
    assert "loses 3.95 USD" in view["brief"]["decision"]
    assert any(r.startswith("A unit loses money") for r in view["brief"]["risk"])


def test_yen_have_no_decimals_and_another_marketplace_is_not_mixed_in() -> None:
    answer = body(product(price=2000, domainId=5, fbaFees={"pickAndPackFee": 434}))
    found = profit_of(answer, domain="JP", cost="420")
    assert found["summary"]["profit"]["amount"] == str(2000 - 300 - 434 - 420)
    assert profit_of(answer)["products"] == []


def test_the_real_body(shared_data: Path) -> None:
    answer = real(shared_data)
    found = figures(answer)
    assert found["price_basis"] == "buy_box"
    prices = {n: s["price"]["raw"] for n, s in found["scenarios"].items()}
    assert prices == {"current": 1499, "mean_30_days": 1763, "mean_90_days": 1805, "mean_365_days": 1911}
    now = found["scenarios"]["current"]
    assert now["deductions"]["referral_fee"]["raw"] == 225
    assert now["profit"]["value"]["raw"] == 1499 - 225 - 409 - 420


anything = st.one_of(
    st.none(), st.booleans(), st.integers(-10**20, 10**20), st.floats(), st.text(max_size=4),
    st.lists(st.integers(-3, 10**8), max_size=8), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip
FIELDS = (
    "csv", "fbaFees", "referralFeePercentage", "referralFeePercent", "variableClosingFee", "domainId", "title", "asin",
    "lastUpdate", "trackingSince", "buyBoxSellerIdHistory", "stats", "monthlySold", "productType",
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), anything, max_size=5), st.integers(0, 35), anything)
def test_odd_products_never_raise(change: dict[str, Any], slot: int, packed: Any) -> None:
    base = product()
    base["csv"][slot] = packed
    answer = body({**base, **change})
    assert problems(profit_view(answer, asked()), answer) == []


@pytest.mark.parametrize("answer", [{}, {"products": None}, {"products": [None, 3]}, []])
def test_an_answer_without_products_is_told(answer: Any) -> None:
    view = profit_view(answer, asked())
    assert view["products"] == [] or view["summary"]["profit"] is None
