"""Churn of best seller lists: which lists are compared, what left, and the labels at their limits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.clock import DAY
from keepa_cli.research.analysis.churn import LABELS, Snapshot, churn, labelled, snapshot
from tests.support.views import problems

NOW = 8_000_000


def ranked(days_ago: int, asins: list[int], name: str = "s") -> Snapshot:
    return Snapshot(name, NOW - days_ago * DAY, "lastUpdate", tuple(f"B{n:09d}" for n in asins), 5, 1)


@pytest.mark.parametrize(
    ("left3", "left12", "label"),
    [
        (0.41, 0.66, "fomo_spike_die"),
        (0.40, 0.66, "high_churn"),
        (0.41, 0.65, "high_churn"),
        (None, 0.56, "high_churn"),
        (0.9, 0.29, "mature_stable"),
        (None, 0.1, "mature_stable"),
        (0.24, 0.30, "blue_ocean"),
        (0.24, 0.55, "blue_ocean"),
        (0.25, 0.40, "unlabelled"),
        (None, 0.40, "unlabelled"),
        (0.9, None, "unlabelled"),
        (None, None, "unlabelled"),
    ],
)
def test_labels_stand_at_their_limits(left3: float | None, left12: float | None, label: str) -> None:
    assert labelled(left3, left12) == label


def test_what_left_is_counted_against_the_newest_list() -> None:
    now = list(range(100))
    found = churn([ranked(365, list(range(60, 160))), ranked(0, now), ranked(90, list(range(30, 130)))])
    three, twelve = found["windows"]["3_months"], found["windows"]["12_months"]
    assert three["left_share"]["value"] == 0.3 and twelve["left_share"]["value"] == 0.6
    assert three["compared_with"]["days_before"] == 90 and twelve["compared_with"]["days_before"] == 365
    assert twelve["left_asins"][0] == "B000000100" and twelve["new_asins"][0] == "B000000000"
    assert found["label"]["code"] == "high_churn" and problems(found) == []


def test_the_nearest_list_counts_within_its_tolerance() -> None:
    lists = [ranked(0, [1]), ranked(80, [2], "near"), ranked(110, [3], "far"), ranked(365 + 46, [4])]
    found = churn(lists)
    assert found["windows"]["3_months"]["compared_with"]["source"] == "near"
    twelve = found["windows"]["12_months"]
    assert twelve["compared_with"] is None and twelve["absent"]["compared_with"] == "too_little_history"
    assert twelve["left_share"]["value"] is None and found["label"]["code"] == "unlabelled"
    assert churn([ranked(0, [1]), ranked(365 + 45, [4])])["windows"]["12_months"]["left_share"]["value"] == 1.0


def test_lists_of_different_length_are_compared_at_the_shorter_one() -> None:
    found = churn([ranked(0, [1, 2]), ranked(91, [2, 3, 4, 5])])["windows"]["3_months"]["left_share"]
    assert found["inputs"] == {"compared": 2, "left": 1, "depth": 100} and found["confidence"] == "low"
    deep = churn([ranked(0, list(range(50))), ranked(91, list(range(50)))], depth=30)["windows"]["3_months"]
    assert deep["left_share"]["inputs"]["compared"] == 30 and deep["left_share"]["confidence"] == "high"


def test_rounding_moves_nobody_over_a_limit() -> None:
    """299 of 1000 is shown as 0.3 and still less than that."""
    found = churn([ranked(0, list(range(1000))), ranked(365, list(range(299, 1299)))], depth=1000)
    assert found["windows"]["12_months"]["left_share"]["value"] == 0.3 and found["label"]["code"] == "mature_stable"


def test_a_label_says_why() -> None:
    for code, asins in (("mature_stable", list(range(100))), ("high_churn", list(range(200, 300)))):
        found = churn([ranked(0, list(range(100))), ranked(365, asins)])
        assert found["label"] == {"code": code, "why": LABELS[code]}
    between = churn([ranked(0, list(range(100))), ranked(365, list(range(40, 140)))])
    assert "3 months" in between["label"]["why"]


@pytest.mark.parametrize(
    ("body", "moment", "by"),
    [
        ({"bestSellersList": {"asinList": ["A"], "lastUpdate": 9}}, 9, "lastUpdate"),
        ({"asinList": ["A"], "lastUpdate": 9}, 9, "lastUpdate"),
        ({"bestSellersList": {"asinList": ["A"]}}, 77, "recorded_at"),
        ({"bestSellersList": {"asinList": ["A"], "lastUpdate": -1}}, 77, "recorded_at"),
    ],
)
def test_a_list_is_dated_by_itself_first(body: Any, moment: int, by: str) -> None:
    found = snapshot("x", body, moment=77)
    assert found is not None and (found.minute, found.dated_by) == (moment, by)


def test_the_list_of_a_past_month_is_dated_by_that_month() -> None:
    body = {"bestSellersList": {"asinList": ["A"], "lastUpdate": 9}}
    found = snapshot("x", body, moment=77, dated_by="month")
    assert found is not None and (found.minute, found.dated_by) == (77, "month")


@pytest.mark.parametrize(
    "body", [None, 3, {}, {"asinList": []}, {"asinList": [1]}, {"asinList": "AB"}, {"asinList": ["A"]}]
)
def test_no_list_or_no_time_is_no_snapshot(body: Any) -> None:
    assert snapshot("x", body) is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 500), st.lists(st.integers(0, 30), min_size=1, unique=True)), min_size=1),
    st.integers(1, 40),
)
def test_the_order_of_the_files_does_not_matter(lists: list[tuple[int, list[int]]], depth: int) -> None:
    found = [ranked(days, asins, str(i)) for i, (days, asins) in enumerate(lists)]
    one, other = churn(found, depth), churn(found[::-1], depth)
    assert one["windows"] == other["windows"] and one["label"] == other["label"]
    shares = [w["left_share"]["value"] for w in one["windows"].values()]
    assert all(s is None or 0 <= s <= 1 for s in shares) and problems(one) == []
