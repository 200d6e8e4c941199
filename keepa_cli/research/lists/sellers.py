"""Sellers: standing, size, what they sell, whom they meet; no addresses and no other personal data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli.keepa import containers
from keepa_cli.keepa.clock import field_time
from keepa_cli.keepa.dealview import category_id
from keepa_cli.research.facts import Confidence, Reason, Section, derived
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
    number,
    text,
    whole,
)
from keepa_cli.research.needs import Need

VIEW = "seller"
TOP = 10
SPANS = ("30", "90", "365", "lifetime")
"""Days of the slots of the rating arrays."""


def profile(listing: Listing, asked: Sequence[str]) -> dict[str, Any]:
    """The profile of `sellers get`: one row per seller asked, in that order."""
    found = containers.sellers(listing.body, asked)
    table = listing.body.get("sellers")
    raw = table if isinstance(table, Mapping) else {}
    rows = [_row(listing, seller, raw.get(seller), facts) for seller, facts in found.items()]
    shown, known = rows[: listing.most], [row for row in rows if row["status"] == "found"]
    return Profile(
        view=VIEW,
        endpoint="/seller",
        one_line=_one_line(rows, known),
        rows="sellers",
        shown=shown,
        total=len(rows),
        graph=_graph(listing, shown),
        count=len(known),
        facts=Section(not_found=[row["seller_id"] for row in rows if row["status"] != "found"]),
        key_facts=_key_facts(known),
        context=CONTEXT,
        missing=_missing(listing, known),
        signals=_signals(known),
        evidence=[("sellers", at("sellers"))] if "sellers" in listing.body else [],
        asked=_asked(listing, known),
    ).build(listing)


CONTEXT = {
    "rating_percent": "positive ratings in percent, as Amazon shows them",
    "storefront_asin_count": "products that Keepa found in the storefront; listings change daily",
    "shares": "a product can count for several categories, so shares of categories can add up to more than 100",
}


def _row(listing: Listing, seller: str, raw: Any, facts: Mapping[str, Any] | None) -> Section:
    if not isinstance(raw, Mapping) or facts is None:
        return Section(seller_id=seller, status="not_found")
    here = ("sellers", seller)
    row = Section(seller_id=seller, status="found")
    row.put("name", text(facts["name"]), Reason.NOT_COLLECTED)
    row.put("rating_percent", facts["rating_percent"], Reason.NOT_COLLECTED)
    row.put("rating_count", facts["rating_count"], Reason.NOT_COLLECTED)
    row.put("ratings_last_30_days", whole(raw.get("ratingsLast30Days")), Reason.NOT_COLLECTED)
    row.put("feedback", _feedback(raw), Reason.NOT_COLLECTED)
    row.put("has_fba", _flag(facts["has_fba"]), Reason.NOT_COLLECTED)
    row.put("ships_from_china", _flag(raw.get("shipsFromChina")), Reason.NOT_COLLECTED)
    size = whole(facts["storefront_asins"])
    row.put("storefront_asin_count", size, Reason.NOT_COLLECTED)
    _put_assortment(row, raw, size, here)
    _put_competition(row, raw)
    row.put("tracked_since_at", facts["tracked_since"], Reason.NOT_COLLECTED)
    row.put("updated_at", facts["updated_at"], Reason.NOT_COLLECTED)
    _put_storefront(row, listing, raw)
    row["evidence_path"] = at(*here)
    return row


def _put_assortment(row: Section, raw: Mapping[str, Any], size: int | None, here: tuple[str, ...]) -> None:
    """What is sold, by brand and by category, and how much of it is the largest of them."""
    for name, field, key in (
        ("brands", "sellerBrandStatistics", "brand"),
        ("categories", "sellerCategoryStatistics", "catId"),
    ):
        given = raw.get(field)
        items = [_statistic(s, key) for s in given if isinstance(s, Mapping)] if isinstance(given, list) else []
        kept = sorted((i for i in items if i), key=lambda i: -(i["product_count"] or 0))[:TOP]
        row.put(name, kept, Reason.NONE if given == [] else Reason.NOT_COLLECTED)
        if kept:
            row[f"{name}_share"] = _share(kept, size, at(*here, field), "id" if key == "catId" else key)


def _statistic(raw: Mapping[str, Any], key: str) -> Section | None:
    named = category_id(raw.get(key)) if key == "catId" else text(raw.get(key))
    if named is None:
        return None
    item = Section({"id" if key == "catId" else key: named})
    item.put("product_count", whole(raw.get("productCount")), Reason.NOT_COLLECTED)
    item.put("average_rank_30", whole(raw.get("avg30SalesRank")) or None, Reason.NOT_COLLECTED)
    return item.put("with_amazon_offer", whole(raw.get("productCountWithAmazonOffer")), Reason.NOT_COLLECTED)


def _share(items: list[Section], size: int | None, path: str, key: str) -> Section:
    """The share of the largest brand or category in the storefront."""
    first = items[0]
    count = first["product_count"]
    usable = size and count is not None and count <= size
    return derived(
        round(100 * count / size, 2) if usable else None,
        method="products of the largest / products of the storefront * 100",
        inputs={"largest": first[key], "product_count": count, "storefront_asin_count": size},
        confidence=Confidence.MEDIUM,
        evidence_path=path,
        unit="percent",
    )


def _put_competition(row: Section, raw: Mapping[str, Any]) -> None:
    given = raw.get("competitors")
    rivals = [
        {"seller_id": c["sellerId"].upper(), "shared_percent": whole(c.get("percent"))}
        for c in (given if isinstance(given, list) else [])
        if isinstance(c, Mapping) and isinstance(c.get("sellerId"), str) and whole(c.get("percent")) is not None
    ]
    row.put("competitors", rivals[:TOP], Reason.NONE if given == [] else Reason.NOT_COLLECTED)
    row.put("average_buy_box_competitors", number(raw.get("avgBuyBoxCompetitors")), Reason.NOT_COLLECTED)
    owned = whole(raw.get("buyBoxNewOwnershipRate"))
    row.put("buy_box_new_ownership_percent", owned, Reason.NOT_COLLECTED)


def _put_storefront(row: Section, listing: Listing, raw: Mapping[str, Any]) -> None:
    """The ASINs seen last, newest first; only a request with --storefront has them."""
    asins, seen = raw.get("asinList"), raw.get("asinListLastSeen")
    if not isinstance(asins, list):
        row.lack("storefront", Reason.NOT_COLLECTED if listing.params.get("storefront") else Reason.NOT_REQUESTED)
        return
    times = seen if isinstance(seen, list) and len(seen) == len(asins) else [None] * len(asins)
    usable = [(asin, when) for asin, when in zip(asins, times, strict=True) if is_asin(asin)]
    usable.sort(key=lambda pair: -(whole(pair[1]) or 0))
    shown = [Section(asin=a).put("seen_at", field_time(t), Reason.NOT_COLLECTED) for a, t in usable[: listing.most]]
    row["storefront"] = {"count": len(usable), "omitted": len(usable) - len(shown), "asins": shown}


def _feedback(raw: Mapping[str, Any]) -> dict[str, Any] | None:
    """Ratings by span: how many, and how many percent were positive."""
    counts, good = raw.get("ratingCount"), raw.get("positiveRating")
    if not isinstance(counts, list) or len(counts) != len(SPANS):
        return None
    shares = good if isinstance(good, list) and len(good) == len(SPANS) else [None] * len(SPANS)
    return {
        span: Section().put("count", whole(n), Reason.NOT_COLLECTED).put("positive_percent", whole(p) if n else None)
        for span, n, p in zip(SPANS, counts, shares, strict=True)
    }


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _one_line(rows: list[Section], known: list[Section]) -> str:
    if not known:
        return f"None of the {len(rows)} sellers is known to Keepa." if rows else "No seller."
    first = known[0]
    name = first["name"] or first["seller_id"]
    rating = f", {first['rating_percent']} % positive" if first["rating_percent"] is not None else ""
    count = f" of {first['rating_count']:,} ratings" if first["rating_count"] is not None else ""
    size = f", about {first['storefront_asin_count']:,} products" if first["storefront_asin_count"] is not None else ""
    rest = f"; {len(known)} of {len(rows)} sellers found" if len(rows) > 1 else ""
    return f"{name}{rating}{count}{size}{rest}."


def _key_facts(known: list[Section]) -> Section:
    first: Mapping[str, Any] = known[0] if known else {}
    facts = Section()
    for name in ("seller_id", "name", "rating_percent", "rating_count", "storefront_asin_count", "has_fba"):
        facts.put(name, first.get(name), Reason.NOT_COLLECTED if known else Reason.NONE)
    return facts


def _missing(listing: Listing, known: list[Section]) -> list[dict[str, Any]]:
    if not known or listing.params.get("storefront"):
        return []
    return [missing("storefront", Reason.NOT_REQUESTED, "kc sellers get SELLER --storefront, 9 tokens more")]


def _signals(known: list[Section]) -> Section:
    """Sellers that stand out. Few ratings make a share of positive ones mean little."""
    rated = [row for row in known if row["rating_percent"] is not None and row["rating_count"] is not None]
    found = Section(sellers=len(known), with_fba=sum(row["has_fba"] is True for row in known))
    found.put(
        "well_rated_ids", [r["seller_id"] for r in rated if r["rating_percent"] >= 90 and r["rating_count"] >= 50]
    )
    found.put("poorly_rated_ids", [r["seller_id"] for r in rated if r["rating_percent"] < 70])
    return found.put("few_ratings_ids", [r["seller_id"] for r in rated if r["rating_count"] < 50])


def _asked(listing: Listing, known: list[Section]) -> list[Ask]:
    domain = listing.domain.code
    found: list[Ask] = []
    if known and not known[0]["storefront"]:
        params = {"seller": [known[0]["seller_id"]], "domain": domain, "storefront": True}
        found.append((Need.GET_SELLER, params, "Read the ASINs of the storefront: 9 tokens more."))
    asins = [item["asin"] for item in (known[0]["storefront"] or {}).get("asins", [])] if known else []
    found += compare_and_get(asins, domain, "products seen last")
    rivals = [r["seller_id"] for row in known[:1] for r in row["competitors"] or [] if is_seller(r["seller_id"])]
    if rivals:
        found.append((Need.GET_SELLER, {"seller": rivals[:3], "domain": domain}, "Look at the nearest competitors."))
    return found


def _graph(listing: Listing, rows: list[Section]) -> Graph:
    key = listing.key(",".join(sorted(row["seller_id"] for row in rows)))
    graph = Graph(f"{NodeType.SELLER_REQUEST}:{key}")
    root = graph.node(NodeType.SELLER_REQUEST, key, "seller look-up")
    for row in rows:
        node = graph.node(NodeType.SELLER, listing.key(row["seller_id"]), row.get("name"), status=row["status"])
        graph.edge(EdgeType.HAS_CANDIDATE, root, node, evidence_path=row.get("evidence_path"))
        for item in (row.get("storefront") or {}).get("asins", []):
            graph.edge(EdgeType.SELLS_PRODUCT, node, listing.product(graph, item["asin"]))
    return graph
