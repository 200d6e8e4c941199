"""Each risk fires at its limit, not before, and never for what was not asked for."""

from __future__ import annotations

from typing import Any

import pytest

from keepa_cli.keepa.clock import DAY
from keepa_cli.research.risks import CODES, SEVERITIES, THRESHOLDS, Risk
from tests.research.product.made import NOW, body, days, judged, look, product, triples
from tests.support.views import problems


def risks(series: dict[str, Any] | None = None, /, **members: Any) -> dict[str, str]:
    """Code -> severity for a product without risks but for these changes."""
    whole = body(product(series, **members))
    found = judged(whole)
    assert problems(found, whole) == []
    assert found["selection_signals"]["risk_codes"] == found["agent_brief"]["risk_codes"]
    items = found["risk_taxonomy"]["items"]
    assert found["risk_taxonomy"]["codes"] == [i["code"] for i in items]
    return {i["code"]: i["severity"] for i in items}


def test_a_sound_product_has_no_risk() -> None:
    assert risks() == {}


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ({"review_count": days((400, 50))}, {}),
        ({"review_count": days((400, 49))}, {"low_review_count": "medium"}),
        ({"review_count": days((400, 10))}, {"low_review_count": "medium"}),
        ({"review_count": days((400, 9))}, {"low_review_count": "high"}),
        ({"review_count": days((400, 0))}, {"low_review_count": "high"}),
        ({"new_offer_count": days((400, 9))}, {}),
        ({"new_offer_count": days((400, 10))}, {"offer_competition_high": "medium"}),
        ({"new_offer_count": days((400, 19))}, {"offer_competition_high": "medium"}),
        ({"new_offer_count": days((400, 20))}, {"offer_competition_high": "high"}),
        ({"buy_box": triples((400, 1000), (45, 1352))}, {}),
        ({"buy_box": triples((400, 1000), (45, 1354))}, {"price_unstable": "medium"}),
        ({"buy_box": triples((400, 1000), (45, 1856))}, {"price_unstable": "medium"}),
        ({"buy_box": triples((400, 1000), (45, 1859))}, {"price_unstable": "high"}),
        ({"sales_rank": days((400, 1000), (30.01, 1499))}, {}),
        ({"sales_rank": days((400, 1000), (30.01, 1500))}, {"rank_declining": "medium"}),
        ({"sales_rank": days((400, 1000), (30.01, 2499))}, {"rank_declining": "medium"}),
        ({"sales_rank": days((400, 1000), (30.01, 2500))}, {"rank_declining": "high"}),
    ],
)
def test_a_figure_is_a_risk_from_its_limit_on(series: dict[str, Any], expected: dict[str, str]) -> None:
    assert risks(series) == expected


def test_a_slump_that_is_over_and_one_bad_hour_are_no_decline() -> None:
    assert risks({"sales_rank": days((400, 1000), (30, 9000), (0.1, 1000))}) == {}
    assert risks({"sales_rank": days((400, 1000), (0.04, 9000))}) == {}


def test_a_price_that_stands_for_an_hour_does_not_make_it_unstable() -> None:
    assert risks({"buy_box": triples((400, 1000), (10, 3000), (9.96, 1000))}) == {}


def test_a_buy_box_that_nobody_holds_is_a_risk_only_where_it_was_asked_for() -> None:
    gone = {"buy_box": triples((400, 1999), (3, -1))}
    assert risks(gone) == {"buybox_missing": "high"}
    sold_out = gone | {"new_offer_count": days((400, 3), (3, 0)), "new": days((400, 1999), (3, -1))}
    assert risks(sold_out) == {"buybox_missing": "medium"}
    assert risks({"buy_box": None}, buyBoxSellerIdHistory=None) == {}


