"""Products and a planner for the tests of business figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.keepa.domains import DOMAINS, Domain
from keepa_cli.ops._actions import planner
from keepa_cli.research.business.record import Metrics, Source
from keepa_cli.research.business.sources import records
from keepa_cli.research.needs import Need

US, JP, DE = DOMAINS[1], DOMAINS[5], DOMAINS[3]
NOW, DAY = 8_000_000, 1440
SOURCE = Source("a.json", "file", "00")
REAL = "product-B0D8W1YVBX-US-20260510.json"


def product(asin: str = "B001GZ6QEC", *, price: int = 2000, offers: int = 3, **more: Any) -> dict[str, Any]:
    """A product with a year of one price, offers all the time, and a rank that never changed."""
    since = NOW - 400 * DAY
    csv: list[Any] = [None] * 36
    csv[0], csv[1], csv[3], csv[11] = [since, -1], [since, price], [since, 500], [since, offers]
    found = {
        "asin": asin, "title": f"Product {asin}", "domainId": 1, "productType": 0, "csv": csv, "lastUpdate": NOW,
        "trackingSince": since, "monthlySold": 500, "lastSoldUpdate": NOW, "referralFeePercentage": 15.0,
        "fbaFees": {"lastUpdate": NOW, "pickAndPackFee": 400},
    }  # fmt: skip
    return found | more


def body(*products: Any) -> dict[str, Any]:
    return {"timestamp": (NOW + 21_564_000) * 60_000, "products": list(products)}


def read(data: Any, domain: Domain = US) -> list[Metrics]:
    return records(data, domain, SOURCE)


def one(**more: Any) -> Metrics:
    (found,) = read(body(product(**more)))
    return found


def plan(need: Need, params: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """The product's own planner, for suggestions that are checked."""
    return planner(Context(env={}))(need, params, reason)


def real(shared_data: Path) -> Any:
    return json.loads((shared_data / REAL).read_text("utf-8"))
