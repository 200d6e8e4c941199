"""Every view function of products and of lists over one answer, without a command in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.keepa.domains import DOMAINS, Domain
from keepa_cli.ops._actions import planner
from keepa_cli.ops._history_export import exported
from keepa_cli.ops._history_trend import trended
from keepa_cli.ops._research_brief import replanned
from keepa_cli.research.brief import build as briefs
from keepa_cli.research.brief.documents import Document
from keepa_cli.research.business import analyses
from keepa_cli.research.business.profit import profit_view
from keepa_cli.research.business.record import Source
from keepa_cli.research.business.report import Wish
from keepa_cli.research.business.sources import merged, records
from keepa_cli.research.compare import compare
from keepa_cli.research.figures import sets
from keepa_cli.research.figures.material import Material
from keepa_cli.research.figures.model import Figure
from keepa_cli.research.figures.render import themed
from keepa_cli.research.graph.inputs import sources_of
from keepa_cli.research.graph.merge import merge_graphs
from keepa_cli.research.lists import categories, deals, finder, rankings, sellers
from keepa_cli.research.lists.profile import Listing
from keepa_cli.research.product.profiles import PROFILES, SECTIONS
from keepa_cli.research.product.view import products_view
from keepa_cli.research.subject import subjects

CONTEXT = Context(env={})
PLAN = planner(CONTEXT)
ASIN = "B0D8W1YVBX"
SHA = "0" * 64
SOURCE = Source("answer.json", "file", SHA)
SHOWN = ("velocity", "seller_metrics", "inventory", "cashflow")
ANALYSES = {
    "find-fast-movers": (analyses.find_fast_movers, "velocity"),
    "inventory-audit": (analyses.inventory_audit, "stock_out"),
    "market-opportunity": (analyses.market_opportunity, "score"),
    "velocity": (analyses.velocity, "velocity"),
    "inventory": (analyses.inventory, "stock_out"),
    "seller-metrics": (analyses.seller_metrics, "offers"),
}
Shown = tuple[dict[str, Any], bool]
"""A view, and whether its evidence leads into the raw body itself."""


def product_views(body: Any, domain: int = 1, profiles: Sequence[str] = tuple(PROFILES)) -> Iterator[Shown]:
    """All profiles, and every section whole."""
    place = DOMAINS[domain]
    for profile in profiles:
        yield _wrapped(profile, list(products_view(body, place, {}, PLAN, profile))), True
    whole = list(products_view(body, place, {}, PLAN, "research", fields=SECTIONS, history_limit=3, windows=(14, 90)))
    yield _wrapped("research", whole), True


def _wrapped(profile: str, products: list[Any]) -> dict[str, Any]:
    return {"view": "product", "profile": str(profile), "count": len(products), "products": products}


def other_views(body: Any, domain: int = 1) -> Iterator[Shown]:
    """Comparison, histories, business figures, graph and brief of products."""
    place = DOMAINS[domain]
    yield compare(subjects(body, place, {}), PLAN, [ASIN, "B0ZZZZZZZZ"]), True
    yield _plain(exported(CONTEXT, PLAN, body, {"asin": [ASIN], "domain": place.code, "max_points": 20})), True
    trend = {"asin": ASIN, "domain": place.code, "window_days": [30, 365]}
    yield _plain(trended(PLAN, body, trend)), True
    yield profit_view(body, {"domain": place.code, "cost": "4", "ads_rate": "7.5"}), True
    yield from ((found, False) for found in business_views(body, place))
    yield from ((found, False) for found in texts(body, place))


def business_views(body: Any, place: Domain) -> Iterator[dict[str, Any]]:
    kept, dropped = merged([records(body, place, SOURCE)])
    given = [{"name": SOURCE.name, "source": SOURCE.kind, "sha256": SHA, "products": len(kept)}]
    for name, (analyse, sort) in ANALYSES.items():
        wish = Wish(name, SHOWN, sort)
        more = ((30, 90),) if name == "seller-metrics" else ()
        yield analyse(kept, dropped, given, wish, PLAN, *more)  # type: ignore[operator]


def texts(body: Any, place: Domain) -> Iterator[dict[str, Any]]:
    """The graph of the answer merged with itself, and the brief of it: without what the operations add."""
    graphs = sources_of("a.json", body, place) + sources_of("b.json", body, place)
    told = {"data_quality": {"level": "complete", "conflicts": 0, "unreadable": 0, "notes": []}, "inputs": [],
            "evidence_index": [], "next_actions": []}  # fmt: skip
    yield merge_graphs(graphs, "research") | told
    made, _ = briefs.build([Document("a.json", body, SHA)], "Odd", place, PLAN, lambda e: replanned(CONTEXT, e))
    yield made | {"next_actions": []}


def specifications(body: Any, domain: int = 1) -> int:
    """Every figure as a specification, in both themes, without drawing it; how many there are."""
    material = Material(PLAN, DOMAINS[domain], frozenset())
    material.add("answer.json", body)
    material.finish()
    made = [f for f in sets.figures(material, "all") if isinstance(f, Figure)]
    for figure in made:
        for theme in ("light", "dark"):
            themed(figure, theme)  # type: ignore[arg-type]
    return len(made)


def list_views(body: Any, domain: int = 1) -> Iterator[Shown]:
    """The profile of every kind of list over one answer, whatever kind of answer it is."""
    place = DOMAINS[domain]
    for term in (None, "kettle"):
        listing = Listing(body, place, {"domain": place.code, "term": term, "category": "1"}, PLAN, 7)
        yield categories.profile(listing), True
    yield finder.profile(listing, {"title": "x"}), True
    known = body.get("sellers")
    asked = ["A2L77EE7U53NWQ", *(list(known)[:3] if isinstance(known, dict) else ())]
    yield sellers.profile(listing, asked), True
    yield deals.profile(listing, 1, "week"), True
    yield rankings.bestsellers(listing, 9), True
    yield rankings.bestsellers(listing, 9, rankings.CATEGORY_PRODUCTS), True
    yield rankings.topsellers(listing, 9), True


def _plain(view: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in view.items() if name != "warnings"}