def test_the_four_absences_of_a_buy_box_differ() -> None:
    """Not requested is a gap, not collected too, none is a risk, and a buy box without a price of 0 is known."""
    none = {"buy_box": triples((400, 1999), (3, -1))}
    cases: list[tuple[dict[str, Any], dict[str, Any], str | None, bool]] = [
        ({"buy_box": None}, {"buyBoxSellerIdHistory": None}, "not_requested", False),
        ({"buy_box": None}, {}, "not_collected", False),
        (none, {}, "none", True),
        ({"buy_box": triples((400, 0))}, {}, None, False),
    ]
    for series, members, reason, is_risk in cases:
        seen = look(body(product(series, **members)))
        fact = seen.section("vitals")["buy_box_price"]
        assert fact.reason == reason
        quality = seen.section("data_quality")
        assert ("buy_box_price" in quality["not_requested"]) == (reason == "not_requested")
        lacking = [m["fact"] for m in quality["missing"]]
        assert ("buy_box_price" in lacking) == (reason == "not_collected")
        assert (Risk.BUYBOX_MISSING in seen.section("risk_taxonomy")["codes"]) == is_risk


def test_what_was_not_asked_for_is_no_risk_and_no_missing_data() -> None:
    bare = product({"rating": None, "review_count": None, "buy_box": None}, buyBoxSellerIdHistory=None)
    found = judged(body(bare))
    assert found["risk_taxonomy"]["codes"] == []
    assert found["data_quality"]["missing"] == []
    assert {"rating", "review_count", "buy_box_price"} <= set(found["data_quality"]["not_requested"])


def test_core_facts_that_were_asked_for_and_are_not_there_are_a_risk() -> None:
    asked = {"rating": True, "buybox": True}
    lost = body(product({"rating": None, "review_count": None}))
    found = judged(lost, **asked)
    (item,) = found["risk_taxonomy"]["items"]
    assert (item["code"], item["severity"]) == ("data_missing", "medium")
    assert item["metric"] == {"name": "core_facts_missing", "value": 2, "unit": "facts", "threshold": 1}
    assert item["follow_up"]["cli"].startswith("kc products get B00AAAAAA1 --update 0")
    more = body(product({"rating": None, "review_count": None, "new_offer_count": None}))
    assert judged(more, **asked)["risk_taxonomy"]["items"][0]["severity"] == "high"
    assert problems(found, lost) == []


def test_an_asin_that_keepa_cannot_access_has_one_risk() -> None:
    for kind in (3, 4):
        whole = body({"asin": "B00AAAAAA1", "productType": kind, "csv": None})
        found = judged(whole)
        assert [(r["code"], r["severity"]) for r in found["risk_taxonomy"]["items"]] == [("data_missing", "high")]
        assert found["next_actions"] == []
        assert problems(found, whole) == []


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"salesRankReference": 110}, {}),
        ({"salesRankReference": -1}, {}),
        ({"salesRankReference": 999}, {"category_mismatch": "medium"}),
        ({"rootCategory": 999}, {"category_mismatch": "medium"}),
        ({"rootCategory": 999, "salesRankReference": 999}, {"category_mismatch": "medium"}),
        ({"rootCategory": 999, "salesRankReference": 998}, {"category_mismatch": "high"}),
        ({"rootCategory": 0}, {}),
        ({"categoryTree": None}, {}),
    ],
)
def test_categories_that_contradict_each_other(members: dict[str, Any], expected: dict[str, str]) -> None:
    assert risks(**members) == expected


def test_every_code_has_a_documented_limit() -> None:
    assert {r.value for r in THRESHOLDS} == set(CODES)
    for limit in THRESHOLDS.values():
        assert limit.why.endswith(".")
        assert (limit.high < limit.medium) if limit.falling else (limit.high >= limit.medium)
        assert limit.severity(None) is None
        assert {limit.severity(limit.medium - limit.falling), limit.severity(limit.high - limit.falling)} <= {
            *SEVERITIES
        }


def test_the_gravest_risk_comes_first() -> None:
    found = judged(body(product({"review_count": days((400, 9)), "new_offer_count": days((400, 12))})))
    assert found["risk_taxonomy"]["codes"] == ["low_review_count", "offer_competition_high"]


def test_a_metric_names_the_limit_that_was_crossed() -> None:
    (item,) = judged(body(product({"review_count": days((400, 30))})))["risk_taxonomy"]["items"]
    assert item["metric"] == {"name": "review_count", "value": 30, "unit": "reviews", "threshold": 50}
    assert item["evidence_path"] == "$.products[0].csv[17]"


def test_stale_data_is_said() -> None:
    old = judged(body(product(lastUpdate=NOW - 3 * DAY)))["data_quality"]
    assert (old["stale"], old["age_hours"]) == (True, 72.0)
    assert judged(body(product()))["data_quality"]["stale"] is False
