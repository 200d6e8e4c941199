"""Parameters of every remote operation, with the values that decide what a call costs."""

from __future__ import annotations

from typing import Any

from keepa_cli.keepa.clock import from_unix_ms
from keepa_cli.sandbox.catalogue import Catalogue, example_asin
from keepa_cli.sandbox.catalogue.sellers import known
from keepa_cli.sandbox.params import options
from tests.support.pairwise import ABSENT
from tests.support.sandbox import NOW

SEED = 1
KNOWN = [example_asin(n) for n in range(4)]
MANY = [example_asin(n) for n in range(103)]
NOBODY = "B0ZZZZZZZZ"
CATALOGUE = Catalogue(SEED)


CODE = str(CATALOGUE.product(KNOWN[0], 1, options({}), from_unix_ms(int(NOW * 1000)))["eanList"][0])
YES = [ABSENT, True]
FLAG = [ABSENT, True, False]
SELLERS = list(known(SEED))[:2]
STRANGER = "A2L77EE7U53NWQ"
ROOT = CATALOGUE.tree(1).roots[0]
"""A root category of the first marketplace; other marketplaces have others."""
PRICED = {
    "stats": [ABSENT, "90"],
    "history": [ABSENT, False],
    "days": [ABSENT, 30],
    "update": [ABSENT, 0, 48, -1],
    "full": YES,
}


def tracking(asin: str) -> dict[str, Any]:
    threshold = {"thresholdValue": 1999, "domain": 1, "csvType": 0, "isDrop": True}
    return {
        "asin": asin, "ttl": 0, "expireNotify": True, "desiredPricesInMainCurrency": True, "mainDomainId": 1,
        "updateInterval": 24, "notificationType": [False] * 5 + [True, False], "individualNotificationInterval": -1,
        "thresholdValues": [threshold],
    }  # fmt: skip


