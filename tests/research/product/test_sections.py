"""The sections of products made by hand: what is none, zero, not collected and not requested."""

from __future__ import annotations

from typing import Any

import pytest

from keepa_cli.keepa.clock import even_minute, iso
from tests.support.products import STAMP, body_of, look, section
from tests.support.views import problems

NOW = even_minute(STAMP)
DAY = 1440
ASIN = "B001GZ6QEC"


def csv(**slots: Any) -> list[Any]:
    return [slots.get(f"s{i}") for i in range(36)]


def product(**fields: Any) -> dict[str, Any]:
    return {"asin": ASIN, "domainId": 1, "productType": 0, "lastUpdate": NOW, "csv": csv()} | fields


@pytest.mark.parametrize(
    ("fields", "params", "expected"),
    [
        ({}, {}, "not_requested"),
        ({}, {"buybox": True}, "not_collected"),
        ({"csv": csv(s18=[NOW - 9, -1, -1])}, {"buybox": True}, "none"),
        ({"csv": csv(s18=[NOW - 9, -2, -2])}, {"buybox": True}, "not_collected"),
        ({"csv": csv(s18="x")}, {"buybox": True}, "unreadable"),
        ({"csv": None}, {}, "not_requested"),
    ],
)
def test_a_price_that_is_absent_tells_why(fields: dict[str, Any], params: dict[str, Any], expected: str) -> None:
    found = section("pricing", product(**fields), **params)
    assert found["buy_box"] is None
    assert found["absent"]["buy_box"] == expected


def test_a_price_of_zero_is_a_price() -> None:
    found = section("pricing", product(csv=csv(s0=[NOW - 9, 0])))
    assert (found["amazon"]["raw"], found["amazon"]["amount"]) == (0, "0.00")


def test_a_price_with_shipping_is_landed_and_tells_its_parts() -> None:
    fact = section("pricing", product(csv=csv(s18=[NOW - 9, 1999, 350])), buybox=True)["buy_box"]
    assert (fact["raw"], fact["basis"]) == (2349, "incl_shipping")
    assert (fact["item_price"]["amount"], fact["shipping"]["amount"]) == ("19.99", "3.50")
    unknown = section("pricing", product(csv=csv(s18=[NOW - 9, 1999, -1])), buybox=True)["buy_box"]
    assert (unknown["raw"], unknown["basis"], unknown["shipping"]) == (1999, "excl_shipping", None)


def test_new_prices_exclude_shipping_before_keepa_changed_them() -> None:
    old = product(lastUpdate=7_900_000, csv=csv(s1=[7_800_000, 1000]))
    assert section("pricing", old)["new"]["basis"] == "excl_shipping"
    refreshed = product(csv=csv(s1=[7_800_000, 1000]))
    assert section("pricing", refreshed)["new"]["basis"] == "incl_shipping"


def test_yen_have_no_decimals() -> None:
    found = section("pricing", product(domainId=5, csv=csv(s1=[NOW - 9, 1499]), coupon=[200, -15]))
    assert (found["new"]["amount"], found["new"]["currency"]) == ("1499", "JPY")
    assert found["coupon"]["one_time"]["amount"] == "200"
    assert found["coupon"]["subscribe"] == {"kind": "percent", "percent": 15}


def test_only_statistics_give_prices_without_a_time() -> None:
    stats = {"current": [-1, 1499, -1, 12, *[-1] * 32], "min": [None, [NOW - 9 * DAY, 999], *[None] * 34]}
    found = look(body_of(product(csv=None, stats=stats)))
    new, amazon = found.section("pricing")["new"], found.section("pricing")["absent"]["amazon"]
    assert (new["raw"], new["evidence_path"]) == (1499, "$.products[0].stats.current[1]")
    assert new["at"] is None
    assert amazon == "none"
    assert found.section("pricing")["lowest_ever"]["raw"] == 999
    assert found.section("pricing")["absent"]["buy_box"] == "not_requested"
    assert found.section("demand")["sales_rank"]["value"] == 12


