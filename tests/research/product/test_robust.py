"""No product, however odd, makes a view fail, and what is odd is never shown as a fact."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.research.product.profiles import LIMITS, PROFILES
from keepa_cli.research.product.view import size
from tests.support.mutations import ODD, mutated, shortened
from tests.support.products import body_of, made, real, views
from tests.support.views import problems

FIELDS = (
    "asin", "title", "productType", "domainId", "csv", "stats", "offers", "liveOffersOrder", "images", "videos",
    "aPlus", "categoryTree", "categories", "rootCategory", "salesRanks", "salesRankReference", "monthlySold",
    "monthlySoldHistory", "coupon", "couponHistory", "buyBoxSellerIdHistory", "buyBoxUsedHistory", "fbaFees",
    "referralFeePercentage", "features", "lastUpdate", "trackingSince", "reviews", "variations", "hazardousMaterials",
)  # fmt: skip
numbers = st.integers(-(10**13), 10**13) | st.integers(-3, 8_200_000)
values: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(ODD) | numbers | st.text(max_size=12) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
series = st.lists(numbers, max_size=14) | st.lists(numbers | st.sampled_from(ODD), max_size=9) | st.none()


@settings(max_examples=60, deadline=None)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, values)), st.sampled_from(list(PROFILES)))
def test_products_of_anything(product: dict[str, Any], profile: str) -> None:
    body = body_of(product)
    for view in views(body, profile):
        assert problems(view, body) == []
        assert size(view) <= LIMITS.get(profile, 10**6)


@settings(max_examples=60, deadline=None)
@given(st.lists(series, max_size=40), st.sampled_from(list(PROFILES)), st.booleans())
def test_series_of_anything(csv: list[Any], profile: str, opened: bool) -> None:
    body = body_of({"asin": "B001GZ6QEC", "productType": 0, "lastUpdate": 8_000_000, "csv": csv})
    (view,) = views(body, profile, params={"offers": 20} if opened else {})
    assert problems(view, body) == []


def base(folder: Path | None, which: int) -> str:
    if folder is None:
        return json.dumps(made("B0LARGES01", history="1", stats="90", offers="20", videos="1", aplus="1"))
    body = real(folder, which)
    return json.dumps(body | {"products": [shortened(body["products"][0], 12)]})


@pytest.mark.parametrize("which", [0, 1])
def test_mutated_real_bodies(shared_data: Path, which: int) -> None:
    _mutate(base(shared_data, which), 120, which)


def test_mutated_products_of_the_sandbox() -> None:
    _mutate(base(None, 0), 60, 7)


def _mutate(text: str, runs: int, seed: int) -> None:
    for run in range(runs):
        rng = random.Random(f"{seed}-{run}")
        body = json.loads(text)
        mutated(body["products"][0], rng, rng.randrange(1, 10))
        profile = rng.choice(list(PROFILES))
        for view in views(body, profile, rng.choice((1, 5))):
            assert problems(view, body) == [], f"seed {seed}-{run}"
            assert size(view) <= LIMITS.get(profile, 10**6), f"seed {seed}-{run}"


@pytest.mark.parametrize("body", [None, [], {}, {"products": None}, {"products": "x"}, {"products": []}])
def test_answers_without_products(body: Any) -> None:
    assert views(body, "research") == []


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}])
def test_products_that_are_none(odd: Any) -> None:
    body = body_of(odd)
    for profile in PROFILES:
        (view,) = views(body, profile)
        assert problems(view, body) == []