TABLE: dict[str, dict[str, list[Any]]] = {
    "products.get": {
        "asin": [ABSENT, KNOWN[:1], [*KNOWN, KNOWN[0]], [KNOWN[0], NOBODY], MANY],
        "code": [ABSENT, [CODE], [CODE, "4000000000006"]],
        "code_limit": [ABSENT, 1, 50],
        "offers": [ABSENT, 20, 55, 100],
        "only_live_offers": YES,
        "stock": YES,
        "buybox": YES,
        "rating": FLAG,
        "historical_variations": YES,
        "videos": YES,
        "aplus": YES,
        **PRICED,
    },
    "products.summary": {
        "asin": [KNOWN[:1], [*KNOWN, KNOWN[0]], [KNOWN[0], NOBODY]],
        "offers": [ABSENT, 20, 55],
        "buybox": YES,
        "rating": FLAG,
        "update": [ABSENT, 0, 48, -1],
    },
    "products.compare": {
        "asin": [KNOWN[:1], [*KNOWN, KNOWN[0]], [KNOWN[0], NOBODY], MANY],
        "offers": [ABSENT, 20, 55],
        "buybox": YES,
        "rating": FLAG,
        "update": [ABSENT, 0, 48, -1],
        "sort_by": [ABSENT, "sales_rank"],
    },
    "history.export": {
        "asin": [KNOWN[:1], [*KNOWN, KNOWN[0]], [KNOWN[0], NOBODY]],
        "series": [ABSENT, ["new", "sales_rank"]],
        "max_points": [ABSENT, 20],
        "offers": [ABSENT, 20, 55],
        "buybox": YES,
        "rating": YES,
    },
    "history.trend": {
        "asin": [KNOWN[0], NOBODY],
        "series": [ABSENT, ["new", "sales_rank"]],
        "window_days": [ABSENT, [30, 365]],
        "offers": [ABSENT, 20, 55],
        "buybox": YES,
        "rating": YES,
    },
    "business.profit": {"asin": [KNOWN[0], NOBODY], "cost": ["4", "0"], "domain": ["US", "DE"], "buybox": YES},
    "products.by-code": {"code": [[CODE], [CODE, "4000000000006"]], "code_limit": [ABSENT, 1, 50], **PRICED},
    "products.search": {
        "term": ["kettle", "steel coffee grinder", "qqqqq"],
        "asins_only": YES,
        "stats": [ABSENT, "90"],
        "history": [ABSENT, False],
        "update": [ABSENT, 0, 48],
        "rating": FLAG,
    },
    "categories.get": {
        "category": [[0], [ROOT], CATALOGUE.tree(1).roots[:10], [5, 7]],
        "parents": FLAG,
        "domain": ["US", "DE"],
    },
    "categories.search": {"term": ["kitchen", "qqqqq"], "parents": FLAG, "domain": ["US", "JP"]},
    "categories.products": {
        "category": [str(ROOT), "5"],
        "hydrate_top": [ABSENT, 0, 3],
        "limit": [ABSENT, 5],
        "domain": ["US", "DE"],
    },
    "tokens.status": {},
    "finder.query": {
        "title": [ABSENT, "kettle"],
        "new": [ABSENT, "500..3000"],
        "sales_rank": [ABSENT, "..200000"],
        "per_page": [ABSENT, 50, 100, 101, 1000],
        "page": [ABSENT, 0, 1],
        "stats": FLAG,
        "sort": [ABSENT, ["current_SALES:asc"]],
    },
    "deals.query": {
        "price_type": ["NEW"],
        "date_range": [ABSENT, "week"],
        "page": [ABSENT, 1],
        "delta_percent": [ABSENT, "10..90"],
    },
    "sellers.get": {
        "seller": [SELLERS[:1], SELLERS, [*SELLERS, STRANGER, SELLERS[0]]],
        "storefront": FLAG,
        "domain": ["US", "DE"],
    },
    "sellers.query": {
        "rating": [ABSENT, "80.."],
        "country": [ABSENT, ["CN"]],
        "per_page": [ABSENT, 0, 50, 150],
        "page": [ABSENT, 0, 1],
    },
    "bestsellers.get": {
        "category": [str(ROOT), CATALOGUE.tree(1).nodes[ROOT].name, "5"],
        "range": [ABSENT, 0, 30, 180],
        "variations": YES,
        "sublist": YES,
        "domain": ["US", "DE"],
    },
    "topsellers.list": {"domain": ["US", "DE", "JP"], "limit": [ABSENT, 5]},
    "lightningdeals.list": {"asin": [ABSENT, KNOWN[0], NOBODY], "state": [ABSENT, "AVAILABLE"], "domain": ["US", "DE"]},
    "graphs.image": {
        "asin": [KNOWN[0], KNOWN[1]],
        "range": [ABSENT, 31, 365],
        "width": [ABSENT, 300],
        "salesrank": FLAG,
        "bb": FLAG,
    },
    "tracking.list": {},
    "tracking.list-names": {},
    "tracking.get": {"asin": [KNOWN[0], NOBODY]},
    "tracking.notifications": {"mark_read": FLAG},
    "tracking.add": {"tracking": [[tracking(KNOWN[0])], [tracking(a) for a in KNOWN]], "list_name": [ABSENT, "mine"]},
    "tracking.remove": {"asin": [KNOWN[0], NOBODY]},
    "tracking.remove-all": {"list_name": [ABSENT, "mine"]},
    "tracking.webhook": {"url": ["https://hooks.example/a", "https://hooks.example/b"]},
    "request.get": {
        "endpoint": ["/product"],
        "param": [
            ["domain=1", f"asin={','.join(MANY[:100])}", *extra]
            for extra in ([], ["offers=100"], ["update=0"], ["rating=1", "buybox=1"], ["offers=20", "stock=1"])
        ] + [["domain=1", f"code={CODE}"], ["domain=1", f"code={CODE}", "code-limit=3"]],
    },
    "request.post": {
        "endpoint": ["/query"],
        "body": [{"title": "kettle", "perPage": 50}, {"current_SALES_gte": 1, "perPage": 1000}],
        "param": [["domain=1"]],
    },
}  # fmt: skip
