"""Who held the buy box, for how long, and how often it changed hands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.analysis.buybox_share import buybox_share
from keepa_cli.research.subject import Subject, subject, subjects
from tests.support.views import problems

NOW, DAY = 8_000_000, 1440


def held(history: Any, price: Any = None) -> Subject:
    csv: list[Any] = [None] * 36
    csv[11], csv[18] = [NOW - 500 * DAY, 2], price or [NOW - 500 * DAY, 1500, 0]
    product = {"csv": csv, "buyBoxSellerIdHistory": history, "lastUpdate": NOW}
    return subject(product, "$.products[0]", {"timestamp": (NOW + 21_564_000) * 60_000}, DOMAINS[1], {})


def history(*pairs: tuple[int, str]) -> list[str]:
    return [text for minute, seller in pairs for text in (str(minute), seller)]


def test_shares_are_keepas_on_the_real_body(shared_data: Path) -> None:
    body = json.loads((shared_data / "product-B0D8W1YVBX-US-20260510.json").read_text("utf-8"))
    (s,) = subjects(body, DOMAINS[1], {})
    found = buybox_share(s, (180,))
    ours = {one["seller_id"]: one for one in found["windows"]["180"]["sellers"]}
    keepa = body["products"][0]["stats"]["buyBoxStats"]
    assert set(ours) == set(keepa)
    for seller, told in keepa.items():
        assert abs(ours[seller]["share_percent"] - told["percentageWon"]) <= 0.05
        assert ours[seller]["average_price"]["raw"] == told["avgPrice"]
    assert found["holder"]["seller_id"] == body["products"][0]["stats"]["buyBoxSellerId"]
    assert problems(found, body) == []


def test_the_longest_holder_comes_first_and_changes_bridge_vacancies() -> None:
    s = held(history((NOW - 20 * DAY, "B"), (NOW - 10 * DAY, "-1"), (NOW - 8 * DAY, "B"), (NOW - 5 * DAY, "A")))
    found = buybox_share(s, (20,))["windows"]["20"]
    assert [(one["seller_id"], one["share_percent"]) for one in found["sellers"]] == [("B", 65.0), ("A", 25.0)]
    assert found["changes_of_holder"]["value"] == 1
    shares = [13 / 18, 5 / 18]
    assert found["concentration"]["value"] == round(10_000 * sum(x * x for x in shares), 2)
    assert found["concentration"]["level"] == "few_hands"
    many = held(history(*((NOW - i * DAY, f"S{i}") for i in range(1, 9))))
    assert buybox_share(many, (8,))["windows"]["8"]["concentration"]["level"] == "many_hands"


def test_nobody_holding_it_now_is_none_and_a_lone_seller_is_the_highest_concentration() -> None:
    found = buybox_share(held(history((NOW - 9 * DAY, "A"), (NOW - DAY, "-1"))), (30,))
    assert found["absent"] == {"holder": "none"}
    window = found["windows"]["30"]
    assert window["concentration"]["value"] == 10_000
    assert window["covered_days"] == 9.0


def test_a_window_without_a_holder_has_no_concentration() -> None:
    found = buybox_share(held(history((NOW - 90 * DAY, "A"), (NOW - 50 * DAY, "-2"))), (30,))["windows"]["30"]
    assert found["sellers"] is None
    assert found["concentration"]["absent"] == {"value": "not_computable"}


@pytest.mark.parametrize(
    ("given_history", "price", "reason"),
    [(None, [NOW, -2, 0], "not_requested"), ([], None, "not_collected"), (["x", "A"], None, "unreadable")],
)
def test_without_a_history_the_reason_is_told(given_history: Any, price: Any, reason: str) -> None:
    found = buybox_share(held(given_history, price))
    assert found == {"holder": None, "windows": None, "absent": {"holder": reason, "windows": reason}}


odd = st.one_of(st.none(), st.integers(-5, 10**10), st.text(max_size=3), st.sampled_from(["7990000", "7995000", "A"]))


@settings(max_examples=150, deadline=None)
@given(st.lists(odd, max_size=12) | odd, st.lists(st.integers(-3, 10**10), max_size=9) | odd)
def test_odd_histories_never_raise_and_leave_no_null_without_reason(sellers: Any, prices: Any) -> None:
    s = held(sellers)
    csv = [*s.product["csv"][:18], prices]
    s = Subject({**s.product, "csv": csv}, "$", s.domain, NOW, s.asked)
    assert problems(buybox_share(s)) == []
