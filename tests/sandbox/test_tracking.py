"""/tracking: lists, what is noticed and told, what it takes off the refill."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import requests

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa.contract import check
from keepa_cli.sandbox import Sandbox
from tests.sandbox.conftest import ask, send
from tests.support.sandbox import Clock, running_sandbox

ASIN = "B0AMAZON01"
NEW, BOX = 1, 18
DROP = {"thresholdValue": 500, "domain": 1, "csvType": NEW, "isDrop": True}
Ask = Callable[..., dict[str, Any]]


def wish(asin: str = ASIN, **more: Any) -> dict[str, Any]:
    return {"asin": asin, "mainDomainId": 1, "thresholdValues": [DROP], **more}


@pytest.fixture
def track(sandbox: Sandbox) -> Ask:
    """A GET of one type; every answer must keep the contract."""

    def call(kind: str, **params: Any) -> dict[str, Any]:
        return checked(requests.get(sandbox.base_url + "/tracking", params=_query(kind, params), timeout=20))

    return call


@pytest.fixture
def add(sandbox: Sandbox) -> Ask:
    return lambda body, **params: checked(send(sandbox, "/tracking", body, type="add", **params))


def _query(kind: str, params: dict[str, Any]) -> dict[str, Any]:
    from tests.support.sandbox import KEY

    return {"key": KEY, "type": kind, **{name.replace("_", "-"): value for name, value in params.items()}}


def checked(answer: requests.Response) -> dict[str, Any]:
    verdict = check("tracking", answer.json(), answer.text)
    assert (answer.status_code, verdict.errors, verdict.unknown_fields) == (200, [], {}), answer.text
    body: dict[str, Any] = answer.json()
    return body


def notes(track: Ask, **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = track("notification", **params)["notifications"]
    return found


def test_what_was_added_is_shown_complete(add: Ask, track: Ask) -> None:
    body = add(wish(metaData="job-1", notifyIf=[{"domain": 1, "csvType": 0, "notifyIfType": 1}]))
    assert body["tokensConsumed"] == 1
    (tracking,) = body["trackings"]
    now = tracking["createDate"]
    assert tracking["thresholdValues"] == [
        {"thresholdValueCSV": [now, 500], "domain": 1, "csvType": NEW, "isDrop": True}
    ]
    assert tracking["notificationType"] == [False, False, False, False, False, True, False]
    assert (tracking["isActive"], tracking["ttl"], tracking["updateInterval"]) == (True, 17_520, 1)
    assert (tracking["metaData"], tracking["trackingListName"], tracking["notificationCSV"]) == ("job-1", None, [])
    assert track("get", asin=ASIN)["trackings"] == [tracking]
    assert track("list")["trackings"] == [tracking]
    assert track("get", asin=ASIN)["tokensConsumed"] == 0


@pytest.mark.parametrize("kind", ["application/json; charset=UTF-8", "application/x-www-form-urlencoded", "text/plain"])
def test_adding_takes_any_content_type_and_the_query_of_a_get(sandbox: Sandbox, track: Ask, kind: str) -> None:
    send(sandbox, "/tracking", [wish(), wish("B0SINGLE01")], kind, type="add")
    assert track("list", asins_only=1)["asinList"] == [ASIN, "B0SINGLE01"]
    track("add", tracking=json.dumps([wish("B0COUPON01")]))
    assert len(track("list")["trackings"]) == 3


def test_bad_items_are_named_and_the_good_ones_kept_and_charged(add: Ask, track: Ask) -> None:
    bad = [
        wish("B0SINGLE01", updateInterval=99), wish("nope"), wish("ZZZZZZZZZZ"), "text",
        wish("B0COUPON01", thresholdValues=[{"domain": 1}]), {"asin": "B0FLASHY01"},
    ]  # fmt: skip
    body = add([wish(), *bad])
    assert [t["asin"] for t in body["trackings"]] == [ASIN]
    assert body["tokensConsumed"] == 1
    assert body["error"]["message"].endswith(": B0SINGLE01,nope,ZZZZZZZZZZ,?,B0COUPON01,B0FLASHY01")
    assert track("list", asins_only=1)["asinList"] == [ASIN]


def test_nulls_and_unknown_fields_are_ignored(add: Ask) -> None:
    body = add(wish(ttl=None, metaData=None, notifyIf=None, nobodyKnows=1))
    assert "error" not in body and body["trackings"][0]["ttl"] == 17_520


def test_lists_are_apart_come_with_the_first_add_and_go_with_remove_all(add: Ask, track: Ask) -> None:
    add(wish(), list="mine")
    add(wish(metaData="other"))
    assert track("listNames")["trackingListNames"] == ["mine"]
    assert track("get", asin=ASIN, list="mine")["trackings"][0]["trackingListName"] == "mine"
    assert track("get", asin=ASIN)["trackings"][0]["metaData"] == "other"
    track("remove", asin=ASIN, list="mine")
    assert track("list", list="mine")["trackings"] == []
    assert track("listNames")["trackingListNames"] == ["mine"]
    track("removeAll", list="mine")
    assert track("listNames")["trackingListNames"] == []
    assert track("list", asins_only=1)["asinList"] == [ASIN]
    track("removeAll")
    assert track("list")["trackings"] == []


def test_the_same_asin_is_overwritten(add: Ask, track: Ask, clock: Clock) -> None:
    first = add(wish(ttl=48))["trackings"][0]["createDate"]
    clock.forward(3600)
    again = add([wish(ttl=-1, thresholdValues=[{**DROP, "thresholdValue": 400}]), wish("B0SINGLE01", ttl=-5)])
    tracking, other = again["trackings"]
    assert (tracking["ttl"], tracking["createDate"], other["ttl"]) == (48, first, 5)
    assert tracking["thresholdValues"][0]["thresholdValueCSV"] == [first, 500, first + 60, 400]
    assert len(track("list")["trackings"]) == 2


@pytest.mark.parametrize("kind", ["get", "remove"])
def test_what_is_not_tracked_is_an_error_with_status_200(track: Ask, kind: str) -> None:
    body = track(kind, asin=ASIN)
    assert ASIN in body["error"]["message"] and body["tokensConsumed"] == 0


def test_pages_of_a_list(add: Ask, track: Ask) -> None:
    add([wish(f"B0{i:08d}") for i in range(5)])
    pages = [[t["asin"] for t in track("list", page=n, perPage=2)["trackings"]] for n in range(4)]
    assert [len(page) for page in pages] == [2, 2, 1, 0]
    assert [asin for page in pages for asin in page] == track("list", asins_only=1, page=1, perPage=2)["asinList"]


def test_a_wish_that_comes_true_is_told_once_read_once(add: Ask, track: Ask, sandbox: Sandbox) -> None:
    add(wish(metaData="job-1"), list="mine")
    assert notes(track) == []
    (told,) = sandbox.change_price(ASIN, NEW, 499)
    assert (told["trackingNotificationCause"], told["csvType"], told["currentPrices"][NEW]) == (1, NEW, 499)
    assert (told["metaData"], told["trackingListName"], told["ttl"]) == ("job-1", "mine", 1440)
    assert notes(track, readOnly=1) == [told] == notes(track, readOnly=1)
    assert notes(track, list="other") == []
    assert notes(track) == [told]
    assert notes(track) == []
    assert notes(track, revise=1) == [told]
    assert track("get", asin=ASIN, list="mine")["trackings"][0]["notificationCSV"] == [1, NEW, 5, 1, told["createDate"]]


def test_the_changed_price_is_in_the_product_too(sandbox: Sandbox) -> None:
    before = ask(sandbox, "/product", domain=1, asin=ASIN, stats=1).json()["products"][0]
    sandbox.change_price(ASIN, NEW, 123)
    after = ask(sandbox, "/product", domain=1, asin=ASIN, stats=1).json()["products"][0]
    assert after["csv"][NEW] == [*before["csv"][NEW], after["lastUpdate"], 123]
    assert after["stats"]["current"][NEW] == 123
    found = ask(sandbox, "/query", domain=1, selection='{"current_NEW_lte":123,"current_NEW_gte":123}').json()
    assert found["asinList"] == [ASIN]


def test_causes_follow_the_price(add: Ask, sandbox: Sandbox, clock: Clock) -> None:
    add(wish())
    causes = []
    for price in (450, 430, 700, 480, -1, 470):
        clock.forward(240)
        causes.append([n["trackingNotificationCause"] for n in sandbox.change_price(ASIN, NEW, price)])
    assert causes == [[1], [3], [], [6], [], [6]]


def test_rises_small_moves_and_quiet_times(add: Ask, sandbox: Sandbox, clock: Clock) -> None:
    rise = {"thresholdValue": 50_000, "domain": 1, "csvType": NEW, "isDrop": False, "minDeltaAbsolute": 1000}
    add([wish(thresholdValues=[rise]), wish("B0SINGLE01", individualNotificationInterval=0)])
    found = []
    for price in (60_000, 60_500, 61_000):
        clock.forward(240)
        found.append(len(sandbox.change_price(ASIN, NEW, price)))
    assert found == [1, 0, 1]
    once = [len(sandbox.change_price("B0SINGLE01", NEW, price)) for price in (400,)]
    clock.forward(240)
    sandbox.change_price("B0SINGLE01", NEW, 900)
    clock.forward(240)
    assert (once, sandbox.change_price("B0SINGLE01", NEW, 300)) == ([1], [])


def test_stock_states(add: Ask, sandbox: Sandbox, clock: Clock) -> None:
    states = [{"domain": 1, "csvType": NEW, "notifyIfType": kind} for kind in (0, 1)]
    add({"asin": ASIN, "mainDomainId": 1, "notifyIf": states})
    assert [n["trackingNotificationCause"] for n in sandbox.change_price(ASIN, NEW, -1)] == [4]
    clock.forward(240)
    assert [n["trackingNotificationCause"] for n in sandbox.change_price(ASIN, NEW, 800)] == [5]


def test_thresholds_count_in_the_currency_of_the_main_marketplace(add: Ask, sandbox: Sandbox) -> None:
    yen = {"thresholdValue": 1000, "domain": 5, "csvType": NEW, "isDrop": True}
    add(wish(thresholdValues=[yen]))
    assert sandbox.change_price(ASIN, NEW, 1600, domain=5) == []
    (told,) = sandbox.change_price("B0AMAZON01", NEW, 1500, domain=5) or [None]
    assert told is not None and (told["domainId"], told["notificationDomainId"]) == (1, 5)


def test_time_alone_brings_notifications(add: Ask, track: Ask, clock: Clock) -> None:
    """The invented prices move by themselves: a wish for any price at all is told as they do."""
    any_price = {"thresholdValue": 10**9, "domain": 1, "csvType": NEW, "isDrop": True}
    add(wish("B0LARGES01", thresholdValues=[any_price], updateInterval=24))
    assert [n["trackingNotificationCause"] for n in notes(track)] == [1]
    causes = []
    for _ in range(30):
        clock.forward(24 * 3600)
        causes += [n["trackingNotificationCause"] for n in notes(track)]
    assert 3 in causes and set(causes) <= {3, 6}


def test_the_newest_come_first_since_a_minute_and_for_24_hours(
    add: Ask, track: Ask, sandbox: Sandbox, clock: Clock
) -> None:
    add(wish())
    first = sandbox.change_price(ASIN, NEW, 450)[0]
    clock.forward(600)
    second = sandbox.change_price(ASIN, NEW, 440)[0]
    assert notes(track, readOnly=1) == [second, first]
    assert notes(track, since=second["createDate"], readOnly=1) == [second]
    clock.forward(24 * 3600 - 300)
    assert notes(track, revise=1) == [second]
    clock.forward(600)
    assert notes(track, revise=1) == []


def test_trackings_expire_and_say_so_when_asked(add: Ask, track: Ask, clock: Clock) -> None:
    add([wish(ttl=2, expireNotify=True), wish("B0SINGLE01", ttl=2), wish("B0COUPON01", ttl=0)])
    clock.forward(2 * 3600 - 120)
    assert len(track("list")["trackings"]) == 3
    clock.forward(240)
    assert track("list", asins_only=1)["asinList"] == ["B0COUPON01"]
    (told,) = notes(track)
    assert (told["asin"], told["trackingNotificationCause"], told["currentPrices"]) == (ASIN, 0, None)


def test_2000_notifications_at_once_unless_all_are_wanted(add: Ask, track: Ask) -> None:
    any_price = [{"thresholdValue": 10**9, "domain": 1, "csvType": NEW, "isDrop": True}] * 80
    add([wish(f"B0{i:08d}", thresholdValues=any_price) for i in range(30)])
    every = len(notes(track, all=1, readOnly=1))
    assert every > 2000
    assert len(notes(track)) == 2000
    assert len(notes(track)) == every - 2000


def test_trackings_lower_the_refill(add: Ask, track: Ask, sandbox: Sandbox, clock: Clock) -> None:
    box = {**DROP, "csvType": BOX}
    body = add([wish(f"B0{i:08d}", thresholdValues=[box]) for i in range(200)])
    assert ask(sandbox, "/token").json()["tokenFlowReduction"] == 30.0
    assert body["tokensLeft"] == 3400
    clock.forward(60)
    status = ask(sandbox, "/token").json()
    assert (status["tokensLeft"], status["refillRate"]) == (3430, 60)
    track("removeAll")
    clock.forward(60)
    assert ask(sandbox, "/token").json()["tokensLeft"] == 3490
    assert ask(sandbox, "/token").json()["tokenFlowReduction"] == 0.0


def test_no_tracking_is_added_beyond_the_rate_and_nothing_runs_without_refill(clock: Clock) -> None:
    box = {**DROP, "csvType": BOX}
    with running_sandbox(rate=3, tokens=100, clock=clock) as sandbox:
        body = send(sandbox, "/tracking", [wish(f"B0{i:08d}", thresholdValues=[box]) for i in range(30)], type="add")
        assert 20 <= len(body.json()["trackings"]) < 30
        assert body.json()["error"]["message"].count("B0") == 30 - len(body.json()["trackings"])
        assert ask(sandbox, "/token").json()["tokenFlowReduction"] == 3.0
        assert ask(sandbox, "/product", domain=1, asin=ASIN).status_code == 429
        assert ask(sandbox, "/tracking", type="removeAll").status_code == 200
        assert ask(sandbox, "/product", domain=1, asin=ASIN).status_code == 200


def test_reading_works_with_an_empty_bucket_and_adding_does_not(sandbox: Sandbox, track: Ask) -> None:
    sandbox.bucket.set_balance(0)
    assert track("list")["trackings"] == []
    assert send(sandbox, "/tracking", wish(), type="add").status_code == 429


@pytest.mark.parametrize(
    "params",
    [
        {}, {"type": "drop"}, {"type": "get"}, {"type": "get", "asin": "short"}, {"type": "remove", "asin": ""},
        {"type": "list", "list": "x" * 65}, {"type": "list", "perPage": 0}, {"type": "list", "page": -1},
        {"type": "list", "perPage": 100_001}, {"type": "notification", "since": "yesterday"}, {"type": "add"},
        {"type": "add", "tracking": "{"}, {"type": "add", "tracking": "[]"}, {"type": "add", "tracking": "5"},
        {"type": "webhook"}, {"type": "webhook", "url": "ftp://example.org"},
        {"type": "webhook", "url": "http://example.org/hook"}, {"type": "webhook", "url": "https://"},
    ],
)  # fmt: skip
def test_tracking_requests_that_keepa_would_refuse(sandbox: Sandbox, params: dict[str, Any]) -> None:
    answer = ask(sandbox, "/tracking", **params)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalidParameter")


def test_only_add_takes_a_post_and_a_batch_is_bounded(sandbox: Sandbox) -> None:
    assert send(sandbox, "/tracking", {}, type="removeAll").status_code == 405
    assert send(sandbox, "/tracking", [wish()] * 3001, type="add").status_code == 400


@pytest.mark.parametrize(
    ("asin", "slot", "value", "domain"),
    [("nope", NEW, 1, 1), (ASIN, 99, 1, 1), (ASIN, 15, 1, 1), (ASIN, NEW, -2, 1), (ASIN, NEW, 1, 7)],
)
def test_prices_that_no_product_has_cannot_be_set(
    sandbox: Sandbox, asin: str, slot: int, value: int, domain: int
) -> None:
    with pytest.raises(KeepaCliError):
        sandbox.change_price(asin, slot, value, domain)
    params = {"asin": asin, "csvType": slot, "value": value, "domain": domain}
    assert requests.post(sandbox.base_url + "/sandbox/price", params=params, timeout=10).status_code == 400


def test_a_price_can_be_set_from_outside(sandbox: Sandbox, add: Ask, track: Ask) -> None:
    add(wish())
    params = {"asin": ASIN, "csvType": NEW, "value": 450}
    told = requests.post(sandbox.base_url + "/sandbox/price", params=params, timeout=10).json()["notifications"]
    assert told == notes(track)
    assert requests.get(sandbox.base_url + "/sandbox/price", params=params, timeout=10).status_code != 200
