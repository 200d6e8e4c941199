"""What must hold for all views at once, over the recordings, the sandbox and real answers."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.core.schema import bind
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.research.history.units import unit_of
from keepa_cli.research.names import name_of
from keepa_cli.research.product.profiles import LIMITS
from keepa_cli.research.product.stats_summary import SERIES
from keepa_cli.research.product.view import size
from keepa_cli.sandbox.catalogue import example_asin
from keepa_cli.sandbox.catalogue.traits import SHOWN
from tests.conftest import REPO
from tests.support.allviews import other_views, product_views
from tests.support.gallery import ASIN, SCENES, Gallery, played
from tests.support.products import FULL, made, real, section, views
from tests.support.views import objects, problems

EXAMPLES = [*SHOWN, *(example_asin(n) for n in range(3))]
QUERIES: tuple[dict[str, str], ...] = (
    {}, {"stats": "90", "rating": "1", "buybox": "1"}, {"offers": "20", "stats": "180"}, {"history": "0"},
)  # fmt: skip
ANSWERED = {  # the view of an answer -> the words that show the answer itself
    "product": "products get {asin} --full", "category_search": "categories search kitchen --view raw",
    "categories": "categories get 0 --parents --view raw", "finder_query": "finder query --title kettle --view raw",
    "deals_query": "deals query --price-type NEW --view raw", "seller": "sellers get ATX8WCBDJYYKAT --view raw",
    "bestsellers": "bestsellers get 4255431 --view raw", "topsellers": "topsellers list --view raw",
    "products_compare": "products get {asin} --full", "history_export": "products get {asin} --full",
    "history_trend": "products get {asin} --full",
}  # fmt: skip
PLANS = frozenset({"workflow_plan"})
"""Steps of a plan may wait for earlier ones: they say so, and are no actions that can be run as they stand."""


@pytest.fixture(scope="module")
def gallery() -> Gallery:
    return played()


@pytest.mark.parametrize("scene", SCENES)
def test_a_scene_has_no_problems(gallery: Gallery, scene: str) -> None:
    data = gallery[scene]["data"]
    assert problems({k: v for k, v in data.items() if k not in {"body", "content", "answered_from"}}) == []
    assert list(floats_in_money(data)) == []


@pytest.mark.parametrize("scene", [n for n in ANSWERED if n in SCENES] + ["product-research", "product-deal"])
def test_all_evidence_is_in_the_answer(gallery: Gallery, scene: str) -> None:
    data = gallery[scene]["data"]
    done = gallery.run("--json", *shlex.split(ANSWERED[data["view"]].format(asin=ASIN)))
    assert done.returncode == 0, done.stdout
    body = json.loads(done.stdout)["data"]["body"]
    assert problems(data, body) == []
    assert sum("evidence_path" in item for _, item in objects(data)) > 0


def floats_in_money(data: Any) -> Iterator[str]:
    for path, item in objects(data):
        if "currency" in item and "amount" in item and any(isinstance(v, float) for v in item.values()):
            yield path


def actions(data: Any) -> Iterator[Mapping[str, Any]]:
    """Everything that a view calls executable, wherever it stands."""
    for _, item in objects(data):
        if {"action", "command", "params", "cli"} <= set(item):
            yield item


def suggested(gallery: Gallery) -> dict[str, Mapping[str, Any]]:
    """Each command line once, over all scenes."""
    found: dict[str, Mapping[str, Any]] = {}
    for name, envelope in gallery.items():
        if envelope["data"].get("view") not in PLANS:
            found |= {item["cli"]: {**item, "scene": name} for item in actions(envelope["data"])}
    return found


def test_every_next_action_runs_as_it_stands(gallery: Gallery) -> None:
    """Remote ones dry, those of a recording and local ones really; those that write are bound only."""
    wrong = {}
    lines = suggested(gallery)
    assert len(lines) > 40
    for line, item in lines.items():
        program, *words = shlex.split(line)
        op = ops.find(item["command"])
        bind(op, item["params"])
        if op.effect != "read" and not op.remote:
            continue
        flags = ["--json", "--dry-run"] if op.remote and "fixture" not in item else ["--json"]
        done = gallery.run(*flags, *words)
        if program != "kc" or done.returncode != 0:
            wrong[line] = (item["scene"], done.stdout[:300])
    assert wrong == {}


def test_prices_of_next_actions_are_those_of_a_dry_run(gallery: Gallery) -> None:
    wrong = {}
    for line, item in suggested(gallery).items():
        if not ops.find(item["command"]).remote or "fixture" in item:
            continue
        done = gallery.run("--json", "--dry-run", *shlex.split(line)[1:])
        told = json.loads(done.stdout)["token_bucket"]["estimated"]
        if any(told[name] != item[name] for name in ("estimated_tokens", "worst_case_tokens", "requires_confirmation")):
            wrong[line] = told
    assert wrong == {}


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_every_product_of_the_sandbox_through_every_view(query: dict[str, str]) -> None:
    for asin in EXAMPLES:
        body = made(asin, **(FULL | query))
        for shown, holds_evidence in [*product_views(body), *other_views(body)]:
            assert problems(shown, body if holds_evidence else None) == [], (asin, shown["view"])
            assert list(floats_in_money(shown)) == []


@pytest.mark.parametrize("which", [0, 1])
def test_real_answers_through_every_view_within_their_sizes(shared_data: Path, which: int) -> None:
    body = real(shared_data, which)
    for shown, holds_evidence in [*product_views(body), *other_views(body)]:
        assert problems(shown, body if holds_evidence else None) == [], shown["view"]
    for profile, limit in LIMITS.items():
        (view,) = views(body, profile)
        assert size(view) <= limit
        assert json.loads(json.dumps(view, allow_nan=False)) == view


def test_views_agree_with_the_statistics_of_the_sandbox() -> None:
    """Every product, every series, every window: means, stock-outs and extremes are those that the answer tells."""
    compared = 0
    for asin in EXAMPLES:
        body = made(asin, **(FULL | {"stats": "90", "rating": "1", "buybox": "1", "offers": "20"}))
        product = body["products"][0]
        if not product.get("stats"):
            continue
        summary = section("stats_summary", product, offers=20)
        assert "different_from_stats" not in summary, asin
        for t in CSV_TYPES:
            shown = summary["series"].get(name_of(t)) if name_of(t) in SERIES else None
            if shown is not None:
                compared += agreed(shown, product["stats"], t.index, is_price=t.is_price)
                assert shown["unit"] == unit_of(t).name
    assert compared > 500


def agreed(shown: Mapping[str, Any], stats: Mapping[str, Any], slot: int, *, is_price: bool) -> int:
    """How many figures were compared."""
    compared = 0
    for name, field in (("avg", "avg"), ("out_of_stock_pct", "outOfStockPercentage")):
        if name == "out_of_stock_pct" and not is_price:
            continue
        for days in ("30", "90", "180", "365"):
            told = stats.get(f"{field}{days}")
            if not isinstance(told, list):
                continue
            assert shown[name][days] == (told[slot] if told[slot] >= 0 else None), (name, days, slot)
            compared += 1
    for name in ("min", "max"):
        told = stats[name][slot]
        assert told is None or shown[name]["value"] == told[1]
        compared += told is not None
    return compared


ZONES = ("Asia/Kathmandu", "America/St_Johns")
PROGRAM = """
import sys
sys.path.insert(0, {repo!r})
import json
from tests.support.allviews import other_views, product_views
from tests.support.products import FULL, made
for asin in ("B0LARGES01", "B0COUPON01"):
    body = made(asin, **(FULL | {{"offers": "20", "stats": "90"}}))
    for shown, _ in [*product_views(body), *other_views(body)]:
        print(json.dumps(shown, sort_keys=True))
