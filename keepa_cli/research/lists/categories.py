"""Categories of a search or look-up, as candidates for research."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.dealview import category_id
from keepa_cli.keepa.money import tenths
from keepa_cli.research.facts import Confidence, Reason, Section, derived
from keepa_cli.research.graph.model import EdgeType, Graph, NodeType
from keepa_cli.research.lists.profile import (
    Ask,
    Listing,
    Profile,
    at,
    missing,
    number,
    price,
    text,
    whole,
)
from keepa_cli.research.needs import Need

SEARCH_VIEW, GET_VIEW = "category_search", "categories"
DEEPEST = 40
"""Steps up a tree: Amazon's trees are far flatter, so more than this is a circle."""


def profile(listing: Listing) -> dict[str, Any]:
    """The profile of `categories search` (with a `term`) or of `categories get`."""
    term = text(listing.params.get("term"))
    found = [(key, raw) for key, raw in _mapping(listing.body.get("categories")).items()]
    usable = [(key, raw) for key, raw in found if _id(raw) is not None and text(raw.get("name"))]
    rows = [_row(listing, key, raw, term) for key, raw in usable]
    if term:
        rows.sort(key=lambda row: (-row["match"]["value"], -(row["product_count"] or 0), row["id"]))
    shown = rows[: listing.most]
    view = SEARCH_VIEW if term else GET_VIEW
    return Profile(
        view=view,
        endpoint="/search" if term else "/category",
        one_line=_one_line(term, rows),
        rows="category_candidates" if term else "categories",
        shown=shown,
        total=len(rows),
        graph=_graph(listing, term, shown),
        facts=Section({"term": term}) if term else Section(),
        key_facts=_key_facts(shown),
        context=CONTEXT,
        missing=_missing(shown),
        signals=_signals(rows, term),
        unreadable=len(found) - len(usable),
        evidence=_evidence(listing, shown),
        asked=_asked(listing, term, rows),
    ).build(listing)


CONTEXT = {
    "product_count": "Keepa's estimate of the products in the category.",
    "ranks": "best_rank and worst_rank are the ends of the sales ranks seen in the category; 1 is the best seller.",
    "next": "A category is researched through its best sellers (50 tokens) or a finder selection (from 11 tokens).",
}


def _row(listing: Listing, key: str, raw: Mapping[str, Any], term: str | None) -> dict[str, Any]:
    domain, here = listing.domain, ("categories", key)
    rating = raw.get("avgRating")
    row = Section(id=raw["catId"], name=raw["name"])
    row |= _place(listing, raw)
    if term:
        row["match"] = match(term, raw["name"], at(*here, "name"))
    row.put("product_count", whole(raw.get("productCount")), Reason.NOT_COLLECTED)
    row.put("best_rank", whole(raw.get("lowestRank")), Reason.NOT_COLLECTED)
    row.put("worst_rank", whole(raw.get("highestRank")), Reason.NOT_COLLECTED)
    row.put("average_buy_box", price(raw.get("avgBuyBox"), domain, at(*here, "avgBuyBox")), Reason.NOT_COLLECTED)
    row.put("average_rating", tenths(rating) if rating else None, Reason.NOT_COLLECTED)
    row.put("average_review_count", whole(raw.get("avgReviewCount")), Reason.NOT_COLLECTED)
    row.put("seller_count", whole(raw.get("sellerCount")), Reason.NOT_COLLECTED)
    row.put("brand_count", whole(raw.get("brandCount")), Reason.NOT_COLLECTED)
    row.put("fba_percent", number(raw.get("isFBAPercent")), Reason.NOT_COLLECTED)
    row.put("sold_by_amazon_percent", number(raw.get("soldByAmazonPercent")), Reason.NOT_COLLECTED)
    children = raw.get("children")
    row["child_count"] = len(children) if isinstance(children, list) else 0
    row["is_root"] = category_id(raw.get("parent")) is None
    return row | {"evidence_path": at(*here)}


def _place(listing: Listing, raw: Mapping[str, Any]) -> Section:
    """The path from the root. Without `parents` in the request only a root's own path is known."""
    known = _mapping(listing.body.get("categories")) | _mapping(listing.body.get("categoryParents"))
    path: list[dict[str, Any]] = []
    here: Any = raw
    while _id(here) is not None and len(path) < DEEPEST:
        path.insert(0, {"id": here["catId"], "name": str(here.get("name"))})
        up = category_id(here.get("parent"))
        if up is None:
            return Section(path=path)
        here = known.get(str(up))
    asked = bool(listing.params.get("parents"))
    return Section().lack("path", Reason.NOT_COLLECTED if asked else Reason.NOT_REQUESTED)


