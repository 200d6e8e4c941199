"""Velocity, competition, stock-out risk and turnover of one product."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keepa_cli.research.business.measure import measured
from tests.research.business.support import DAY, NOW, body, one, product, read, real
from tests.support.views import problems


def figures(**more: Any) -> Any:
    return measured(one(**more))


def test_units_are_the_bottom_of_a_bracket() -> None:
    found = figures(monthlySold=100_000)["velocity"]
    assert (found["value"], found["confidence"], found["pace"]) == (100_000, "lower_bound", "fast")
    assert found["statement"].startswith("100,000 or more")
    assert found["evidence_path"] == "$.products[0].monthlySold"


@pytest.mark.parametrize(
    ("stats", "method", "value"), [({"salesRankDrops30": 12}, "sales_rank_drops_30", 12), ({}, "_counted", 2)]
)
def test_rank_drops_are_a_weak_proxy_and_never_units(stats: Any, method: str, value: int) -> None:
    csv = product()["csv"]
    csv[3] = [NOW - 60 * DAY, 500, NOW - 20 * DAY, 400, NOW - 10 * DAY, 450, NOW - 5 * DAY, 300]
    found = figures(monthlySold=None, stats=stats, csv=csv)
    velocity = found["velocity"]
    assert velocity["method"].endswith(method)
    assert (velocity["value"], velocity["confidence"]) == (value, "low")
    assert velocity["unit"] == "rank_drops_per_30_days"
    assert found["cashflow"]["absent"]["value"] == "not_computable"


def test_drops_are_not_counted_over_a_history_that_is_too_short() -> None:
    csv = product()["csv"]
    csv[3] = [NOW - 20 * DAY, 500, NOW - 10 * DAY, 400]
    assert figures(monthlySold=None, csv=csv)["velocity"]["value"] is None


@pytest.mark.parametrize(("sold", "reason"), [(-1, "none"), (None, "not_collected"), ("many", "unreadable")])
def test_without_units_and_drops_the_reason_is_told(sold: Any, reason: str) -> None:
    found = figures(monthlySold=sold, csv=None)["velocity"]
    assert found["value"] is None
    assert found["absent"]["value"] == reason


def test_a_bracket_of_zero_says_nothing_beside_rank_drops() -> None:
    assert figures(monthlySold=0, stats={"salesRankDrops30": 4})["velocity"]["value"] == 4
    assert figures(monthlySold=0, csv=None)["velocity"]["value"] == 0


def test_an_old_bracket_is_told_to_be_old() -> None:
    assert figures(lastSoldUpdate=NOW - 31 * DAY)["velocity"]["stale"] is True
    assert figures()["velocity"]["stale"] is False


def test_the_trend_compares_brackets_at_two_times_not_change_points() -> None:
    history = [NOW - 300 * DAY, 100, NOW - 100 * DAY, 200, NOW - 80 * DAY, 50, NOW - DAY, 300]
    assert figures(monthlySoldHistory=history)["velocity"]["trend"]["value"] == 50.0


def test_offers_come_from_keepas_total_then_counts_then_samples() -> None:
    assert figures(stats={"totalOfferCount": 7})["seller_metrics"]["value"] == 7
    summed = figures()["seller_metrics"]
    assert (summed["value"], summed["method"], summed["confidence"]) == (3, "sum_of_offer_counts", "high")
    csv: list[Any] = [None] * 36
    csv[34], csv[35] = [NOW - DAY, 2], [NOW - DAY, 6]
    split = figures(csv=csv)["seller_metrics"]
    assert (split["value"], split["confidence"], split["fulfilment"]["value"]) == (8, "lower_bound", 25.0)
    history = [str(NOW - 9 * DAY), "A1", str(NOW - 5 * DAY), "A2", str(NOW - DAY), "-1"]
    sample = figures(csv=None, buyBoxSellerIdHistory=history)["seller_metrics"]
    assert (sample["value"], sample["confidence"]) == (2, "lower_bound")
    assert figures(csv=None)["seller_metrics"]["absent"]["value"] == "not_requested"


@pytest.mark.parametrize(("offers", "level"), [(1, "low"), (2, "low"), (3, "medium"), (10, "medium"), (11, "high")])
def test_competition_has_levels(offers: int, level: str) -> None:
    assert figures(offers=offers)["seller_metrics"]["competition"] == level


def gap(days: int) -> list[Any]:
    """A price history without an offer for so many of the last 90 days, and an offer now."""
    csv: list[Any] = product()["csv"]
    csv[1] = [NOW - 400 * DAY, 2000, NOW - 50 * DAY, -1, NOW - (50 - days) * DAY, 2100]
    return csv


@pytest.mark.parametrize(("days", "level"), [(1, "low"), (9, "medium"), (26, "medium"), (28, "high")])
def test_the_share_of_time_without_an_offer_decides_the_risk(days: int, level: str) -> None:
    found = figures(csv=gap(days))["inventory"]
    assert (found["value"], found["basis"]) == (level, "new")


def test_no_offer_now_is_out_of_stock() -> None:
    csv = product()["csv"]
    csv[1] = [NOW - 400 * DAY, 2000, NOW - DAY, -1]
    assert figures(csv=csv)["inventory"]["value"] == "out_of_stock_now"


def test_one_offer_of_a_fast_product_raises_the_risk() -> None:
    assert figures(monthlySold=2000, offers=1)["inventory"]["value"] == "medium"
    assert figures(monthlySold=20, offers=1)["inventory"]["value"] == "low"


def test_a_lost_buy_box_is_no_empty_shelf() -> None:
    csv = product()["csv"]
    csv[18] = [NOW - 400 * DAY, 2000, 0, NOW - DAY, -1, -1]
    found = figures(csv=csv)["inventory"]
    assert (found["value"], found["basis"]) == ("medium", "buy_box")
    assert "nobody holds the buy box" in found["reasons"][-1]


def test_a_quantity_in_stock_is_never_told() -> None:
    found = figures()["inventory"]
    assert "stock_quantity" in found["not_estimated"]
    assert "units" not in str(found["unit"])


def test_turnover_is_price_times_units_in_exact_money() -> None:
    found = figures(price=1999, monthlySold=500)["cashflow"]
    assert found["value"] == {"raw": 999_500, "amount": "9995.00", "currency": "USD", "formatted": "9,995.00 USD"}
    assert {"cost_of_goods", "referral_fee", "advertising", "returns", "tax"} <= set(found["excludes"])
    yen = figures(price=1999, monthlySold=500, domainId=5)["cashflow"]
    assert yen["value"]["amount"] == "999500"


def test_the_real_body_gives_keepas_own_numbers(shared_data: Path) -> None:
    answer = real(shared_data)
    (m,) = read(answer)
    found = measured(m)
    stats = answer["products"][0]["stats"]
    assert found["velocity"]["value"] == 100_000
    assert found["seller_metrics"]["value"] == stats["totalOfferCount"] == 5
    shares = found["inventory"]["out_of_stock_percent"]
    for days in (30, 90):
        told = stats[f"outOfStockPercentage{days}"]
        assert [shares[f"{n}_{days}"]["value"] for n in ("buy_box", "new", "amazon")] == [told[18], told[1], told[0]]
    assert found["cashflow"]["value"]["raw"] == 1499 * 100_000
    assert problems(found, answer) == []


def test_a_product_that_keepa_cannot_access_has_no_figures() -> None:
    (m,) = read(body(product(productType=3)))
    found = measured(m)
    assert [s["value"] for s in found.values()] == [None] * 4
    assert {s["absent"]["value"] for s in found.values()} <= {"not_applicable", "not_computable"}
    assert problems(found) == []