def test_a_trimmed_history_does_not_hide_the_lowest_price_that_keepa_knows() -> None:
    stats = {"min": [None, [NOW - 900 * DAY, 500], *[None] * 34]}
    found = section("pricing", product(csv=csv(s1=[NOW - DAY, 1000]), stats=stats))
    assert (found["lowest_ever"]["raw"], found["highest_ever"]["raw"]) == (500, 1000)
    assert found["lowest_ever"]["evidence_path"] == "$.products[0].stats.min[1]"


@pytest.mark.parametrize(
    ("coupon", "reason"), [(None, "none"), ([0, 0], "none"), ("x", "unreadable"), (..., "not_collected")]
)
def test_no_coupon(coupon: Any, reason: str) -> None:
    fields = {} if coupon is ... else {"coupon": coupon}
    found = section("pricing", product(**fields))
    assert (found["coupon"], found["absent"]["coupon"]) == (None, reason)


def test_a_running_coupon_has_no_end() -> None:
    history = section("pricing", product(couponHistory=[NOW - DAY, 200, 0]))["coupon_history"]
    assert history["newest"] == [
        {
            "from_at": iso(NOW - DAY),
            "one_time": {"kind": "amount", "raw": 200, "amount": "2.00", "currency": "USD", "formatted": "2.00 USD"},
        }
    ]
    assert history["absent"] == {"last_ended_at": "none"}


@pytest.mark.parametrize(
    ("sold", "value", "reason"),
    [(0, 0, None), (-1, None, "none"), (None, None, "not_collected"), ("x", None, "unreadable")],
)
def test_monthly_sales(sold: Any, value: Any, reason: str | None) -> None:
    found = section("demand", product(monthlySold=sold))["monthly_sold"]
    assert found["value"] == value
    assert found.get("absent", {}).get("value") == reason


def test_a_fall_of_monthly_sales_is_called_one() -> None:
    found = section("demand", product(monthlySoldHistory=[NOW - 90 * DAY, 1000, NOW - 45 * DAY, 500]))
    change = found["monthly_sold_change_90d"]
    assert (change["value"], change["direction"]) == (33, "sales_fell")


def test_drops_of_a_short_history_are_not_counted_for_longer_windows() -> None:
    ranks = [NOW - 40 * DAY, 100, NOW - 20 * DAY, 90, NOW - 10 * DAY, 95, NOW - 5 * DAY, 80]
    drops = section("demand", product(csv=csv(s3=ranks)))["rank_drops"]
    assert (drops["30"], drops["90"]) == (2, None)
    assert drops["absent"]["90"] == "too_little_history"


@pytest.mark.parametrize(
    ("history", "holder", "seller", "reason"),
    [
        ([str(NOW - 9), "A1SELLER"], "seller", "A1SELLER", None),
        ([str(NOW - 9), "-1"], "none_qualified", None, "none"),
        ([str(NOW - 9), ""], "none_qualified", None, "none"),
        ([str(NOW - 9), "-2"], "unknown_seller", None, "not_collected"),
    ],
)
def test_holders_of_the_buy_box(history: list[str], holder: str, seller: str | None, reason: str | None) -> None:
    found = section("offers", product(buyBoxSellerIdHistory=history))["buy_box"]
    assert (found["holder"], found["seller_id"]) == (holder, seller)
    assert found.get("absent", {}).get("seller_id") == reason


def test_holders_of_the_used_buy_box() -> None:
    found = section("offers", product(buyBoxUsedHistory=[str(NOW - 9), "A1SELLER", "4", "0"]))["buy_box_used"]
    assert found["condition"] == "used_good"
    assert (found["seller_id"], found["is_fba"]) == ("A1SELLER", False)


def offer(seller: str, *prices: int, **fields: Any) -> dict[str, Any]:
    known = {"sellerId": seller, "condition": 1, "isFBA": True, "isPrime": True, "isAmazon": False, "lastSeen": NOW}
    return known | {"offerCSV": list(prices)} | fields


