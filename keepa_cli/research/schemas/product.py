"""The schema of a product view. A profile shows some sections, and some members of them: none is required."""

from __future__ import annotations

from keepa_cli.keepa.coupons import KINDS as COUPON_KINDS
from keepa_cli.keepa.offers import CONDITIONS
from keepa_cli.keepa.productview import KINDS
from keepa_cli.research.facts import Reason
from keepa_cli.research.needs import Need
from keepa_cli.research.product import logistics, offers, pricing
from keepa_cli.research.product.agent_brief import FULL_ORDER, READ_ORDER, WORDS
from keepa_cli.research.product.data_quality import EXPECTED
from keepa_cli.research.product.profiles import SECTIONS, Profile
from keepa_cli.research.risks import LEVELS
from keepa_cli.research.schemas.build import (
    COUNT,
    CURRENCY,
    DAYS,
    FLAG,
    NUMBER,
    OPEN,
    PATH,
    TEXT,
    TIME,
    WHOLE,
    Schema,
    closed,
    listed,
    maybe,
    merged,
    one_of,
    optional,
    table,
)
from keepa_cli.research.schemas.history import TEMPORAL, newest, summary_series
from keepa_cli.research.schemas.shared import (
    ACTIONS,
    COUPON,
    GRAPH,
    ITEMS,
    MONEY,
    PATHS,
    PRICE,
    RISK_CODES,
    basis_of,
    derived,
    fact,
    risk_taxonomy,
)

FACTS = listed(one_of(EXPECTED))
TREND_WORDS = ("worse", "better", "steady", "unknown")


def _words(*names: str) -> Schema:
    return one_of(word for name in names for _, word in LEVELS[name])


def agent_brief() -> Schema:
    changes = {f"{name}_pct": maybe(NUMBER) for name in WORDS}
    context = {
        "demand": maybe(_words("monthly_sold", "sales_rank")),
        "competition": maybe(_words("new_offer_count")),
        "price_stability": maybe(_words("price_spread_90d")),
        "content_quality": maybe(_words("content_quality")),
        "data_quality": _words("completeness"),
    }
    sections = [name for order in (*READ_ORDER.values(), FULL_ORDER) for name in order]
    key_facts = {
        "price": maybe(MONEY), "sales_rank": maybe(WHOLE), "rating": maybe(TEXT), "review_count": maybe(WHOLE),
        "new_offer_count": maybe(WHOLE), "monthly_sold_at_least": maybe(WHOLE), "price_kind": maybe(TEXT),
        "brand": maybe(TEXT), "category": maybe(TEXT), "buy_box_seller": maybe(TEXT),
    }  # fmt: skip
    window = closed({}, changes | {"signal_summary": maybe(TEXT)})
    return optional(
        read_order=listed(one_of(sections)),
        one_line=TEXT,
        key_facts=closed({}, key_facts),
        decision_context=closed(context),
        temporal_takeaways=listed(closed({"text": TEXT, "evidence_path": PATHS})),
        temporal_by_window={
            "type": "object",
            "properties": {"method": TEXT},
            "patternProperties": {DAYS: window},
            "additionalProperties": False,
        },
        missing_data={"type": "object", "propertyNames": one_of(Reason), "additionalProperties": FACTS},
        recommended_next_actions=listed(one_of(Need)),
        risk_codes=RISK_CODES,
    )


def identity() -> Schema:
    texts = dict.fromkeys(
        ("asin", "title", "brand", "manufacturer", "model", "part_number", "color", "size", "product_type",
         "parent_asin", "url", "image_url"), maybe(TEXT),
    )  # fmt: skip
    times = dict.fromkeys(("updated_at", "tracked_since_at", "listed_since_at"), maybe(TIME))
    codes = dict.fromkeys(("ean", "upc", "gtin"), listed(TEXT))
    return closed(
        {},
        texts | times | codes | {
            "title_truncated": FLAG, "domain": TEXT, "kind": maybe(one_of(KINDS)), "variation_count": maybe(COUNT),
            "evidence_path": PATHS,
        },
    )  # fmt: skip


def category() -> Schema:
    node = closed({"id": WHOLE, "name": maybe(TEXT)})
    return optional(
        root=maybe(node), leaf=maybe(node), path=maybe(listed(node)), rank_reference=maybe(node),
        display_group=maybe(TEXT), item_type=maybe(TEXT), evidence_path=PATHS,
    )  # fmt: skip


