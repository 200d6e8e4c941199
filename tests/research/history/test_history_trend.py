from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keepa_cli.keepa.clock import DAY, iso
from keepa_cli.research.history.tracks import tracks
from keepa_cli.research.history.trend import SPARK_POINTS, trend
from keepa_cli.research.names import BY_VIEW_NAME
from keepa_cli.research.subject import Subject
from tests.research.history.support import BODIES, NOW, made, real, slots
from tests.support.views import problems


def of(subject: Subject, name: str, *days: int) -> Any:
    return trend(subject, tracks(subject)[name], days or (30,))


@pytest.mark.parametrize("file", BODIES)
def test_windows_are_keepas_statistics(file: str, shared_data: Path) -> None:
    subject, body = real(shared_data, file)
    stats, checked = subject.stats, 0
    for name, track in tracks(subject).items():
        if track.type is None or not len(track) or not track.unit.ordered or ":" in name:
            continue
        shown = of(subject, name, 30, 90, 180, 365)
        assert problems(shown, body) == []
        index = BY_VIEW_NAME[name].index
        for days, window in shown["windows"].items():
            if days == "absent":
                continue
            mean = window and window["mean"]
            assert (mean["raw"] if mean else -1) == stats[f"avg{days}"][index]
            share = window and window["out_of_stock_pct"]
            if window:
                assert (-1 if share is None else share) == stats[f"outOfStockPercentage{days}"][index]
                checked += 1
        if shown["all_time"]:
            assert shown["all_time"]["min"]["raw"] == stats["min"][index][1]
            assert shown["all_time"]["max"]["at"] == iso(stats["max"][index][0])
    assert checked > 25


def test_rank_drops_are_keepas_where_the_answer_has_them(shared_data: Path) -> None:
    subject, _ = real(shared_data)
    windows = of(subject, "sales_rank", 30, 45)["windows"]
    assert windows["30"]["drops"]["value"] == subject.stats["salesRankDrops30"]
    assert windows["30"]["drops"]["confidence"] == "exact"
    assert windows["45"]["drops"]["method"].startswith("estimate")


def test_money_ratings_and_counts_are_shown_in_their_units() -> None:
    subject = made(csv=slots(s1=[1, 1999, NOW - DAY, 1499], s16=[1, 44, NOW - DAY, 43], s11=[1, 4, NOW - DAY, 5]))
    month = of(subject, "new")["windows"]["30"]
    assert month["change"] == {"raw": -500, "amount": "-5.00", "currency": "USD", "formatted": "-5.00 USD"}
    assert (month["change_pct"], month["min"]["amount"], month["drops"]["value"]) == (-25.01, "14.99", 1)
    assert month["min"]["at"] == iso(NOW - DAY)
    assert of(subject, "rating")["windows"]["30"]["change"] == {"value": "-0.1", "raw": -1}
    assert of(subject, "rating")["current"] == {"value": "4.3", "raw": 43}
    count = of(subject, "new_offer_count")["windows"]["30"]
    assert (count["change"]["value"], count["out_of_stock_pct"]) == (1, None)
    assert count["absent"]["out_of_stock_pct"] == "not_applicable"


def test_a_product_out_of_stock_has_no_current_price_but_a_history() -> None:
    shown = of(made(csv=slots(s1=[1, 1999, NOW - 10 * DAY, -1])), "new", 5, 30)
    assert shown["current"] is None and shown["windows"]["5"] is None
    assert shown["absent"] == {"current": "none"} and shown["windows"]["absent"] == {"5": "none"}
    assert shown["windows"]["30"]["out_of_stock_pct"] == 34
    assert problems(shown) == []


def test_a_history_that_was_only_ever_empty() -> None:
    shown = of(made(csv=slots(s0=[1, -1])), "amazon")
    assert shown["all_time"] is None
    assert problems(shown) == []


def test_the_sparkline_steps_evenly_to_now() -> None:
    spark = of(made(csv=slots(s1=[NOW - 15 * DAY, 100, NOW, 200])), "new")["sparkline"]
    assert spark["to_at"] == iso(NOW) and spark["from_at"] == iso(NOW - 15 * DAY)
    assert spark["raw"] == [100] * (SPARK_POINTS - 1) + [200]


def test_only_ranks_have_seasons(shared_data: Path) -> None:
    subject, _ = real(shared_data)
    assert len(of(subject, "sales_rank:3760911")["seasonality"]["value"]) == 12
    assert "seasonality" not in of(subject, "new")
    short = of(made(csv=slots(s3=[NOW - DAY, 5])), "sales_rank")["seasonality"]
    assert short["absent"] == {"value": "too_little_history"}