def test_live_offers_stand_in_amazons_order_and_sentinels_enter_no_sum() -> None:
    offers = [
        offer("OLD", NOW - 99, 100, 0),
        offer("CHEAP", NOW - 9, 1000, 250, coupon=-5, stockCSV=[NOW - 9, 0]),
        offer("ODD", NOW - 9, 900, -1),
    ]
    found = section("offers", product(offers=offers, liveOffersOrder=[2, 1, 7, 2]))
    odd, cheap = found["live"]
    assert found["live_offer_count"] == 2
    assert (odd["seller_id"], odd["price"]["raw"], odd["total"]) == ("ODD", 900, None)
    assert (cheap["total"]["amount"], cheap["coupon"], cheap["stock"]) == ("12.50", {"percent": 5}, 0)
    assert odd["absent"]["stock"] == "not_requested"


@pytest.mark.parametrize(("order", "reason"), [(None, "not_collected"), ([], "none")])
def test_no_live_offers(order: Any, reason: str) -> None:
    found = section("offers", product(offers=[], liveOffersOrder=order))
    assert found["absent"]["live"] == reason


def test_pictures_that_are_no_file_names_make_no_link() -> None:
    names = ["51a+b%2B.jpg", "../../x", "javascript:alert(1)", 'x" onerror="y', None, 7]
    found = section("media", product(images=[{"l": name} for name in names]))
    assert found["images"] == ["https://m.media-amazon.com/images/I/51a+b%2B.jpg"]
    assert found["image_count"] == len(names)
    assert section("media", product(imagesCSV="a.jpg,b.jpg"))["image_count"] == 2


@pytest.mark.parametrize(
    ("name", "field", "member"), [("media", "videos", "video_count"), ("aplus", "aPlus", "module_count")]
)
def test_no_videos_no_aplus(name: str, field: str, member: str) -> None:
    assert section(name, product())["absent"][member] == "not_requested"
    assert section(name, product(), full=True)["absent"][member] == "not_collected"
    assert section(name, product(**{field: []}))[member] == 0


def test_hostile_identity_stays_data_and_makes_no_link() -> None:
    found = section("identity", product(asin="../etc/pa", title="<script>\u202e\x00" + "x" * 900), "research")
    assert found["url"] is None
    assert found["title"].startswith("<script>\u202e\x00")
    assert len(found["title"]) == 200
    assert found["title_truncated"]


def test_unknown_categories_are_none() -> None:
    odd = product(rootCategory=2**63 - 1, categories=[0], categoryTree=None, salesRankReference=-1)
    found = section("category", odd)
    assert found["absent"] == {
        "root": "not_collected", "leaf": "not_collected", "path": "not_collected", "rank_reference": "none",
        "display_group": "not_collected", "item_type": "not_collected",
    }  # fmt: skip


def test_unknown_sizes_are_not_zero() -> None:
    found = section("logistics", product(itemLength=0, itemWidth=-1, itemHeight=None, packageWeight=141))
    assert found["absent"]["item"] == "not_collected"
    assert (found["package"]["weight_g"], found["package"]["length_mm"]) == (141, None)


def test_long_content_is_cut_and_says_so() -> None:
    text = product(features=["x" * 500] * 9, description="y" * 90)
    short = section("content", text, "research")
    assert (short["feature_count"], short["truncated"]) == (9, True)
    assert all(f.endswith("…") for f in short["features"])
    assert section("content", text)["features"] == ["x" * 500] * 9
    assert section("content", product(features=[], description="y"))["truncated"] is False


NAMES = (
    "identity", "category", "pricing", "demand", "rating", "offers", "media", "aplus", "content", "logistics",
    "provenance",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "fields", [{}, {"csv": None}, {"csv": [], "stats": {}}, {"offers": [None, {}], "liveOffersOrder": [0, 1]}]
)
def test_a_bare_product_gives_every_null_its_reason(name: str, fields: dict[str, Any]) -> None:
    body = body_of(product(**fields))
    assert problems(look(body).section(name), body) == []
