"""A view stays within the size of its profile, whatever the product; what was left out is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keepa_cli.keepa.clock import even_minute
from keepa_cli.research.product.profiles import LIMITS
from keepa_cli.research.product.view import fitted, size
from keepa_cli.sandbox.catalogue.traits import SHOWN
from tests.support.products import STAMP, body_of, made, real, views
from tests.support.views import problems

NOW = even_minute(STAMP)
BOUNDED = tuple(LIMITS)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("profile", BOUNDED)
def test_views_of_the_real_product(shared_data: Path, profile: str, which: int) -> None:
    (view,) = views(real(shared_data, which), profile)
    assert size(view) <= LIMITS[profile]
    assert profile == "research" or "truncated" not in view


def test_the_research_view_of_the_real_product_keeps_every_section(shared_data: Path) -> None:
    (view,) = views(real(shared_data), "research")
    assert {"history_summary", "temporal_features", "research_graph", "evidence_index", "provenance"} <= set(view)


@pytest.mark.parametrize("profile", BOUNDED)
@pytest.mark.parametrize("asin", SHOWN)
def test_views_of_the_sandbox(asin: str, profile: str) -> None:
    (view,) = views(made(asin, history="1", stats="90", offers="20", stock="1"), profile, params={"offers": 20})
    assert size(view) <= LIMITS[profile]


def huge(character: str) -> dict[str, Any]:
    """A product whose every text and list is as long as nothing should be."""
    text = character * 20_000
    offers = [
        {"sellerId": text, "condition": 1, "offerCSV": [NOW - 9, 1000 + i, 0], "lastSeen": NOW} for i in range(300)
    ]
    product = made("B0LARGES01", history="1", stats="90", offers="20")["products"][0]
    texts = ("title", "brand", "manufacturer", "model", "color", "size", "type", "description", "ingredients")
    return product | dict.fromkeys(texts, text) | {
        "features": [text] * 100,
        "images": [{"l": f"{i}.jpg"} for i in range(500)],
        "categoryTree": [{"catId": i, "name": text} for i in range(1, 200)],
        "variations": [{"asin": f"B{i:09}", "image": text} for i in range(4000)],
        "offers": offers,
        "liveOffersOrder": list(range(300)),
        "buyBoxSellerIdHistory": [v for i in range(400) for v in (str(NOW - 9000 + i), f"SELLER{i}{text[:99]}")],
        "videos": [{"creator": f"{text}{i}"} for i in range(300)],
        "deals": [{"badge": text}] * 50,
        "eanList": ["0" * 20_000] * 50,
    }  # fmt: skip


@pytest.mark.parametrize("profile", BOUNDED)
@pytest.mark.parametrize("character", ["x", "\U0001f600", "\u0000", "\u202e", '"', "\ud800"])
def test_a_huge_product(profile: str, character: str) -> None:
    body = body_of(huge(character))
    (view,) = views(body, profile)
    assert size(view) <= LIMITS[profile]
    assert view["identity"]["title"]
    assert problems(view, body) == []


def test_a_cut_leaves_no_reason_without_its_member() -> None:
    inner = {"x": None, "y": list(range(100)), "absent": {"x": "none"}}
    view = {"a": inner, "identity": {"title": "t" * 100}}
    assert fitted(dict(view), 1000, ["a.x"]) == view
    found = fitted(dict(view), 180, ["a.y[:1]", "a.x", "b", "a.z"])
    assert found["a"] == {"y": [0]}
    assert found["truncated"] == ["a.y", "a.x"]
    assert fitted(dict(view), 160, ["a.x", "a"])["truncated"] == ["a"]
    assert inner["y"] == list(range(100)), "the section itself is not touched"


def test_the_title_is_cut_last() -> None:
    found = fitted({"identity": {"title": "t" * 100}}, 90, [])
    assert size(found) <= 90
    assert found["truncated"] == ["identity.title"]


def test_a_star_is_every_member() -> None:
    view = {"h": {"s": {"p": {"n": [1, 2, 3]}, "q": {"n": [4, 5]}, "r": {"m": 1}}}}
    found = fitted(view, 20, ["h.s.*.n[-1:]"])
    assert found["h"] == {"s": {"p": {"n": [3]}, "q": {"n": [5]}, "r": {"m": 1}}}
