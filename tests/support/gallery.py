"""Every view, made by its command from the shipped recordings: no key, no network, the same on every day."""

from __future__ import annotations

import atexit
import json
import os
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from typing import Any

from keepa_cli.cassettes.codec import parse_cassette
from keepa_cli.core.context import Context
from keepa_cli.interfaces.cli.app import run
from keepa_cli.keepa.strictjson import load_json
from tests.conftest import REPO

ASIN = "B0PPJ248DY"
TODAY = datetime(2027, 1, 4, 12, tzinfo=UTC)
"""The day on which the scenes play."""
SCENES: Mapping[str, str] = {
    **{f"product-{profile}": f"products get {ASIN} --full --view {profile}" for profile in ("summary", "deal")},
    "product-research": f"products get {ASIN} --full --view research",
    "product-audit": f"products get {ASIN} --full --view audit",
    "product-offers": f"products get {ASIN} --full --offers 20 --view research",
    "product-fields": f"products get {ASIN} --full --fields pricing,offers,stats_summary,research_graph",
    "products-summary": f"products summary {ASIN}",
    "products-chunks": f"products get {ASIN} --full --view deal --chunks-dir chunks",
    "products_compare": f"products compare {ASIN}",
    "history_export": f"history export {ASIN} --series new,sales_rank --format json --since 2025-09-01",
    "history_export-csv": f"history export {ASIN} --format csv --out history.csv",
    "history_trend": f"history trend {ASIN} --series new,sales_rank",
    "business-profit": f"business profit {ASIN} --cost 4.20",
    "business-fast": "business find-fast-movers --fixture product_B0PPJ248DY_full",
    "business-inventory": "business inventory --fixture product_B0PPJ248DY_full",
    "business-audit": "business inventory-audit --fixture product_B0PPJ248DY_full",
    "business-market": "business market-opportunity --fixture products_kitchen_dining_best",
    "business-sellers": "business seller-metrics --fixture products_kitchen_dining_best",
    "business-velocity": "business velocity --fixture product_B0PPJ248DY_full",
    "category_search": "categories search kitchen --view agent",
    "category_search-both": "categories search kitchen",
    "categories": "categories get 0 --parents --view agent",
    "category_products": "categories products 4255431",
    "category_products-hydrated": "categories products 4255431 --hydrate-top 3",
    "finder_query": "finder query --title kettle --view agent",
    "deals_query": "deals query --price-type NEW --view agent",
    "seller": "sellers get ATX8WCBDJYYKAT --view agent",
    "seller-storefront": "sellers get AXKXSDEC5EN794 --storefront --view agent",
    "bestsellers": "bestsellers get 4255431 --view agent",
    "topsellers": "topsellers list --view agent",
    "finder_selection": "categories finder-selection 4255431 --new 1000..5000",
    "finder_selection-out": "categories finder-selection 4255431 --out selection.json",
    "templates": "templates list",
    "template": "templates show low-competition --param category=4255431 --param max_reviews=200",
    "context_policy": "context policy",
    "docs_index": "docs index",
    "docs_page": "docs read quickstart",
    "docs_schema": "docs read keepa://schema/envelope",
    "research_target-asin": f"research resolve {ASIN}",
    "research_target-words": "research resolve kitchen",
    "research_query": "research query kettle",
    "research_graph_merge": "research-graph merge category_search.json products_compare.json seller.json --root pots",
    "research_graph_merge-out": "research-graph merge products_compare.json --out graph.json",
    "research_brief_export": "research brief research_graph_merge.json --title Kettles",
    "research_brief_export-many": (
        "research brief category_search.json products_compare.json business-profit.json product-research.json "
        "deals_query.json --title Kettles"
    ),
    "churn": "bestsellers churn --fixture bestsellers_kitchen",
    "figures": "figures research --fixture product_B0PPJ248DY_full --figure-set audit --out-dir figures",
    "reports_build": "reports build product-research.json business-profit.json --title Leads --no-figures",
    "reports_build-html": "reports build --fixture product_B0PPJ248DY_full --out report.html",
    "browse_snapshot": "browse snapshot --fixture product_B0PPJ248DY_full --no-figures --out-dir site",
    "workflow_plan": f"workflow plan product-research --asin {ASIN}",
    "workflow_plan-category": "workflow plan category-research --term kitchen",
    "workflow_run": f"workflow run product-research --asin {ASIN} --yes",
    "workflow_run-dry": f"workflow run product-research --asin {ASIN} --dry-run",
    "batch": f"batch asins {ASIN} --yes",
    "workflow_cost": "audit cost --plan workflow_plan.json",
}  # fmt: skip
"""Scene -> the words of its command. A file that is named after a scene holds what that scene printed."""


class Gallery(dict[str, dict[str, Any]]):
    """Scene -> envelope. Commands run in this process, in a home of their own, on one fixed day."""

    def __init__(self, folder: Path, scenes: Mapping[str, str] = SCENES) -> None:
        super().__init__()
        self.folder = folder
        self.work = folder / "work"
        for name in ("work", "state", "data"):
            (folder / name).mkdir()
        for name, words in scenes.items():
            done = self.run("--json", *shlex.split(words))
            assert done.returncode == 0, (name, words, done.stdout[-1500:], done.stderr[-500:])
            (self.work / f"{name}.json").write_text(done.stdout, encoding="utf-8")
            self[name] = json.loads(done.stdout)

    def run(self, *words: str) -> CompletedProcess[str]:
        out, err = StringIO(), StringIO()
        env = {k: v for k, v in os.environ.items() if not k.startswith("KEEPA_") and k not in {"CI", "TZ"}} | {
            "HOME": str(self.folder),
            "KEEPA_CLI_CONFIG": str(self.folder / "config.toml"),
            "KEEPA_CLI_STATE_DIR": str(self.folder / "state"),
            "KEEPA_CLI_DATA_DIR": str(self.folder / "data"),
        }
        ctx = Context(env=env, cwd=self.work, now=lambda: TODAY, stdin=StringIO(), stdout=out, stderr=err)
        return CompletedProcess(list(words), run(list(words), ctx), out.getvalue(), err.getvalue())


@cache
def played() -> Gallery:
    """All scenes, played once for all tests of a process."""
    folder = TemporaryDirectory(prefix="gallery-")
    atexit.register(folder.cleanup)
    return Gallery(Path(folder.name))


LISTS = ("category", "search", "query", "deal", "seller", "bestsellers", "topseller")
"""Folders of recordings that hold lists."""


def bodies_of_lists() -> list[Any]:
    """The answers of all shipped recordings of lists."""
    files = sorted(p for folder in LISTS for p in (REPO / "cassettes" / folder).glob("*.yaml"))
    return [load_json(parse_cassette(p.read_bytes(), p.name)[-1].body) for p in files]
