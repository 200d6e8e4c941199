"""What makes a tracking, and how trackings and notifications read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.tracking import FIELDS, check, check_all, flow, is_marketplace
from keepa_cli.keepa.trackview import notification_row, tracking_row

THRESHOLD = {"domain": 1, "csvType": 0, "isDrop": True, "thresholdValue": 1999}
NOTIFY = {"domain": 1, "csvType": 0, "notifyIfType": 1}
GOOD: dict[str, Any] = {
    "asin": "B000000001", "ttl": 8760, "expireNotify": False, "desiredPricesInMainCurrency": True, "mainDomainId": 1,
    "updateInterval": 1, "metaData": "job-1", "thresholdValues": [THRESHOLD | {"minDeltaPercentage": 5}],
    "notifyIf": [NOTIFY], "notificationType": [False, False, False, False, False, True, False],
    "individualNotificationInterval": -1,
}  # fmt: skip


def test_a_good_tracking_is_sent_as_it_is() -> None:
    found = check(GOOD)
    assert found.item == GOOD and not found.problems and not found.warnings
    assert set(GOOD) == set(FIELDS)


def test_names_become_numbers_and_asins_upper_case() -> None:
    threshold = THRESHOLD | {"domain": "co.uk"}
    item = check({"asin": " b000000001 ", "domain": "GB", "thresholdValues": [threshold], "notifyIf": None}).item
    assert item == {
        "asin": "B000000001", "mainDomainId": 2, "thresholdValues": [THRESHOLD | {"domain": 2}], "notifyIf": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "field", "text"),
    [
        ({"asin": "B00"}, "asin", "10 characters"),
        ({"asin": None}, "asin", "no ASIN"),
        ({"mainDomainId": 7}, "mainDomainId", "retired"),
        ({"mainDomainId": True}, "mainDomainId", "no Keepa domain"),
        ({"domain": 3}, "domain", "are the same"),
        ({"updateInterval": 26}, "updateInterval", "not within 1 to 24"),
        ({"updateInterval": -1}, "updateInterval", "not within 1 to 24"),
        ({"updateInterval": 1.5}, "updateInterval", "whole number"),
        ({"ttl": "a year"}, "ttl", "whole number, not a text"),
        ({"ttl": 2**40}, "ttl", "1099511627776 is too great"),
        ({"metaData": "x" * 501}, "metaData", "501 characters"),
        ({"metaData": 5}, "metaData", "must be text"),
        ({"expireNotify": 1}, "expireNotify", "true or false"),
        ({"desiredPricesInMainCurrency": "yes"}, "desiredPricesInMainCurrency", "true or false"),
        ({"individualNotificationInterval": -2}, "individualNotificationInterval", "below -1"),
        ({"notificationType": [True]}, "notificationType", "1 switches, not 7"),
        ({"notificationType": [1] * 7}, "notificationType", "[0] must be true or false"),
        ({"thresholdValues": THRESHOLD}, "thresholdValues", "must be a list, not an object"),
        ({"thresholdValues": [5]}, "thresholdValues", "[0] must be an object, not a number"),
        ({"thresholdValues": [THRESHOLD, {**THRESHOLD, "csvType": 36}]}, "thresholdValues", "[1] csvType: 36"),
        ({"thresholdValues": [{**THRESHOLD, "isDrop": 1}]}, "thresholdValues", "isDrop: must be true or false"),
        ({"thresholdValues": [{**THRESHOLD, "thresholdValue": -1}]}, "thresholdValues", "-1 is below 0"),
        ({"thresholdValues": [{**THRESHOLD, "thresholdValue": "19.99"}]}, "thresholdValues", "whole number"),
        ({"thresholdValues": [{**THRESHOLD, "domain": "XX"}]}, "thresholdValues", "no Keepa domain 'XX'"),
        ({"thresholdValues": [{**THRESHOLD, "isdrop": True}]}, "thresholdValues", "did you mean isDrop"),
        ({"thresholdValues": [{"domain": 1, "csvType": 0, "isDrop": True}]}, "thresholdValues", "thresholdValue is mi"),
        ({"thresholdValues": [{**THRESHOLD, "thresholdValueCSV": [1, 2]}]}, "thresholdValues", "belongs to answers"),
        ({"notifyIf": [{**NOTIFY, "notifyIfType": 2}]}, "notifyIf", "2 is not within 0 to 1"),
        ({"notifyIf": [{"domain": 1}]}, "notifyIf", "csvType is missing"),
        ({"tresholdValues": []}, "tresholdValues", "did you mean thresholdValues"),
        ({"isActive": True}, "isActive", "is no field of a tracking"),
    ],
)
def test_what_keepa_would_refuse_is_named(change: dict[str, Any], field: str, text: str) -> None:
    found = check(GOOD | change)
    assert found.item is None
    assert [p["field"] for p in found.problems] == [field]
    assert text in found.problems[0]["message"]


def test_what_is_missing_is_named() -> None:
    assert [p["field"] for p in check({}).problems] == ["asin", "mainDomainId"]
    assert check({"asin": "B000000001"}, domain=3).item == {"asin": "B000000001", "mainDomainId": 3}
    assert check({"asin": "B000000001", "mainDomainId": 1}, domain=3).item["mainDomainId"] == 1  # type: ignore[index]
    assert [p["field"] for p in check({"asin": "B000000001", "domain": 7}, domain=3).problems] == ["mainDomainId"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"updateInterval": 0}, "outside the documented"),
        ({"updateInterval": 25}, "outside the documented"),
        ({"thresholdValues": [], "notifyIf": None}, "nothing will ever"),
        ({"notificationType": [True, False, False, False, False, True, False]}, "only way 5"),
        ({"notificationType": [False] * 8}, "only way 5"),
    ],
)
def test_what_is_odd_is_sent_with_a_warning(change: dict[str, Any], text: str) -> None:
    found = check(GOOD | change)
    assert found.item is not None and text in found.warnings[0]


def test_of_a_mixed_list_each_element_is_judged_for_itself() -> None:
    found = check_all([GOOD, {"asin": "x"}, "text", None, GOOD | {"asin": "b000000001"}, GOOD | {"asin": "B000000002"}])
    assert [c.item is not None for c in found] == [True, False, False, False, False, True]
    assert [c.index for c in found] == list(range(6))
    assert "stands at 0 already" in found[4].problems[0]["message"]
    assert "not an object" in found[2].problems[0]["message"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*FIELDS, "domain", "other"]), JSON, max_size=6), st.none() | st.just(1))
@settings(max_examples=150, deadline=None)
def test_any_json_is_either_clean_or_has_problems(given: dict[str, Any], domain: int | None) -> None:
    found = check(given, domain=domain)
    assert (found.item is None) == bool(found.problems)
    json.dumps([found.problems, found.warnings])
    if found.item is not None:
        assert check(found.item).item == found.item


@given(JSON)
@settings(max_examples=150, deadline=None)
def test_rows_are_made_of_anything(value: Any) -> None:
    for name in ("thresholdValues", "notifyIf", "ttl", "createDate", "currentPrices", "csvType", "mainDomainId"):
        tracking_row({name: value})
        notification_row({name: value})


def watching(csv_type: int, *domains: int, hours: int | None = 1) -> dict[str, Any]:
    watched = [NOTIFY | {"csvType": csv_type, "domain": d} for d in domains]
    return {"notifyIf": watched} | ({} if hours is None else {"updateInterval": hours})


def test_the_worked_examples_of_the_flow() -> None:
    assert 2000 * flow(watching(1, 1)) == pytest.approx(30)
    assert 700 * flow(watching(10, 1, hours=12)) == pytest.approx(8.75)
    assert flow(watching(0, 1, 2, 2)) == pytest.approx(2 * flow(watching(0, 1)))
    assert flow(watching(0, 1, hours=None)) == flow(watching(0, 1, hours=0)) == flow({}) == pytest.approx(0.015)


def test_ten_times_the_flow_for_other_types() -> None:
    regular = {t for t in range(36) if not is_marketplace(watching(t, 1))}
    assert regular == {0, 1, 2, 3, 4, 5, 6, 8, 11, 12, 13, 14, 34, 35}
    assert flow(watching(18, 1)) == pytest.approx(10 * flow(watching(0, 1)))


def test_a_tracking_reads_as_a_row() -> None:
    raw = GOOD | {
        "createDate": 8075762, "isActive": True, "trackingListName": None,
        "thresholdValues": [
            {"thresholdValueCSV": [8075700, 2500, 8075762, 1999], "domain": 3, "csvType": 0, "isDrop": True},
            {"thresholdValue": 500, "domain": 1, "csvType": 3, "isDrop": False},
        ],
        "notifyIf": [NOTIFY, NOTIFY | {"notifyIfType": 9}],
    }  # fmt: skip
    assert tracking_row(raw) == {
        "asin": "B000000001", "active": True, "list": None, "domain": "US", "kind": "regular", "interval_hours": 1,
        "created": "2026-05-10T04:02:00Z", "ends": "2027-05-10T04:02:00Z",
        "watches": ["DE AMAZON falls to 19.99 USD", "US SALES rises to 500", "US AMAZON back in stock",
                    "US AMAZON changes"],
        "meta": "job-1",
    }  # fmt: skip
    assert tracking_row(raw | {"ttl": 0})["ends"] is None


def test_a_notification_reads_as_a_row() -> None:
    raw = {
        "notificationId": "n-1", "asin": "B000000001", "title": "Sample", "image": "abc.jpg", "createDate": 8075800,
        "ttl": 1440, "domainId": 1, "notificationDomainId": 5, "csvType": 0, "trackingNotificationCause": 1,
        "currentPrices": [1899, 1899, -1], "metaData": "job-1", "trackingListName": "mine",
    }  # fmt: skip
    assert notification_row(raw) == {
        "asin": "B000000001", "title": "Sample", "cause": "desired_price", "type": "AMAZON", "domain": "JP",
        "value": "1899 JPY", "created": "2026-05-10T04:40:00Z", "list": "mine", "meta": "job-1", "id": "n-1",
    }  # fmt: skip
    assert notification_row(raw | {"csvType": 2})["value"] is None
    expired = notification_row(raw | {"currentPrices": None, "trackingNotificationCause": 0})
    assert (expired["cause"], expired["value"]) == ("expired", None)
    assert notification_row(raw | {"trackingNotificationCause": 77})["cause"] == "cause_77"
