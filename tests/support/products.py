"""Products and their views for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.keepa.clock import even_minute
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.ops._actions import planner
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.view import products_view
from keepa_cli.research.subject import Subject, subjects
from keepa_cli.sandbox.catalogue import Catalogue
from keepa_cli.sandbox.params import options
from tests.support.sandbox import NOW

PLAN = planner(Context(env={}))
REAL = ("product-B0D8W1YVBX-US-20260510.json", "product-B0D8W1YVBX-US-20260510-stats0.json")
"""With rating, buy box and statistics of 180 days; with `stats=0` and nothing else that costs."""
STAMP = int(NOW * 1000)
CATALOGUE = Catalogue(1)
FULL = {"history": "1", "stats": "0", "videos": "1", "aplus": "1"}


def real(folder: Path, which: int = 0) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((folder / REAL[which]).read_text("utf-8"))
    return body


def body_of(*products: Any) -> dict[str, Any]:
    """A /product answer that was made at a fixed moment."""
    return {"timestamp": STAMP, "products": list(products)}


def made(asin: str, domain: int = 1, **query: str) -> dict[str, Any]:
    """The sandbox's answer about one product of its shop."""
    product = CATALOGUE.product(asin, domain, options(query or FULL), even_minute(STAMP))
    return json.loads(json.dumps(body_of(product)))


def look(body: Any, profile: str = "audit", domain: int = 1, **params: Any) -> Look:
    """A look at the first product of an answer."""
    found: Subject = next(subjects(body, DOMAINS[domain], params))
    return Look(found, PLAN, profile, whole=profile == "audit")


def section(name: str, product: dict[str, Any], profile: str = "audit", **params: Any) -> Any:
    """One section of a product given by hand."""
    return look(body_of(product), profile, **params).section(name)


def views(body: Any, profile: str, domain: int = 1, **options: Any) -> list[dict[str, Any]]:
    params = options.pop("params", {})
    return list(products_view(body, DOMAINS[domain], params, PLAN, profile, **options))
