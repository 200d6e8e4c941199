from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.paths import parse
from keepa_cli.keepa.clock import iso
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.facts import Reason, Section, derived
from keepa_cli.research.inputs import product_views, raw_products, unwrapped
from keepa_cli.research.subject import subject, subjects
from tests.support.views import problems

US, JP = DOMAINS[1], DOMAINS[5]


def one(product: dict[str, Any], **params: Any) -> Any:
    return subject(product, "$.products[0]", {"timestamp": 1778000000000}, US, params)


def test_now_is_the_time_of_the_answer_else_of_the_last_update() -> None:
    assert iso(one({"lastUpdate": 7_000_000}).now) == "2026-05-05T16:54:00Z"
    assert subject({"lastUpdate": 7_000_000}, "$", None, US, {}).now == 7_000_000
    assert subject({}, "$", {"timestamp": "soon"}, US, {}).now == 0


def test_the_domain_of_the_product_counts_more_than_the_one_asked() -> None:
    assert subject({"domainId": 5}, "$", None, US, {}).domain is JP
    assert subject({"domainId": 99}, "$", None, US, {}).domain is US


@pytest.mark.parametrize(
    ("product", "name", "reason"),
    [
        ({}, "NEW", Reason.NOT_REQUESTED),
        ({"csv": []}, "NEW", Reason.NOT_COLLECTED),
        ({"csv": [[7_000_000, -1]]}, "AMAZON", Reason.NONE),
        ({"csv": [[7_000_000, -2]]}, "AMAZON", Reason.NOT_COLLECTED),
        ({"csv": []}, "BUY_BOX_SHIPPING", Reason.NOT_REQUESTED),
        ({"csv": [], "buyBoxSellerIdHistory": []}, "BUY_BOX_SHIPPING", Reason.NOT_COLLECTED),
        ({"csv": [], "offers": []}, "NEW_FBA", Reason.NOT_COLLECTED),
        ({"csv": ["x"]}, "AMAZON", Reason.UNREADABLE),
    ],
)
def test_an_absent_value_has_its_own_reason(product: dict[str, Any], name: str, reason: Reason) -> None:
    assert one(product).why_no(name) is reason


def test_what_the_request_asked_counts_even_where_the_answer_shows_nothing() -> None:
    assert one({"csv": []}, buybox=True).why_no("BUY_BOX_SHIPPING") is Reason.NOT_COLLECTED
    assert one({"csv": []}, offers=20).asked.rating


def test_a_running_lightning_deal_is_the_one_in_force_now() -> None:
    found = one({"csv": [None] * 8 + [[8_000_000, 999, 9_000_000, -1]]})
    assert found.newest("LIGHTNING_DEAL") == 0
    assert found.newest("NEW") == -1


def test_paths_lead_to_what_they_name(shared_data: Path) -> None:
    body = json.loads((shared_data / "product-B0D8W1YVBX-US-20260510.json").read_text("utf-8"))
    (found,) = subjects(body, US, {})
    assert parse(found.series_path("NEW")).get(body) is body["products"][0]["csv"][1]
    assert parse(found.at("salesRanks", "3760911")).get(body)
    assert found.asked.buybox and not found.asked.offers


def test_series_are_decoded_once() -> None:
    found = one({"csv": [[7_000_000, 100]]})
    assert found.series("AMAZON") is found.series("AMAZON")


def test_inputs_are_recognised_through_their_wrappings() -> None:
    body = {"products": [{"asin": "B001GZ6QEC"}]}
    envelope = {"ok": True, "data": {"items": [], "body": body}}
    assert unwrapped(envelope) is body
    for data in (body, envelope, [{"asin": "B001GZ6QEC"}], {"asin": "B001GZ6QEC"}):
        assert [s.asin for s in raw_products(data, US)] == ["B001GZ6QEC"]
    view = {"ok": True, "data": {"view": "product", "products": [{"asin": "B001GZ6QEC"}]}}
    assert not list(raw_products(view, US))
    assert len(list(product_views(view))) == 1


def test_a_section_gives_every_null_its_reason() -> None:
    found = Section(price=None)
    assert problems(found)
    good = Section().put("count", 0).put("list", []).lack("price", Reason.NOT_COLLECTED)
    assert good == {"count": 0, "list": None, "price": None, "absent": {"list": "none", "price": "not_collected"}}
    assert not problems(good)


def test_a_derived_figure_without_a_value_says_why() -> None:
    from keepa_cli.research.facts import Confidence

    found = derived(None, method="ratio", inputs={"a": 1, "b": None}, confidence=Confidence.LOW, evidence_path="$.x")
    assert found["absent"] == {"value": "not_computable"}
    assert found["inputs"] == {"a": 1}
    assert problems(found, {"x": 1}) == []
    assert problems(found, {"y": 1})
