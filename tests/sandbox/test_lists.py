"""/bestsellers and /lightningdeal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests

from keepa_cli.keepa.clock import DAY, from_iso
from keepa_cli.keepa.contract import check
from keepa_cli.keepa.series import read_series
from keepa_cli.keepa.stats import average
from keepa_cli.sandbox import Sandbox
from tests.sandbox.conftest import ask
from tests.support.sandbox import NOW, Clock

Read = Callable[..., requests.Response]
MINUTE = int(NOW // 60) - 21_564_000


@pytest.fixture(scope="module")
def roots(read: Read) -> dict[str, Any]:
    found: dict[str, Any] = read("/category", domain=1, category=0).json()["categories"]
    return found


def listed(read: Read, **params: Any) -> list[str]:
    body = read("/bestsellers", domain=1, **params).json()
    assert body["tokensConsumed"] == 50, body
    return list(body["bestSellersList"]["asinList"])


def products(read: Read, asins: list[str], **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read("/product", domain=1, asin=",".join(asins[:40]), **params).json()["products"]
    return found


def test_a_root_is_ranked_by_the_current_sales_rank(read: Read, roots: dict[str, Any]) -> None:
    root = next(iter(roots))
    answer = read("/bestsellers", domain=1, category=root)
    verdict = check("bestsellers", answer.json(), answer.text)
    assert (verdict.errors, verdict.unknown_fields) == ([], {})
    best = answer.json()["bestSellersList"]
    assert (best["categoryId"], best["domainId"]) == (int(root), 1)
    found = products(read, best["asinList"], stats=30)
    ranks = [p["stats"]["current"][3] for p in found]
    assert ranks == sorted(ranks) and ranks[0] > 0 and {p["rootCategory"] for p in found} == {int(root)}


def test_a_subcategory_holds_what_stands_in_it_and_has_ranks_of_its_own(read: Read, roots: dict[str, Any]) -> None:
    group = next(iter(roots.values()))["children"][0]
    leaf = read("/category", domain=1, category=group).json()["categories"][str(group)]["children"][0]
    inside, own = listed(read, category=leaf), listed(read, category=leaf, sublist=1)
    assert set(inside) == set(own) and inside != own
    assert set(inside) < set(listed(read, category=group))
    ranks = [p["salesRanks"][str(leaf)][-1] for p in products(read, own)]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("days", [30, 90, 180])
def test_a_range_ranks_by_the_average(read: Read, roots: dict[str, Any], days: int) -> None:
    found = products(read, listed(read, category=next(iter(roots)), range=days), stats=days)
    averages = [p["stats"][f"avg{days}"][3] for p in found]
    assert averages == sorted(averages)


def test_a_month_ranks_by_the_average_of_that_month(read: Read, roots: dict[str, Any]) -> None:
    found = products(read, listed(read, category=next(iter(roots)), month=7, year=2026))
    start, end = from_iso("2026-07-01"), from_iso("2026-08-01")
    averages = [average(read_series(p["csv"][3], 3), start, end) for p in found]
    assert averages == sorted(averages) and averages[0] > 0


@pytest.mark.parametrize("name", ["Electronics", "electronics_display_on_website"])
def test_a_display_group_is_named(read: Read, roots: dict[str, Any], name: str) -> None:
    best = read("/bestsellers", domain=1, category=name).json()["bestSellersList"]
    assert best["categoryId"] == 0
    assert {p["websiteDisplayGroupName"] for p in products(read, best["asinList"])} == {"Electronics"}


def test_every_variation_is_listed_only_when_asked_for(read: Read) -> None:
    product = read("/product", domain=1, asin="B0FAMILY01").json()["products"][0]
    siblings = {v["asin"] for v in product["variations"]}
    category = product["categories"][0]
    assert set(listed(read, category=category)) & siblings == {"B0FAMILY01"}
    assert siblings <= set(listed(read, category=category, variations=1))


@pytest.mark.parametrize("category", ["12345", "Nothing Like It", "9223372036854775806"])
def test_an_unknown_category_has_no_list_and_costs_nothing(read: Read, category: str) -> None:
    body = read("/bestsellers", domain=1, category=category).json()
    assert (body["tokensConsumed"], "bestSellersList" in body, "error" in body) == (0, False, False)


@pytest.mark.parametrize(
    "params",
    [
        {}, {"category": ""}, {"range": 7}, {"range": "x"}, {"month": 7}, {"year": 2026},
        {"month": 9, "year": 2026}, {"month": 10, "year": 2026}, {"month": 8, "year": 2023},
        {"month": 13, "year": 2025},
        {"month": 7, "year": 2026, "range": 30}, {"range": 30, "sublist": 1}, {"month": 7, "year": 2026, "sublist": 1},
        {"domain": 12}, {"variations": 2},
    ],
)  # fmt: skip
def test_best_seller_requests_that_keepa_would_refuse(read: Read, params: dict[str, Any]) -> None:
    given = {"domain": 1, "category": "Electronics"} if params else {"domain": 1}
    answer = read("/bestsellers", **{**given, **params})
    assert (answer.status_code, answer.json()["tokensConsumed"]) == (400, 0)


@pytest.mark.parametrize(("month", "year"), [(8, 2026), (9, 2023)])
def test_the_last_36_complete_months_are_kept(read: Read, month: int, year: int) -> None:
    assert read("/bestsellers", domain=1, category="Electronics", month=month, year=year).status_code == 200


def test_the_whole_list_costs_500_and_one_product_1(read: Read) -> None:
    answer = read("/lightningdeal", domain=1)
    verdict = check("lightningdeal", answer.json(), answer.text)
    assert (verdict.errors, verdict.unknown_fields, answer.json()["tokensConsumed"]) == ([], {}, 500)
    one = read("/lightningdeal", domain=1, asin="B0FLASHY01").json()
    assert one["tokensConsumed"] == 1 and one["lightningDeals"]
    mine = [d for d in answer.json()["lightningDeals"] if d["asin"] == "B0FLASHY01"]
    assert one["lightningDeals"] == mine
    none = read("/lightningdeal", domain=1, asin="B0SINGLE01").json()
    assert (none["lightningDeals"], none["tokensConsumed"]) == ([], 1)


def test_states_follow_the_times(read: Read) -> None:
    deals = read("/lightningdeal", domain=1).json()["lightningDeals"]
    assert {d["dealState"] for d in deals} >= {"EXPIRED", "UPCOMING"}
    for deal in deals:
        assert deal["endTime"] > MINUTE - 4 * DAY
        if deal["dealState"] == "UPCOMING":
            assert deal["startTime"] > MINUTE and deal["dealPrice"] == deal["currentPrice"] == -1
        elif deal["dealState"] == "EXPIRED":
            assert deal["endTime"] <= MINUTE
        else:
            assert deal["startTime"] <= MINUTE < deal["endTime"] and deal["dealPrice"] > 0
    expired = read("/lightningdeal", domain=1, state="EXPIRED").json()
    assert expired["lightningDeals"] == [d for d in deals if d["dealState"] == "EXPIRED"]
    assert expired["tokensConsumed"] == 500


def test_an_announced_deal_runs_and_then_is_over_and_in_the_history(sandbox: Sandbox, clock: Clock) -> None:
    def deal(start: int) -> dict[str, Any]:
        found = ask(sandbox, "/lightningdeal", domain=1, asin="B0FLASHY01").json()["lightningDeals"]
        return next(d for d in found if d["startTime"] == start)

    announced = ask(sandbox, "/lightningdeal", domain=1, asin="B0FLASHY01", state="UPCOMING").json()["lightningDeals"][
        0
    ]
    start = announced["startTime"]
    clock.forward((start - MINUTE + 10) * 60)
    running = deal(start)
    assert running["dealState"] not in {"UPCOMING", "EXPIRED"} and running["dealPrice"] > 0
    clock.forward(24 * 3600)
    assert deal(start)["dealState"] == "EXPIRED"
    row = ask(sandbox, "/product", domain=1, asin="B0FLASHY01").json()["products"][0]["csv"][8]
    assert row[row.index(start) + 1] == running["dealPrice"]


@pytest.mark.parametrize(
    "params", [{"asin": ""}, {"asin": "short"}, {"state": "GONE"}, {"domain": 12}, {"domain": "x"}]
)
def test_lightning_requests_that_keepa_would_refuse(read: Read, params: dict[str, Any]) -> None:
    answer = read("/lightningdeal", **{"domain": 1, **params})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalidParameter")
    assert answer.json()["tokensConsumed"] == 0
