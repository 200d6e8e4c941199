"""What a finder selection returned: ASINs in the order of the sort, and how many more there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.finder import results_of
from keepa_cli.keepa.money import tenths
from keepa_cli.keepa.selection import MAX_RESULTS
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.graph.model import EdgeType, Graph, NodeType
from keepa_cli.research.lists.profile import (
    Ask,
    Listing,
    Profile,
    at,
    compare_and_get,
    is_asin,
    missing,
    number,
    price,
    whole,
)
from keepa_cli.research.needs import Need

VIEW = "finder_query"
DEFAULT_SORT = [["current_SALES", "asc"]]
CONTEXT = {
    "order": "position counts from the first page, in the order of `sort`; pages are not cached, so they can shift.",
    "total_results": "Keepa's estimate; at most 10000 of them can be paged through.",
    "next": "The finder returns ids only: prices, ranks and reviews come with products compare or products get.",
}
MISSING = ("price", "sales_rank", "title")


def profile(listing: Listing, selection: Mapping[str, Any]) -> dict[str, Any]:
    """The profile of `finder query`; `selection` is the one that was sent."""
    listed = listing.body.get("asinList")
    given = listed if isinstance(listed, list) else []
    page, per_page = whole(selection.get("page")) or 0, results_of(selection)
    rows = [
        {"position": page * per_page + i + 1, "asin": asin, "evidence_path": at("asinList", i)}
        for i, asin in enumerate(given)
        if is_asin(asin)
    ]
    shown, total = rows[: listing.most], whole(listing.body.get("totalResults"))
    facts = Section(selection=dict(selection), sort=selection.get("sort") or DEFAULT_SORT, page=page, per_page=per_page)
    facts.put("total_results", total, Reason.UNREADABLE if "totalResults" in listing.body else Reason.NOT_COLLECTED)
    facts["more"] = bool(rows) and total is not None and page * per_page + len(given) < min(total, MAX_RESULTS)
    _insights(listing, facts)
    return Profile(
        view=VIEW,
        endpoint="/query",
        one_line=_one_line(rows, total, page),
        rows="candidates",
        shown=shown,
        total=len(rows),
        graph=_graph(listing, selection, shown),
        facts=facts,
        key_facts=_key_facts(rows, facts),
        context=CONTEXT,
        missing=[missing(name, Reason.NOT_REQUESTED, "kc products compare") for name in MISSING] if rows else [],
        signals=_signals(facts, len(rows)),
        unreadable=len(given) - len(rows),
        evidence=[(n, at(n)) for n in ("asinList", "totalResults", "searchInsights") if n in listing.body],
        asked=_asked(listing, facts, [row["asin"] for row in rows]),
    ).build(listing)


def _one_line(rows: list[dict[str, Any]], total: int | None, page: int) -> str:
    if not rows:
        return "No product fits the selection."
    of = f" of about {total:,}" if total is not None else ""
    return f"{len(rows)} ASINs{of} fit the selection (page {page}); the first is {rows[0]['asin']}."


def _key_facts(rows: list[dict[str, Any]], facts: Section) -> Section:
    found = Section().put("first_asin", rows[0]["asin"] if rows else None)
    found.put("total_results", facts["total_results"], Reason.NOT_COLLECTED)
    found["more"] = facts["more"]
    return found


def _signals(facts: Section, rows: int) -> Section:
    """How wide the selection is: too narrow to compare, or wider than can be paged through."""
    total = facts["total_results"]
    width = "empty" if not rows else "wide" if total and total > MAX_RESULTS else "narrow" if rows < 5 else "workable"
    return Section(width=width, complete=not facts["more"])


def _insights(listing: Listing, facts: Section) -> None:
    """The search insights, where they were asked for (`--stats`)."""
    raw = listing.body.get("searchInsights")
    if not isinstance(raw, Mapping):
        reason = Reason.NOT_COLLECTED if listing.params.get("stats") else Reason.NOT_REQUESTED
        facts.lack("insights", reason)
        return
    found, domain = Section(evidence_path=at("searchInsights")), listing.domain
    for name, field in (("average_buy_box", "avgBuyBox"), ("average_buy_box_90", "avgBuyBox90")):
        found.put(name, price(raw.get(field), domain, at("searchInsights", field)), Reason.NOT_COLLECTED)
    rating = raw.get("avgRating")
    found.put("average_rating", tenths(rating) if rating else None, Reason.NOT_COLLECTED)
    for name, field in COUNTS.items():
        found.put(name, whole(raw.get(field)), Reason.NOT_COLLECTED)
    for name, field in SHARES.items():
        found.put(name, number(raw.get(field)), Reason.NOT_COLLECTED)
    for name, field in TOPS.items():
        found.put(name, _top(raw.get(field)), Reason.NOT_COLLECTED)
    facts["insights"] = found


COUNTS = {
    "average_review_count": "avgReviewCount", "seller_count": "sellerCount", "brand_count": "brandCount",
    "best_rank": "lowestRank", "worst_rank": "highestRank",
}  # fmt: skip
SHARES = {
    "fba_percent": "isFBAPercent", "sold_by_amazon_percent": "soldByAmazonPercent",
    "coupon_percent": "hasCouponPercent", "average_new_offer_count": "avgOfferCountNew",
}  # fmt: skip
TOPS = {"top_brands": "topBrandsWithCounts", "top_sellers": "topSellersWithCounts"}


def _top(counts: Any) -> list[dict[str, Any]]:
    """Names with their counts, most first: Keepa's order is not relied upon."""
    pairs = counts.items() if isinstance(counts, Mapping) else ()
    known = [(str(name), n) for name, value in pairs if (n := whole(value)) is not None]
    return [{"name": name, "count": n} for name, n in sorted(known, key=lambda p: (-p[1], p[0]))]


def _asked(listing: Listing, facts: Section, asins: list[str]) -> list[Ask]:
    domain, selection = listing.domain.code, facts["selection"]
    found = compare_and_get(asins, domain, "candidates")
    if facts["more"]:
        turned = selection | {"page": facts["page"] + 1}
        found.append((Need.QUERY_FINDER, {"selection": turned, "domain": domain}, "Read the next page."))
    return found


def selection_key(listing: Listing, selection: Mapping[str, Any]) -> str:
    """The key of a selection's node: the same for the same fields in any order."""
    import hashlib
    import json

    packed = json.dumps(selection, sort_keys=True, default=str).encode("utf-8", "replace")
    return listing.key(hashlib.sha256(packed).hexdigest()[:16])


def _graph(listing: Listing, selection: Mapping[str, Any], rows: list[dict[str, Any]]) -> Graph:
    key = selection_key(listing, selection)
    graph = Graph(f"{NodeType.SELECTION}:{key}")
    root = graph.node(NodeType.SELECTION, key, "finder selection")
    for name in ("rootCategory", "categories_include"):
        values = selection.get(name)
        for value in values if isinstance(values, list) else [values] if values is not None else []:
            graph.edge(EdgeType.FILTERS_CATEGORY, root, graph.node(NodeType.CATEGORY, listing.key(value)))
    for row in rows:
        node = listing.product(graph, row["asin"])
        graph.edge(EdgeType.RETURNS_PRODUCT, root, node, position=row["position"], evidence_path=row["evidence_path"])
    return graph
