from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.clock import DAY
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.temporal_features import SERIES
from keepa_cli.research.subject import Subject
from tests.research.history.support import BODIES, NOW, made, real, slots
from tests.support.views import problems

PARTS = ("temporal_features", "history_summary", "stats_summary")


def look(subject: Subject, **options: Any) -> Look:
    return Look(subject, lambda *_: {}, "research", **options)


def window(subject: Subject, name: str, days: int) -> Any:
    return look(subject).section("temporal_features")["series"][name]["windows"][str(days)]


@pytest.mark.parametrize(
    ("name", "days", "figure", "value"),
    [
        ("new", 30, "mean", 1742), ("new", 90, "mean", 1797), ("new", 7, "change_pct", 0.0),
        ("new", 7, "constant", True),
        ("buy_box_shipping", 90, "change_pct", -16.68), ("rating", 30, "change_pct", -2.27),
        ("new_offer_count", 30, "change_pct", 25.0),
    ],
)  # fmt: skip
def test_known_figures_of_a_real_body(shared_data: Path, name: str, days: int, figure: str, value: Any) -> None:
    assert window(real(shared_data)[0], name, days)[figure] == value


@pytest.mark.parametrize("file", BODIES)
def test_means_of_windows_are_keepas_averages(file: str, shared_data: Path) -> None:
    subject, _ = real(shared_data, file)
    checked = 0
    for name, shown in look(subject).section("temporal_features")["series"].items():
        for days, figures in (shown or {}).get("windows", {}).items():
            if f"avg{days}" in subject.stats and figures and "mean" in figures:
                index = int(shown["evidence_path"].rpartition("[")[2][:-1])
                assert figures["mean"] == subject.stats[f"avg{days}"][index], (name, days)
                checked += 1
    assert checked > 10


@pytest.mark.parametrize("file", BODIES)
def test_the_three_histories_fit_their_share_of_a_view(file: str, shared_data: Path) -> None:
    subject, body = real(shared_data, file)
    found = {name: look(subject).section(name) for name in PARTS}
    assert problems(found, body) == []
    assert sum(len(json.dumps(s, separators=(",", ":"), ensure_ascii=False)) for s in found.values()) <= 17_000


def test_windows_can_be_chosen() -> None:
    subject = made(csv=slots(s1=[NOW - 400 * DAY, 100, NOW - 5 * DAY, 150]))
    shown = look(subject, windows=(10, 3)).section("temporal_features")["series"]["new"]
    assert list(shown["windows"]) == ["3", "10"]
    assert shown["windows"]["3"]["constant"]
    assert shown["windows"]["10"]["change_pct"] == 50.0
    assert (shown["unit"], shown["currency"], shown["last"]) == ("money", "USD", 150)


def test_windows_beyond_the_history_are_not_told_twice() -> None:
    subject = made(csv=slots(s1=[NOW - 20 * DAY, 100, NOW - 5 * DAY, 150]))
    shown = look(subject).section("temporal_features")["series"]["new"]["windows"]
    assert shown["30"]["coverage"] == 66.67
    assert shown["90"] == {"same_as": "30", "coverage": 22.22}
    assert shown["365"]["same_as"] == "30"


def test_what_is_not_there_has_its_reason() -> None:
    subject = made(csv=slots(s1=[NOW - 400 * DAY, 100, NOW - 40 * DAY, -1], s3=[1, -1]))
    shown = look(subject).section("temporal_features")["series"]
    assert shown["absent"]["sales_rank"] == "none"
    assert shown["absent"]["rating"] == shown["absent"]["new_fba"] == "not_requested"
    assert shown["absent"]["new_offer_count"] == "not_collected"
    assert shown["new"]["last"] is None and shown["new"]["absent"] == {"last": "none"}
    assert shown["new"]["windows"]["30"] is None
    assert shown["new"]["windows"]["90"]["absent"] == {"change": "not_computable", "change_pct": "not_computable",
                                                       "z_score": "not_computable"}  # fmt: skip
    assert problems(shown) == []


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3), lambda x: st.lists(x, max_size=6), max_leaves=12
)
PACKED = (
    st.lists(st.integers(-3, 2**31) | st.sampled_from([NOW, NOW - DAY, NOW + DAY, None, 10**30]), max_size=12) | JUNK
)

OFFERS = st.fixed_dictionaries({"offerId": JUNK, "offerCSV": PACKED, "stockCSV": JUNK})


@settings(max_examples=150, deadline=None)
@given(
    st.lists(PACKED, max_size=38) | JUNK,
    st.fixed_dictionaries(
        {},
        optional={
            "salesRanks": st.dictionaries(st.text(max_size=2), PACKED, max_size=2) | JUNK, "stats": JUNK,
            "couponHistory": PACKED, "buyBoxSellerIdHistory": JUNK, "buyBoxUsedHistory": JUNK,
            "parentAsinHistory": JUNK,
            "reviews": st.fixed_dictionaries({"reviewCount": PACKED}) | JUNK, "monthlySoldHistory": PACKED,
            "offers": st.lists(OFFERS, max_size=2) | JUNK,
            "trackingSince": JUNK,
        },
    ),
)  # fmt: skip
def test_no_odd_data_makes_a_history_raise(csv: Any, fields: dict[str, Any]) -> None:
    subject = made(csv=csv, **fields)
    for name in PARTS:
        found = look(subject).section(name)
        assert problems(found, {"products": [subject.product]}) == []


def test_the_series_shown_are_those_of_the_contract() -> None:
    assert set(SERIES) == {
        "new", "sales_rank", "buy_box_shipping", "new_fba", "new_offer_count", "new_fba_offer_count", "rating",
        "review_count",
    }  # fmt: skip
