from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keepa_cli.keepa.clock import even_minute
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.history.tracks import tracks
from keepa_cli.research.names import BY_VIEW_NAME
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.stats_summary import SERIES
from keepa_cli.research.subject import Subject, subjects
from keepa_cli.sandbox.catalogue.catalogue import Catalogue
from keepa_cli.sandbox.params import options
from tests.research.history.support import BODIES, NOW, made, real, slots
from tests.support.views import problems

STAMP = 1_790_000_000_000
PARTS = ("temporal_features", "history_summary", "stats_summary")


def section(subject: Subject, name: str, **options: Any) -> Any:
    return Look(subject, lambda *_: {}, "research", **options).section(name)


def agrees(shown: dict[str, Any], stats: dict[str, Any]) -> int:
    """How many figures of a summary are Keepa's; fails at the first that is not."""
    checked = 0
    for name, told in shown["series"].items():
        if name == "absent" or told is None:
            continue
        i = BY_VIEW_NAME[name].index
        for days in ("30", "90", "180", "365"):
            assert (told["avg"][days] if told["avg"][days] is not None else -1) == stats[f"avg{days}"][i], (name, days)
            if "out_of_stock_pct" in told:
                share = told["out_of_stock_pct"][days]
                assert (-1 if share is None else share) == stats[f"outOfStockPercentage{days}"][i]
            checked += 1
        assert told["min"]["value"] == stats["min"][i][1] and told["max"]["value"] == stats["max"][i][1]
    return checked


@pytest.mark.parametrize("file", BODIES)
def test_every_figure_is_keepas(file: str, shared_data: Path) -> None:
    subject, body = real(shared_data, file)
    shown = section(subject, "stats_summary")
    assert agrees(shown, body["products"][0]["stats"]) > 15
    assert shown["source"] == "csv and stats, equal"
    assert shown["checked"] == 10 * len(SERIES)
    assert problems(shown, body) == []


def test_figures_that_differ_from_stats_are_named() -> None:
    stats = {"avg30": [-1, 99] + [-1] * 34}
    shown = section(made(csv=slots(s1=[NOW - 99_000, 100, NOW - 90_000, 200]), stats=stats), "stats_summary")
    assert shown["different_from_stats"] == ["avg30.new"]
    assert (shown["source"], shown["confidence"]) == ("csv", "high")


def test_without_stats_the_figures_are_the_same(shared_data: Path) -> None:
    subject, body = real(shared_data)
    bare = {k: v for k, v in body["products"][0].items() if k != "stats"}
    (found,) = subjects({**body, "products": [bare]}, DOMAINS[1], {})
    shown = section(found, "stats_summary")
    assert shown["series"] == section(subject, "stats_summary")["series"]
    assert (shown["source"], shown["checked"]) == ("csv", 0)


def test_every_history_of_a_real_body_is_counted(shared_data: Path) -> None:
    subject, _ = real(shared_data)
    shown = section(subject, "history_summary")
    whole = {n for n in tracks(subject) if not n.startswith("offer:") and not n.endswith((":price", ":shipping"))}
    without = {n for names in shown["without_data"].values() for n in names}
    assert set(shown["series"]) | without == whole
    assert shown["series"]["sales_rank"]["points"] == 2740
    assert shown["series"]["new"]["newest"][-1] == ["2026-04-27T07:46:00Z", 1499]
    assert "new_fba" in shown["without_data"]["not_requested"]


def test_the_number_of_newest_points_is_chosen() -> None:
    subject = made(csv=slots(s1=[NOW - 30, 100, NOW - 20, -1, NOW - 10, 200]))
    assert [v for _, v in section(subject, "history_summary", history_limit=2)["series"]["new"]["newest"]] == [
        None,
        200,
    ]
    assert "newest" not in section(subject, "history_summary", history_limit=0)["series"]["new"]


@pytest.mark.parametrize("domain", [1, 5])
@pytest.mark.parametrize("asked", [{"stats": "90", "rating": "1", "offers": "20"}, {"stats": "0"}])
def test_products_of_the_sandbox_agree_with_its_own_stats(domain: int, asked: dict[str, str]) -> None:
    chosen = options({"history": "1", **asked})
    products = [Catalogue(1).product(f"B{i:09d}", domain, chosen, even_minute(STAMP)) for i in range(10)]
    body = {"timestamp": STAMP, "products": products}
    for subject in subjects(body, DOMAINS[domain], {}):
        shown = section(subject, "stats_summary")
        agrees(shown, subject.product["stats"])
        assert shown["source"] == "csv and stats, equal", shown.get("different_from_stats")
        assert problems([section(subject, name) for name in PARTS], body) == []