def pricing_section() -> Schema:
    always = dict.fromkeys((*pricing.ALWAYS, *_extremes()), maybe(PRICE))
    others = dict.fromkeys((*pricing.OTHERS, "competitive_price_threshold", "suggested_lower_price"), PRICE)
    now = closed({**dict.fromkeys(COUPON_KINDS, maybe(COUPON)), "evidence_path": PATHS})
    period = closed({"from_at": TIME}, {"until_at": TIME, **dict.fromkeys(COUPON_KINDS, COUPON)})
    history = optional(
        event_count=COUNT, period_count=COUNT, last_ended_at=maybe(TIME), newest=listed(period), evidence_path=PATHS
    )
    more = {
        "currency": CURRENCY, "coupon": maybe(now), "coupon_history": maybe(history), "deal_badges": listed(TEXT),
        "promotions": listed(TEXT),
    }  # fmt: skip
    return closed({}, always | others | more)


def _extremes() -> tuple[str, ...]:
    return tuple(prefix + end for prefix in pricing.EXTREMES for end in ("lowest_ever", "highest_ever"))


def demand() -> Schema:
    place = {"category_id": maybe(WHOLE), "category_name": maybe(TEXT)}
    counts = {str(days): maybe(COUNT) for days in (30, 90, 180, 365)}
    return optional(
        sales_rank=maybe(fact(WHOLE, **place)),
        category_ranks=maybe(listed(fact(WHOLE, **place))),
        monthly_sold=derived(maybe(COUNT), at=maybe(TIME)),
        monthly_sold_change_90d=derived(
            maybe(NUMBER), unit=TEXT, direction=one_of(("sales_rose", "sales_fell", "unchanged"))
        ),
        rank_drops=basis_of(**counts),
    )


def rating() -> Schema:
    return optional(
        rating=maybe(fact(TEXT, raw=WHOLE)),
        review_count=maybe(fact(COUNT)),
        written_review_count=maybe(fact(COUNT)),
        has_reviews=maybe(FLAG),
        updated_at=maybe(TIME),
    )


def offers_section() -> Schema:
    holder = {
        "holder": one_of({offers.SELLER, *offers.HOLDERS.values(), "nobody", "unknown"}),
        "seller_id": maybe(TEXT),
    }
    held = closed(
        {**holder, "is_fba": maybe(FLAG), "evidence_path": PATHS}, {"is_amazon": maybe(FLAG), "at": maybe(TIME)}
    )
    used = closed({**holder, "is_fba": maybe(FLAG), "condition": maybe(TEXT), "at": TIME, "evidence_path": PATHS})
    share = closed({"seller_id": TEXT, "percentage_won": NUMBER, "average_price": maybe(MONEY), "is_fba": maybe(FLAG)})
    flags = dict.fromkeys(("is_fba", "is_prime", "is_amazon"), maybe(FLAG))
    money = dict.fromkeys(("price", "shipping", "total"), maybe(MONEY))
    live = closed(
        {}, {"seller_id": maybe(TEXT), "condition": maybe(one_of(CONDITIONS.values())), **flags, **money,
             "at": maybe(TIME), "stock": maybe(COUNT), "coupon": COUPON_OR_MONEY, "last_seen_at": maybe(TIME),
             "evidence_path": PATHS},
    )  # fmt: skip
    counts = dict.fromkeys(("total_offer_count", *offers.COUNTS), maybe(fact(COUNT)))
    return closed(
        {}, counts | {
            "buy_box": maybe(held), "buy_box_used": used, "buy_box_share": maybe(listed(share)),
            "buy_box_seller_count": COUNT, "buy_box_share_basis": basis_of(), "live_offer_count": COUNT,
            "live": maybe(listed(live)),
        },
    )  # fmt: skip


COUPON_OR_MONEY: Schema = {"anyOf": [COUPON, MONEY]}


def media() -> Schema:
    return optional(
        image_count=maybe(COUNT), images=maybe(listed(TEXT)), video_count=maybe(COUNT),
        videos_by_creator=table(COUNT), evidence_path=PATHS,
    )  # fmt: skip


def aplus() -> Schema:
    counts = dict.fromkeys(("content_count", "module_count", "image_count", "text_count"), maybe(COUNT))
    return closed({}, counts | {"from_manufacturer": FLAG, "evidence_path": PATHS})


def content() -> Schema:
    return optional(
        feature_count=maybe(COUNT), features=maybe(listed(TEXT)), description=maybe(TEXT), ingredients=maybe(TEXT),
        safety_warning=TEXT, truncated=FLAG, evidence_path=PATHS,
    )  # fmt: skip


def logistics_section() -> Schema:
    measures = closed(
        {**{f"{side}_mm": maybe(COUNT) for side in logistics.SIDES}, "weight_g": maybe(COUNT)},
    )
    flags = dict.fromkeys(logistics.FLAGS, FLAG)
    return closed(
        {}, flags | {
            "item": maybe(measures), "package": maybe(measures), "fba_fees": maybe(closed({"pick_and_pack": PRICE})),
            "referral_fee_percentage": maybe(closed({"value": NUMBER, "unit": TEXT, "evidence_path": PATHS})),
            "variable_closing_fee": PRICE, "availability_amazon": maybe(one_of(logistics.AVAILABILITY.values())),
            "hazardous_materials": maybe(listed(TEXT)), "return_rate": one_of(logistics.RETURN_RATES.values()),
            "evidence_path": PATHS,
        },
    )  # fmt: skip