def match(term: str, name: str, path: str) -> Section:
    """How well the name of a category answers the term, from 0 to 1: the share of the words of both that they have
    in common; 1 where they are the same words."""
    wanted, had = _words(term), _words(name)
    value = round(len(wanted & had) / len(wanted | had), 2) if wanted | had else None
    kind = "exact" if wanted == had else "all_words" if wanted <= had else "some_words" if wanted & had else "no_word"
    return derived(
        value or 0.0,
        method="words in common / words of term and name",
        inputs={"term": term},
        confidence=Confidence.MEDIUM,
        evidence_path=path,
        kind=kind,
    )


def _words(phrase: str) -> set[str]:
    return set(re.findall(r"\w+", phrase.casefold()))


def _one_line(term: str | None, rows: list[dict[str, Any]]) -> str:
    about = f" for {term!r}" if term else ""
    if not rows:
        return f"No category{about}."
    best = rows[0]
    size = f", about {best['product_count']:,} products" if best["product_count"] else ""
    lead = "best match" if term else "the first"
    found = "1 category" if len(rows) == 1 else f"{len(rows)} categories"
    return f"{found}{about}; {lead}: {best['name']} ({best['id']}){size}."


def _key_facts(rows: list[dict[str, Any]]) -> Section:
    best = rows[0] if rows else {}
    facts = Section().put("best_id", best.get("id")).put("best_name", best.get("name"))
    return facts.put("best_product_count", best.get("product_count"), Reason.NOT_COLLECTED if rows else Reason.NONE)


def _missing(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    if any(row["path"] is None for row in rows):
        found.append(missing("path", Reason.NOT_REQUESTED, "ask again with --parents"))
    return found


def _signals(rows: list[dict[str, Any]], term: str | None) -> Section:
    signals = Section(candidates=len(rows), roots=sum(row["is_root"] for row in rows))
    sized = [row for row in rows if row["product_count"]]
    largest = max(sized, key=lambda row: row["product_count"], default=None)
    signals.put("largest_id", largest["id"] if largest else None)
    if term:
        exact = [row["id"] for row in rows if row["match"]["kind"] == "exact"]
        signals.put("exact_match_ids", exact)
        signals["ambiguous"] = len(rows) > 1 and len(exact) != 1
    return signals


def _evidence(listing: Listing, rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    found = [("categories", at("categories"))] if "categories" in listing.body else []
    if "categoryParents" in listing.body:
        found.append(("parents", at("categoryParents")))
    return found + [(f"category {row['id']}", row["evidence_path"]) for row in rows[:3]]


def _asked(listing: Listing, term: str | None, rows: list[dict[str, Any]]) -> list[Ask]:
    domain = listing.domain.code
    if not rows:
        return _wider(term, domain)
    best = rows[0]
    draft = {"category": best["id"], "domain": domain, "root": True}
    if not best["is_root"]:
        del draft["root"]
    name = best["name"][:60]
    return [
        (Need.DRAFT_FINDER_SELECTION, draft, f"Draft a finder selection for {name}: local, no tokens."),
        (
            Need.LIST_CATEGORY_PRODUCTS,
            {"category": str(best["id"]), "domain": domain},
            f"List the best sellers of {name}.",
        ),
    ]


def _wider(term: str | None, domain: str) -> list[Ask]:
    words = [w for w in (term or "").split() if len(w) > 2]
    found: list[Ask] = []
    if len(words) > 1:
        longest = max(words, key=len)
        found.append((Need.SEARCH_CATEGORIES, {"term": longest, "domain": domain}, "Search with one word only."))
    if words:
        params = {"term": " ".join(words), "domain": domain, "asins_only": True}
        found.append((Need.SEARCH_PRODUCTS, params, "Search products instead: they tell their categories."))
    return found


def _graph(listing: Listing, term: str | None, rows: list[dict[str, Any]]) -> Graph:
    key = listing.key(term or "categories")
    graph = Graph(f"{NodeType.SEARCH_TERM}:{key}")
    root = graph.node(NodeType.SEARCH_TERM, key, term or "category look-up")
    for row in rows:
        node = graph.node(
            NodeType.CATEGORY, listing.key(row["id"]), row["name"], product_count=row["product_count"],
            evidence_path=row["evidence_path"],
        )  # fmt: skip
        graph.edge(EdgeType.MATCHED_CATEGORY, root, node)
        parent = None
        for step in row["path"] or []:
            here = graph.node(NodeType.CATEGORY, listing.key(step["id"]), step["name"])
            if parent:
                graph.edge(EdgeType.PARENT_OF, parent, here)
            parent = here
    return graph


def _id(raw: Any) -> int | None:
    number = raw.get("catId") if isinstance(raw, Mapping) else None
    return category_id(number) if type(number) is int else None


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
