"""Products made for tests, and looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.domains import DOMAINS, Domain
from keepa_cli.ops._actions import planner
from keepa_cli.research.needs import Planner
from keepa_cli.research.product.look import Look
from keepa_cli.research.subject import Subject, subjects

NOW = 8_075_762
STAMP = (NOW + 21_564_000) * 60_000
SLOTS = {"amazon": 0, "new": 1, "sales_rank": 3, "new_offer_count": 11, "rating": 16, "review_count": 17, "buy_box": 18}
TREE = [{"catId": 100, "name": "Kitchen"}, {"catId": 110, "name": "Kettles"}]
MINE = ("agent_brief", "selection_signals", "risk_taxonomy", "data_quality", "next_actions", "evidence_index")
"""The sections that judge."""


def days(*points: tuple[float, int]) -> list[int]:
    """(days ago, value) as a packed series."""
    return [n for ago, value in points for n in (NOW - round(ago * DAY), value)]


def triples(*points: tuple[float, int]) -> list[int]:
    """The same with free shipping."""
    return [n for ago, value in points for n in (NOW - round(ago * DAY), value, 0 if value >= 0 else -1)]


GOOD: Mapping[str, list[int]] = {
    "new": days((400, 1999)),
    "sales_rank": days((400, 500)),
    "new_offer_count": days((400, 3)),
    "rating": days((400, 45)),
    "review_count": days((400, 900)),
    "buy_box": triples((400, 1999)),
}


def product(series: Mapping[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    """A product without any risk; `series` replaces histories by name (None leaves one out)."""
    csv: list[Any] = [None] * 36
    for name, packed in (GOOD | (series or {})).items():
        csv[SLOTS[name]] = packed
    whole = {
        "asin": "B00AAAAAA1", "domainId": 1, "productType": 0, "title": "Sample kettle", "brand": "Acme",
        "csv": csv, "lastUpdate": NOW - 30, "trackingSince": NOW - 400 * DAY, "rootCategory": 100,
        "categoryTree": TREE, "categories": [110], "salesRankReference": 100, "monthlySold": 2000,
        "images": [{"l": f"{i}.jpg"} for i in range(7)], "features": ["a"] * 5, "videos": [{}], "aPlus": [],
        "buyBoxSellerIdHistory": [str(NOW - 400 * DAY), "A2D7JKJIGBZO3G"], "stats": None,
    }  # fmt: skip
    return {k: v for k, v in (whole | members).items() if v is not ...}


def body(*products: Any) -> dict[str, Any]:
    return {"timestamp": STAMP, "products": list(products)}


def plan() -> Planner:
    """The real planner, in an empty home."""
    nowhere = Path("nowhere")
    paths = {f"KEEPA_CLI_{n}": str(nowhere / n) for n in ("CONFIG", "STATE_DIR", "DATA_DIR")}
    return planner(Context(env=paths, cwd=nowhere))


def subjects_of(found: Any, domain: Domain = DOMAINS[1], **params: Any) -> list[Subject]:
    return list(subjects(found, domain, params))


def look(found: Any, profile: str = "research", **params: Any) -> Look:
    """A look at the first product of a body."""
    return Look(subjects_of(found, **params)[0], plan(), profile)


def judged(found: Any, profile: str = "research", **params: Any) -> dict[str, Any]:
    """The sections that judge the first product of a body."""
    seen = look(found, profile, **params)
    return {name: seen.section(name) for name in MINE}
