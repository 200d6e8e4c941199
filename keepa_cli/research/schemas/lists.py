"""Schemas of the profiles that lists have in common, and of each kind of list."""

from __future__ import annotations

from keepa_cli.core.errors import Kind
from keepa_cli.keepa.csvtypes import BY_NAME, CSV_TYPES
from keepa_cli.keepa.deals import DATE_RANGES
from keepa_cli.keepa.dealview import CONDITIONS
from keepa_cli.research.facts import Reason
from keepa_cli.research.lists import categories, deals, finder, rankings, scaffold, sellers
from keepa_cli.research.names import name_of
from keepa_cli.research.needs import Need
from keepa_cli.research.schemas.build import (
    ANY,
    COUNT,
    CURRENCY,
    FLAG,
    NUMBER,
    OPEN,
    PATH,
    TEXT,
    TIME,
    WHOLE,
    Schema,
    closed,
    const,
    either,
    listed,
    maybe,
    one_of,
    ref,
)
from keepa_cli.research.schemas.shared import ACTIONS, GRAPH, MONEY, OUTPUT, PRICE, derived

IDS, NAMES = listed(WHOLE), listed(TEXT)
LEVEL = one_of(("empty", "partial", "complete"))
SIZES = one_of(("empty", "short", "long"))
FIELD_NOTES = listed(closed({"field": TEXT, "value": ANY, "meaning": TEXT}))
SCALED = closed({"raw": WHOLE, "value": {"type": ["integer", "string"]}})
"""A value that is no amount: a rank, a count, a rating."""


def brief(key_facts: dict[str, Schema], context: object) -> Schema:
    """`agent_brief` of a list."""
    gap = closed({"field": TEXT, "reason": one_of(Reason), "how_to_get": TEXT})
    said = {str(name): TEXT for name in context} if isinstance(context, dict | tuple) else {}
    return closed(
        {
            "read_order": NAMES, "one_line": TEXT, "key_facts": closed(key_facts),
            "decision_context": closed(said), "missing_data": listed(gap),
            "recommended_next_actions": listed(one_of(Need)),
        }
    )  # fmt: skip


def profile(
    view: str,
    rows: str,
    row: Schema,
    *,
    facts: dict[str, Schema],
    key_facts: dict[str, Schema],
    context: object,
    signals: Schema,
    more: dict[str, Schema] | None = None,
) -> Schema:
    """`data` of a list: the profile; beside it, where asked for, what the operation shows of the answer itself."""
    quality = closed({"level": LEVEL, "rows": COUNT, "unreadable_rows": COUNT, "notes": NAMES})
    provenance = closed({"endpoint": TEXT, "domain": TEXT, "params": OPEN, "answered_at": maybe(TIME)})
    needed = {
        "view": const(view), "agent_brief": brief(key_facts, context), "domain": TEXT, **facts, "count": COUNT,
        "shown": COUNT, "omitted": COUNT, rows: listed(row), "data_quality": quality, "selection_signals": signals,
        "next_actions": ACTIONS, "evidence_index": listed(closed({"fact": TEXT, "evidence_path": PATH})),
        "research_graph": GRAPH, "provenance": provenance,
    }  # fmt: skip
    return closed(needed, {"body": OPEN, "output": OPEN, **(more or {})})


def category_list(view: str) -> Schema:
    """`data` of categories search and of categories get."""
    search = view == categories.SEARCH_VIEW
    node = closed({"id": WHOLE, "name": TEXT})
    counts = dict.fromkeys(
        ("product_count", "best_rank", "worst_rank", "average_review_count", "seller_count", "brand_count"),
        maybe(COUNT),
    )
    row = closed(
        {
            "id": WHOLE, "name": TEXT, "path": maybe(listed(node)), **counts, "average_buy_box": maybe(PRICE),
            "average_rating": maybe(TEXT), "fba_percent": maybe(NUMBER), "sold_by_amazon_percent": maybe(NUMBER),
            "child_count": COUNT, "is_root": FLAG, "evidence_path": PATH,
        }
        | ({"match": derived(NUMBER, kind=TEXT)} if search else {})
    )  # fmt: skip
    signals = {"candidates": COUNT, "roots": COUNT, "largest_id": maybe(WHOLE)}
    if search:
        signals |= {"exact_match_ids": maybe(IDS), "ambiguous": FLAG}
    return profile(
        view,
        "category_candidates" if search else "categories",
        row,
        facts={"term": TEXT} if search else {},
        key_facts={"best_id": maybe(WHOLE), "best_name": maybe(TEXT), "best_product_count": maybe(COUNT)},
        context=categories.CONTEXT,
        signals=closed(signals),
        more={"items": ref("items")},
    )