"""


def test_times_do_not_depend_on_the_zone_of_the_machine(clean_env: dict[str, str]) -> None:
    told = set()
    for zone in ("UTC", *ZONES):
        program = PROGRAM.format(repo=str(REPO))
        done = subprocess.run(
            [sys.executable, "-c", program], env=clean_env | {"TZ": zone}, capture_output=True, text=True,
            encoding="utf-8", check=True, cwd=REPO,
        )  # fmt: skip
        told.add(done.stdout)
    assert len(told) == 1 and "Z" in told.pop()


def reason(found: Mapping[str, Any], name: str) -> tuple[Any, Any]:
    return found[name], found.get("absent", {}).get(name)


def test_not_requested_not_collected_none_and_zero_are_four_things() -> None:
    """The number of used offers of one product: nobody asked, nobody looked, there is none, there are zero."""
    product = made("B0LARGES01", **(FULL | {"offers": "20", "stats": "90"}))["products"][0]
    slot = next(t.index for t in CSV_TYPES if t.name == "BUY_BOX_SHIPPING")
    counts = next(t.index for t in CSV_TYPES if t.name == "COUNT_NEW")
    now = product["lastUpdate"]

    def pricing(values: Any, **params: Any) -> tuple[Any, Any]:
        csv = [*product["csv"]]
        csv[slot] = values
        bare = {k: v for k, v in product.items() if k not in {"stats", "buyBoxSellerIdHistory", "offers"}}
        return reason(section("pricing", bare | {"csv": csv}, **params), "buy_box")

    assert pricing(None, buybox=False) == (None, "not_requested")
    assert pricing(None, buybox=True) == (None, "not_collected")
    assert pricing([now - 100, -2, 0], buybox=True) == (None, "not_collected")
    assert pricing([now - 100, -1, 0], buybox=True) == (None, "none")
    free, why = pricing([now - 100, 0, 0], buybox=True)
    assert (free["raw"], free["amount"], why) == (0, "0.00", None)

    csv = [*product["csv"]]
    csv[counts] = [now - 100, 0]
    offers = section("offers", product | {"csv": csv, "stats": None})
    assert offers["new_offer_count"]["value"] == 0 and "new_offer_count" not in offers.get("absent", {})
