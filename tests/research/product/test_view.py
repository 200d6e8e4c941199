"""What profiles and --fields show of a product."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.research.product import sections
from keepa_cli.research.product.look import HISTORY_LIMIT
from keepa_cli.research.product.profiles import ALL, CUT_FIRST, LIMITS, PROFILES, SECTIONS, Profile, picked
from keepa_cli.research.product.view import fitted, section_name
from keepa_cli.sandbox.catalogue.traits import SHOWN
from tests.support.mutations import mutated
from tests.support.products import body_of, look, made, real, views
from tests.support.views import problems

VIEWS = tuple(PROFILES)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("profile", VIEWS)
def test_views_of_the_real_product_hold_together(shared_data: Path, profile: str, which: int) -> None:
    body = real(shared_data, which)
    (view,) = views(body, profile)
    assert problems(view, body) == []
    names = [name for name in view if name != "truncated"]
    assert names == [name for name in SECTIONS if name in names]
    assert names[0] == "agent_brief"


@pytest.mark.parametrize("profile", VIEWS)
@pytest.mark.parametrize("asin", SHOWN)
def test_views_of_the_sandbox_hold_together(asin: str, profile: str) -> None:
    for domain, query, params in (
        (1, {}, {"full": True}),
        (5, {"history": "1", "stats": "90", "offers": "20"}, {"offers": 20}),
    ):
        body = made(asin, domain, **query)
        (view,) = views(body, profile, domain, params=params)
        assert problems(view, body) == []


@pytest.mark.parametrize("profile", [p for p in VIEWS if p != Profile.AUDIT])
@pytest.mark.parametrize("asin", SHOWN)
def test_a_view_is_what_its_profile_picks_of_whole_sections(asin: str, profile: str) -> None:
    """Members that a profile does not show are never made: those that it shows must not miss them."""
    rng = random.Random(asin)
    for query, params in (({}, {"full": True}), ({"stats": "90", "offers": "20"}, {"offers": 20}), ({}, {})):
        for changes in (0, 25):
            body = made(asin, **query)
            mutated(body["products"][0], rng, changes)
            seen = look(body, profile, **params)
            picks = PROFILES[profile] if seen.subject.usable else {}
            whole = {name: picked(seen.section(name), picks[name]) for name in SECTIONS if name in picks}
            (view,) = views(body, profile, params=params)
            assert view == fitted(whole, LIMITS[profile], CUT_FIRST[profile]) or not picks


@pytest.mark.parametrize("profile", VIEWS)
@pytest.mark.parametrize(("number", "kind"), [(3, "unaccessible"), (4, "invalid")])
def test_an_asin_without_data_gets_a_short_view(profile: str, number: int, kind: str) -> None:
    body = body_of({"asin": "B0NODATA01", "domainId": 1, "productType": number, "title": None, "csv": None})
    (view,) = views(body, profile)
    assert list(view) == ["identity", "data_quality", "provenance"]
    assert (view["identity"]["asin"], view["identity"]["kind"]) == ("B0NODATA01", kind)
    assert view["data_quality"]["usable"] is False
    assert "no data" in view["data_quality"]["message"]
    assert problems(view, body) == []


def test_fields_choose_whole_sections_in_the_order_of_a_view() -> None:
    body = made("B0LARGES01")
    (view,) = views(body, "research", fields=["rating", "pricing"])
    assert list(view) == ["pricing", "rating"]
    body["products"][0]["features"] = ["x" * 500] * 9
    (whole,) = views(body, "research", fields=["content"])
    assert whole["content"]["features"] == ["x" * 500] * 9
    assert "buy_box_highest_ever" in view["pricing"]


def test_the_limit_of_histories_and_the_windows_reach_the_sections() -> None:
    body = made("B0LARGES01")
    (view,) = views(body, "research", fields=["history_summary", "temporal_features"], history_limit=2, windows=(14,))
    newest = [s["newest"] for s in view["history_summary"]["series"].values() if "newest" in s]
    assert newest and max(map(len, newest)) == 2 < HISTORY_LIMIT
    windows = [set(s.get("windows", {})) for s in view["temporal_features"]["series"].values() if s]
    assert set().union(*windows) == {"14"}


def test_a_wrong_section_is_named_with_the_nearest() -> None:
    with pytest.raises(KeepaCliError, match="Did you mean pricing") as caught:
        section_name("prising")
    assert caught.value.details["allowed"] == list(SECTIONS)
    assert section_name(" Stats-Summary ") == "stats_summary"


def test_the_tables_name_what_exists() -> None:
    assert tuple(sections.SHOWN) == SECTIONS
    for profile, table in PROFILES.items():
        assert set(table) <= set(SECTIONS), profile
    for profile, order in CUT_FIRST.items():
        assert {step.partition(".")[0].partition("[")[0] for step in order} <= set(PROFILES[profile])
    assert set(CUT_FIRST) == set(LIMITS)


def test_picking_keeps_the_reasons_of_what_is_shown() -> None:
    value: dict[str, Any] = {"a": None, "b": None, "c": {"d": 1, "e": 2}, "absent": {"a": "none", "b": "none"}}
    assert picked(value, ("a",)) == {"a": None, "absent": {"a": "none"}}
    assert picked(value, {"c": ("d",)}) == {"c": {"d": 1}}
    assert picked([value, 1], ("c",)) == [{"c": {"d": 1, "e": 2}}, 1]
    assert picked(value, ALL) is value