def bestseller_list(view: str) -> Schema:
    """`data` of bestsellers get and of categories products."""
    products = view == rankings.CATEGORY_PRODUCTS
    row = {"rank": COUNT, "asin": TEXT, "evidence_path": PATH}
    more = {"hydrated": hydrated()} if products else {}
    return profile(
        view,
        "candidates",
        closed(row | ({"source_category": {"type": ["integer", "string"]}} if products else {})),
        facts={"category": TEXT, "category_id": maybe(WHOLE), "last_update": maybe(TIME), "ranked_by": TEXT},
        key_facts={"list_size": COUNT, "first_asin": maybe(TEXT)},
        context=rankings.CONTEXT,
        signals=closed({"list_size": COUNT, "size": SIZES, "top_asins": maybe(NAMES)}),
        more={"items": listed(OPEN), "total": COUNT, "limit": COUNT, **more},
    )


def hydrated() -> Schema:
    """The first candidates looked up, or why that failed."""
    source = closed({name: {"type": ["string", "null"]} for name in ("mode", "source", "fingerprint")})
    found = {
        "asins": NAMES, "products": listed(ref("product")), "tokens_charged": {"type": ["integer", "null"]},
        "provenance": source,
    }  # fmt: skip
    failed = {
        "asins": NAMES, "error": closed({"kind": one_of(Kind), "message": TEXT}),
        "command": {"type": ["string", "null"]},
    }  # fmt: skip
    return either(closed_as_is(found), closed_as_is(failed))


def closed_as_is(members: dict[str, Schema]) -> Schema:
    """An object outside of the facts of Keepa: what happened in a call is null without a reason."""
    return {"type": "object", "required": list(members), "properties": members, "additionalProperties": False}


def finder_list() -> Schema:
    """`data` of finder query."""
    counts = dict.fromkeys(finder.COUNTS, maybe(COUNT))
    shares = dict.fromkeys(finder.SHARES, maybe(NUMBER))
    tops = dict.fromkeys(finder.TOPS, maybe(listed(closed({"name": TEXT, "count": COUNT}))))
    prices = {"average_buy_box": maybe(PRICE), "average_buy_box_90": maybe(PRICE), "average_rating": maybe(TEXT)}
    insights = closed({"evidence_path": PATH, **prices, **counts, **shares, **tops})
    return profile(
        finder.VIEW,
        "candidates",
        closed({"position": COUNT, "asin": TEXT, "evidence_path": PATH}),
        facts={
            "selection": OPEN, "sort": listed(ANY), "page": COUNT, "per_page": COUNT, "total_results": maybe(COUNT),
            "more": FLAG, "insights": maybe(insights),
        },
        key_facts={"first_asin": maybe(TEXT), "total_results": maybe(COUNT), "more": FLAG},
        context=finder.CONTEXT,
        signals=closed({"width": one_of(("empty", "wide", "narrow", "workable")), "complete": FLAG}),
        more={"items": listed(OPEN)},
    )  # fmt: skip


def deal_list() -> Schema:
    """`data` of deals query."""
    shown = either(MONEY, SCALED)
    beside = {name_of(BY_NAME[name]): maybe(shown) for name in deals.BESIDE}
    flags = ("fell", "rose", "unchanged", "unknown")
    row = closed(
        {
            "position": COUNT, "asin": TEXT, "title": maybe(TEXT), "current": maybe(shown), "average": maybe(shown),
            "delta": maybe(shown), "delta_percent": maybe(NUMBER), "direction": one_of(flags),
            "delta_last": maybe(shown), "since_at": maybe(TIME), "created_at": maybe(TIME),
            "updated_at": maybe(TIME), "lightning_ends_at": maybe(TIME), "root_category": maybe(WHOLE),
            "warehouse_condition": maybe(one_of(CONDITIONS.values())), "beside": closed({}, beside),
            "evidence_path": PATH,
        }
    )  # fmt: skip
    reading = dict.fromkeys(("delta", "delta_percent", "delta_last", "measured_against", "interval"), TEXT)
    signals = dict.fromkeys(flags, COUNT) | {"best_ranked_asin": maybe(TEXT), "lightning_asins": maybe(NAMES)}
    return profile(
        deals.VIEW,
        "deals",
        row,
        facts={
            "price_type": one_of(t.name for t in CSV_TYPES), "interval": one_of(DATE_RANGES), "currency": CURRENCY,
            "page": COUNT, "more": FLAG, "reading": closed(reading),
            "categories": maybe(listed(closed({"id": WHOLE, "name": TEXT, "deals": COUNT}))),
        },
        key_facts={"largest_fall_asin": maybe(TEXT), "largest_fall_percent": maybe(NUMBER)},
        context=("freshness",),
        signals=closed(signals),
        more={"items": listed(OPEN)},
    )  # fmt: skip


