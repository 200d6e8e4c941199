from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.keepa.clock import DAY, from_iso, to_datetime
from keepa_cli.keepa.series import Series
from keepa_cli.research.analysis.seasonality import daily, seasonality
from tests.research.history.support import made, real, slots
from tests.support.views import problems

START = from_iso("2022-01-01")


def ranks(days: int, rank: Any) -> Series:
    packed = [n for day in range(days) for n in (START + day * DAY, rank(day))]
    return made(csv=slots(s3=packed)).series("SALES")


def month(day: int) -> int:
    return to_datetime(START + day * DAY).month


def found(series: Series, days: int) -> Any:
    return seasonality(series, START + days * DAY, "$.products[0].csv[3]")


def labels(result: Any) -> dict[int, str]:
    return {m["month"]: m["label"] for m in result["value"]}


def test_a_christmas_product_peaks_in_december_and_rests_in_summer() -> None:
    result = found(ranks(1096, lambda d: {12: 1000, 11: 2500, 7: 9000, 8: 9000}.get(month(d), 4000)), 1096)
    assert labels(result)[12] == labels(result)[11] == "peak_season"
    assert labels(result)[7] == labels(result)[8] == "off_season"
    assert labels(result)[3] == "shoulder"
    assert (result["years"], result["pattern"], result["confidence"]) == (3.0, "seasonal", "high")
    assert problems(result) == []


def test_a_trend_is_no_season() -> None:
    result = found(ranks(1461, lambda d: round(1000 * math.exp(d / 500))), 1461)
    assert set(labels(result).values()) == {"year_round"}
    assert result["pattern"] == "year_round"


def test_a_season_shows_through_a_trend() -> None:
    result = found(ranks(1461, lambda d: round((500 if month(d) == 12 else 1000) * math.exp(d / 500))), 1461)
    assert labels(result)[12] == "peak_season"
    assert labels(result)[6] == "shoulder"
    assert 40 < -result["value"][11]["index_pct"] < 60


@pytest.mark.parametrize("days", [0, 1, 300, 364])
def test_less_than_a_year_is_too_little(days: int) -> None:
    result = found(ranks(days, lambda _: 500), days)
    assert result["value"] is None
    assert result["absent"] == {"value": "too_little_history"}
    assert (result["pattern"], result["confidence"]) == ("unknown", "low")
    assert problems(result) == []


def test_a_month_without_ranks_is_too_little() -> None:
    assert found(ranks(800, lambda d: -1 if month(d) == 5 else 700), 800)["value"] is None


def test_samples_are_the_ranks_in_force_at_noon() -> None:
    series = made(csv=slots(s3=[START + 60, 100, START + DAY + 800, 200, START + 3 * DAY, -1])).series("SALES")
    assert [(d - START // DAY, round(math.exp(v))) for d, _, v in daily(series, START + 5 * DAY)] == [
        (0, 100), (1, 100), (2, 200),
    ]  # fmt: skip


def test_a_future_and_a_huge_rank_are_none() -> None:
    series = made(csv=slots(s3=[START, 10**40, START + 900 * DAY, 5])).series("SALES")
    assert found(series, 800)["value"] is None


def test_the_real_body_has_a_season(shared_data: Path) -> None:
    subject, body = real(shared_data)
    result = seasonality(subject.series("SALES"), subject.now, subject.series_path("SALES"))
    assert len(result["value"]) == 12
    assert result["years"] == 1.6
    assert problems(result, body) == []
