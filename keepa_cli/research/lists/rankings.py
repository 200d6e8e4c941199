"""Ranked lists: best sellers, the products of a category, the sellers with the most ratings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.clock import field_time
from keepa_cli.keepa.dealview import category_id
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.graph.model import EdgeType, Graph, NodeType
from keepa_cli.research.lists.profile import (
    Ask,
    Listing,
    Profile,
    at,
    compare_and_get,
    is_asin,
    is_seller,
    missing,
)
from keepa_cli.research.needs import Need

BESTSELLERS, CATEGORY_PRODUCTS, TOPSELLERS = "bestsellers", "category_products", "topsellers"
NOT_TOLD = ("price", "sales_rank", "monthly_sold", "title")
LIST = "bestSellersList"


def bestsellers(listing: Listing, total: int, view: str = BESTSELLERS) -> dict[str, Any]:
    """The profile of a best seller list of `total` ASINs; the body may hold fewer where a limit cut it."""
    nested = listing.body.get(LIST)
    table, steps = (nested, (LIST,)) if isinstance(nested, Mapping) and nested else (listing.body, ())
    listed = table.get("asinList")
    given = listed if isinstance(listed, list) else []
    rows = [
        {"rank": i + 1, "asin": asin, "evidence_path": at(*steps, "asinList", i)}
        for i, asin in enumerate(given[: listing.most])
        if is_asin(asin)
    ]
    facts = Section(category=str(listing.params.get("category")))
    facts.put("category_id", category_id(table.get("categoryId")), Reason.NOT_COLLECTED)
    facts.put("last_update", field_time(table.get("lastUpdate")), Reason.NOT_COLLECTED)
    facts["ranked_by"] = _ranked_by(listing.params)
    if view == CATEGORY_PRODUCTS:
        rows = [row | {"source_category": facts["category_id"] or facts["category"]} for row in rows]
    return Profile(
        view=view,
        endpoint="/bestsellers",
        one_line=_one_line(listing, rows, total, facts["last_update"]),
        rows="candidates",
        shown=rows,
        total=total,
        graph=_category_graph(listing, facts, rows),
        facts=facts,
        key_facts=Section(list_size=total).put("first_asin", rows[0]["asin"] if rows else None),
        context=CONTEXT,
        missing=[missing(name, Reason.NOT_REQUESTED, "kc products compare") for name in NOT_TOLD] if rows else [],
        signals=_signals(total, [row["asin"] for row in rows]),
        unreadable=len(given[: listing.most]) - len(rows),
        evidence=[(name, at(*steps, name)) for name in ("asinList", "lastUpdate", "categoryId") if name in table],
        asked=_next(listing, facts, [row["asin"] for row in rows]),
    ).build(listing)


CONTEXT = {
    "rank": "the place in this list; it is no sales rank and says nothing about how many are sold",
    "cost": "a limit shortens what is shown; Keepa sends and charges the whole list (50 tokens)",
    "next": "ids only: prices, ranks and reviews come with products compare",
}


def _ranked_by(params: Mapping[str, Any]) -> str:
    if params.get("year"):
        return f"sales rank in {params['year']}-{params['month']:02d}"
    if params.get("sublist"):
        return "current rank within the category itself"
    days = params.get("range")
    return f"average sales rank of {days} days" if days else "current sales rank"


def _one_line(listing: Listing, rows: list[dict[str, Any]], total: int, updated: str | None) -> str:
    category = listing.params.get("category")
    if not total:
        return f"Keepa has no best seller list of {category}."
    first = f"; the first is {rows[0]['asin']}" if rows else ""
    of = f", as of {updated}" if updated else ""
    return f"{total:,} best sellers of {category} ({_ranked_by(listing.params)}){of}{first}."


def _signals(total: int, asins: list[str]) -> Section:
    found = Section(list_size=total, size="empty" if not total else "short" if total < 100 else "long")
    return found.put("top_asins", asins[:5])


def _next(listing: Listing, facts: Section, asins: list[str]) -> list[Ask]:
    domain, category = listing.domain.code, facts["category_id"]
    found = compare_and_get(asins, domain, "best sellers")
    if category is not None:
        params = {"category": category, "domain": domain}
        found.append((Need.DRAFT_FINDER_SELECTION, params, "Narrow the category by price, rank or reviews: no tokens."))
    return found


def _category_graph(listing: Listing, facts: Section, rows: list[dict[str, Any]]) -> Graph:
    key = listing.key(facts["category_id"] or facts["category"])
    graph = Graph(f"{NodeType.CATEGORY}:{key}")
    root = graph.node(NodeType.CATEGORY, key, facts["category"])
    for row in rows:
        product = listing.product(graph, row["asin"])
        graph.edge(EdgeType.HAS_CANDIDATE, root, product, rank=row["rank"], evidence_path=row["evidence_path"])
    return graph


def topsellers(listing: Listing, total: int) -> dict[str, Any]:
    """The profile of the sellers with the most ratings; the body may hold fewer than `total` of them."""
    listed = listing.body.get("sellerIdList")
    given = (listed if isinstance(listed, list) else [])[: listing.most]
    rows = [
        {"rank": i + 1, "seller_id": seller, "evidence_path": at("sellerIdList", i)}
        for i, seller in enumerate(given)
        if is_seller(seller)
    ]
    ids, code = [row["seller_id"] for row in rows], listing.domain.code
    graph = Graph(f"{NodeType.SELLER_RANKING}:{listing.key('ratings')}")
    root = graph.node(NodeType.SELLER_RANKING, listing.key("ratings"), f"most rated sellers ({code})")
    for row in rows:
        node = graph.node(NodeType.SELLER, listing.key(row["seller_id"]))
        graph.edge(EdgeType.HAS_CANDIDATE, root, node, rank=row["rank"], evidence_path=row["evidence_path"])
    first = f"; the first is {ids[0]}" if ids else ""
    reason = "Read rating, size and brands of the first sellers, 1 token each."
    return Profile(
        view=TOPSELLERS,
        endpoint="/topseller",
        one_line=f"{total:,} sellers by number of ratings ({code}){first}." if total else f"No sellers ({code}).",
        rows="sellers",
        shown=rows,
        total=total,
        graph=graph,
        facts=Section(ranked_by="number of ratings"),
        key_facts=Section(list_size=total).put("first_seller_id", ids[0] if ids else None),
        context={"freshness": "made anew every day", "next": "ids only: kc sellers get tells more about them"},
        missing=[missing("name", Reason.NOT_REQUESTED, "kc sellers get")] if rows else [],
        signals=Section(list_size=total).put("top_seller_ids", ids[:5]),
        unreadable=len(given) - len(rows),
        evidence=[("sellerIdList", at("sellerIdList"))] if "sellerIdList" in listing.body else [],
        asked=[(Need.GET_SELLER, {"seller": ids[:5], "domain": code}, reason)] if ids else [],
    ).build(listing)