def figure(words: Schema | None = None, **more: Schema) -> Schema:
    """A derived figure with the word for it."""
    return derived(maybe(NUMBER), **({"level": words} if words else {}), **more)


def selection_signals() -> Schema:
    return optional(
        price_position=figure(_words("price_position")),
        price_stability=figure(_words("price_spread_90d")),
        demand=figure(_words("monthly_sold", "sales_rank")),
        rank_trend=figure(one_of(TREND_WORDS)),
        competition=figure(_words("new_offer_count")),
        content_quality=figure(_words("content_quality")),
        stock_outs=figure(unit=TEXT),
        review_strength=figure(_words("review_count")),
        buy_box_concentration=figure(_words("buy_box_share")),
        risk_codes=RISK_CODES,
    )


def data_quality() -> Schema:
    return optional(
        completeness=figure(_words("completeness")),
        missing=listed(closed({"fact": one_of(EXPECTED), "reason": one_of(Reason)})),
        not_requested=FACTS, updated_at=maybe(TIME), age_hours=maybe(NUMBER), stale=maybe(FLAG),
        history_reach=table(maybe(COUNT)), problem_count=COUNT,
        problems=listed(closed({"path": PATH, "message": TEXT})),
        usable={"const": False}, message=TEXT, evidence_path=PATHS,
    )  # fmt: skip


def evidence_index() -> Schema:
    entry = {"fact": TEXT, "path": PATH, "section": one_of(SECTIONS), "view": one_of(Profile)}
    return listed(closed(entry))


def provenance() -> Schema:
    times = dict.fromkeys(("now_at", "updated_at", "price_changed_at", "rating_updated_at", "sold_updated_at"),
                          maybe(TIME))  # fmt: skip
    series = closed({"points": table(COUNT), "slots": COUNT, "unknown_slots": COUNT})
    return closed(
        {}, times | {
            "source": TEXT, "endpoint": TEXT, "evidence_path": PATHS, "requested": listed(TEXT),
            "not_requested": listed(TEXT), "raw_field_count": COUNT, "series": series,
            "raw_fields": table(closed({"type": TEXT}, {"length": COUNT})),
            "layout_problems": listed(closed({"path": PATH, "message": TEXT})),
        },
    )  # fmt: skip


def stats_summary() -> Schema:
    extreme = closed({"value": WHOLE, "at": TIME})
    by_days = {str(days): maybe(WHOLE) for days in (30, 90, 180, 365)}
    series = closed(
        {"unit": TEXT, "avg": closed(by_days), "min": extreme, "max": extreme},
        {"currency": CURRENCY, "out_of_stock_pct": closed(by_days)},
    )
    return merged(
        basis_of(source=TEXT, checked=COUNT, different_from_stats=listed(TEXT)), optional(series=table(maybe(series)))
    )


def history_summary() -> Schema:
    return optional(
        history_limit=COUNT,
        evidence_path=PATHS,
        series=table(summary_series(newest())),
        without_data={"type": "object", "propertyNames": one_of(Reason), "additionalProperties": listed(TEXT)},
    )


def sections() -> dict[str, Schema]:
    """Section -> schema, in the order of a view."""
    built = {
        "agent_brief": agent_brief(), "identity": identity(), "category": category(), "pricing": pricing_section(),
        "demand": demand(), "rating": rating(), "offers": offers_section(), "media": media(), "aplus": aplus(),
        "content": content(), "logistics": logistics_section(), "stats_summary": stats_summary(),
        "history_summary": history_summary(), "temporal_features": TEMPORAL,
        "selection_signals": selection_signals(),
        "risk_taxonomy": {**risk_taxonomy(), "required": ["codes"]}, "research_graph": GRAPH,
        "data_quality": data_quality(), "next_actions": ACTIONS, "evidence_index": evidence_index(),
        "provenance": provenance(),
    }  # fmt: skip
    return {name: built[name] for name in SECTIONS}


def product_definition() -> Schema:
    """One product, whatever the profile shows of it."""
    return closed({}, sections() | {"truncated": listed(TEXT)})


def product_view(product: Schema) -> Schema:
    """`data` of an operation that shows products."""
    chunk = closed({"path": TEXT, "asin": TEXT, "section": TEXT, "size_bytes": COUNT, "sha256": TEXT})
    return closed(
        {
            "view": {"const": "product"}, "profile": one_of(p for p in Profile if p is not Profile.RAW),
            "count": COUNT, "products": listed(product),
        },
        {"items": ITEMS, "chunks": listed(chunk), "next_actions": ACTIONS, "output": OPEN, "unmatched": listed(TEXT)},
    )  # fmt: skip