def seller_list() -> Schema:
    """`data` of sellers get."""
    key_facts = {
        "seller_id": maybe(TEXT), "name": maybe(TEXT), "rating_percent": maybe(COUNT), "rating_count": maybe(COUNT),
        "storefront_asin_count": maybe(COUNT), "has_fba": maybe(FLAG),
    }  # fmt: skip
    ids = dict.fromkeys(("well_rated_ids", "poorly_rated_ids", "few_ratings_ids"), maybe(NAMES))
    return profile(
        sellers.VIEW,
        "sellers",
        either(closed({"seller_id": TEXT, "status": const("not_found")}), _seller()),
        facts={"not_found": NAMES},
        key_facts=key_facts,
        context=sellers.CONTEXT,
        signals=closed({"sellers": COUNT, "with_fba": COUNT, **ids}),
        more={"items": listed(OPEN)},
    )


def _seller() -> Schema:
    share = derived(maybe(NUMBER), unit=TEXT)
    span = closed({"count": maybe(COUNT), "positive_percent": maybe(COUNT)})
    figures = {"product_count": maybe(COUNT), "average_rank_30": maybe(COUNT), "with_amazon_offer": maybe(COUNT)}
    store = closed({"count": COUNT, "omitted": COUNT, "asins": listed(closed({"asin": TEXT, "seen_at": maybe(TIME)}))})
    rival = closed({"seller_id": TEXT, "shared_percent": COUNT})
    counts = dict.fromkeys(
        ("rating_percent", "rating_count", "ratings_last_30_days", "storefront_asin_count",
         "buy_box_new_ownership_percent"), maybe(COUNT),
    )  # fmt: skip
    return closed(
        {
            "seller_id": TEXT, "status": const("found"), "name": maybe(TEXT), **counts,
            "feedback": maybe(closed(dict.fromkeys(sellers.SPANS, span))), "has_fba": maybe(FLAG),
            "ships_from_china": maybe(FLAG), "brands": maybe(listed(closed({"brand": TEXT, **figures}))),
            "categories": maybe(listed(closed({"id": WHOLE, **figures}))), "competitors": maybe(listed(rival)),
            "average_buy_box_competitors": maybe(NUMBER), "tracked_since_at": maybe(TIME), "updated_at": maybe(TIME),
            "storefront": maybe(store), "evidence_path": PATH,
        },
        {"brands_share": share, "categories_share": share},
    )  # fmt: skip


def topseller_list() -> Schema:
    """`data` of topsellers list."""
    return profile(
        rankings.TOPSELLERS,
        "sellers",
        closed({"rank": COUNT, "seller_id": TEXT, "evidence_path": PATH}),
        facts={"ranked_by": TEXT},
        key_facts={"list_size": COUNT, "first_seller_id": maybe(TEXT)},
        context=("freshness", "next"),
        signals=closed({"list_size": COUNT, "top_seller_ids": maybe(NAMES)}),
        more={"items": listed(OPEN), "total": COUNT, "limit": COUNT},
    )


def selection_draft() -> Schema:
    """`data` of categories finder-selection."""
    key_facts = {"category": WHOLE, "fields": COUNT, "most_results": COUNT}
    suggested = closed({"field": one_of(scaffold.SUGGESTED), "example": ANY, "meaning": TEXT})
    needed = {
        "view": const(scaffold.VIEW), "agent_brief": brief(key_facts, ("cost",)), "domain": TEXT,
        "category": closed({"id": WHOLE, "as_root": FLAG}), "selection": OPEN, "field_notes": FIELD_NOTES,
        "suggested_fields": listed(suggested), "data_quality": closed({"level": LEVEL, "notes": NAMES}),
        "selection_signals": closed({"own_filters": COUNT, "width": one_of(("whole category", "filtered"))}),
        "next_actions": ACTIONS, "evidence_index": listed(ANY, maxItems=0), "research_graph": GRAPH,
        "provenance": closed({"endpoint": const("local"), "domain": TEXT, "params": OPEN}),
    }  # fmt: skip
    return closed(needed, {"output": OUTPUT})


def views() -> dict[str, tuple[str, Schema]]:
    """View -> (title, schema)."""
    return {
        categories.SEARCH_VIEW: ("Categories found by a keyword", category_list(categories.SEARCH_VIEW)),
        categories.GET_VIEW: ("Categories looked up", category_list(categories.GET_VIEW)),
        rankings.BESTSELLERS: ("Best sellers of a category", bestseller_list(rankings.BESTSELLERS)),
        rankings.CATEGORY_PRODUCTS: ("Products of a category", bestseller_list(rankings.CATEGORY_PRODUCTS)),
        rankings.TOPSELLERS: ("Sellers with the most ratings", topseller_list()),
        finder.VIEW: ("Products that fit a selection", finder_list()),
        deals.VIEW: ("Deals", deal_list()),
        sellers.VIEW: ("Sellers", seller_list()),
        scaffold.VIEW: ("A drafted finder selection", selection_draft()),
    }
