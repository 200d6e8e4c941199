"""Deals: products whose price or rank changed in the last hours."""

from __future__ import annotations

from typing import Annotated, Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import invalid
from keepa_cli.core.registry import Param, Request, operation
from keepa_cli.keepa import costs, dealview, domains
from keepa_cli.keepa import deals as rules
from keepa_cli.keepa.selection import INT_MAX, selection_request
from keepa_cli.ops import _selections as parts
from keepa_cli.ops._list_views import Rows, View, shaped
from keepa_cli.ops._names import DEALS_QUERY
from keepa_cli.ops._params import Domain, domain_id
from keepa_cli.ops._selections import CategoryId, Range, Selection, Text


def _price_type(value: Any) -> str:
    found = rules.price_type(value)
    if found is None:
        raise invalid(
            f"There are no deals of the price type {value!r}.",
            field="price_type",
            value=value,
            allowed=list(rules.PRICE_TYPES.values()),
        )
    return rules.PRICE_TYPES[found]


def _date_range(value: Any) -> str:
    text = str(value).lower()
    return rules.DATE_RANGES[int(text)] if text in {"0", "1", "2", "3"} else text


def _sort(value: Any) -> str:
    named = {str(number): word for word, number in rules.SORTS.items()}
    text = str(value).strip().lower()
    sign, word = ("-", text[1:]) if text.startswith("-") else ("", text)
    word = named.get(word, word)
    if word not in rules.SORTS or (sign and word == "age"):
        allowed = [*rules.SORTS, *(f"-{w}" for w in rules.SORTS if w != "age")]
        raise invalid(f"Deals cannot be sorted by {value!r}.", field="sort", value=value, allowed=allowed)
    return sign + word


PriceType = Annotated[
    str,
    Param(
        "Price type of the deals, exactly one, such as NEW, AMAZON, SALES or BUY_BOX_SHIPPING.",
        metavar="TYPE",
        parse=_price_type,
        accepts=("string", "integer"),
        examples=("NEW",),
    ),
]
DateRange = Annotated[
    str,
    Param(
        "Interval of the change: day, week, month (31 days) or 90days.",
        metavar="day|week|month|90days",
        parse=_date_range,
        accepts=("string", "integer"),
        pattern="day|week|month|90days",
    ),
]
Order = Annotated[
    str,
    Param(
        "Order: age (newest first), delta, rank or percent; a leading - inverts all but age.",
        metavar="[-]ORDER",
        parse=_sort,
        accepts=("string", "integer"),
        examples=("percent",),
    ),
]
Switch = bool | None
RANGES = {
    "current": "currentRange",
    "delta": "deltaRange",
    "delta_percent": "deltaPercentRange",
    "delta_last": "deltaLastRange",
    "sales_rank": "salesRankRange",
}
SWITCHES = {
    "lowest": "isLowest",
    "lowest90": "isLowest90",
    "back_in_stock": "isBackInStock",
    "out_of_stock": "isOutOfStock",
    "has_reviews": "hasReviews",
    "no_adult": "filterErotic",
}


def merged(params: dict[str, Any]) -> dict[str, Any]:
    """The selection with everything that the options add; an option wins over the selection."""
    found = dict(params.get("selection") or {})
    sort, interval = params.get("sort"), params.get("date_range")
    found |= parts.given(
        priceTypes=params.get("price_type"),
        dateRange=rules.DATE_RANGES.index(interval) if interval else None,
        sortType=rules.SORTS[sort.removeprefix("-")] * (-1 if sort.startswith("-") else 1) if sort else None,
        includeCategories=params.get("category"),
        excludeCategories=params.get("not_category"),
        titleSearch=params.get("title"),
        brand=params.get("brand"),
        minRating=params.get("min_rating"),
        page=params.get("page"),
    )
    for name, field in RANGES.items():
        found |= _range(field, params.get(name))
    return found | {field: params[name] for name, field in SWITCHES.items() if params.get(name) is not None}


def _range(field: str, text: str | None) -> dict[str, list[int]]:
    if not text:
        return {}
    low, high = parts.ends(text)
    return {field: [low if low is not None else 0, high if high is not None else INT_MAX]}


def _view(body: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    found = body.get("deals")
    deals = found.get("dr") if isinstance(found, dict) else None
    listed = deals if isinstance(deals, list) else []
    index, interval, _ = _asked(params)
    domain = _domain(params)
    rows = [dealview.deal_row(deal, domain, index, interval) for deal in listed]
    return {
        "price_type": rules.PRICE_TYPES[index],
        "interval": interval,
        "currency": domain.currency,
        "count": len(rows),
        "more": len(rows) >= rules.PAGE_SIZE,
        "items": rows,
        "body": body,
    }


def _asked(params: dict[str, Any]) -> tuple[int, str, int]:
    """The price type, the interval and the page that a selection asks for."""
    wanted = merged(params)
    types = wanted.get("priceTypes")
    index = rules.price_type(types[0] if isinstance(types, list) and types else types) or 0
    return index, rules.DATE_RANGES[wanted.get("dateRange") or 0], wanted.get("page") or 0


def _finish(ctx: Context, _: Any, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    from keepa_cli.research.lists import deals as lists

    given = params | {"domain": _domain(params).code}
    return shaped(ctx, data, given, lambda listing: lists.profile(listing, *_asked(params)))


def _domain(params: dict[str, Any]) -> domains.Domain:
    """The marketplace: the parameter, else `domainId` of the selection, else US."""
    inside = (params.get("selection") or {}).get("domainId")
    return domains.resolve(params.get("domain") or (inside if inside is not None else "US"))


@operation(
    DEALS_QUERY,
    toolset="research",
    cost=lambda _: costs.deal(),
    returns="deals",
    view=_view,
    finish=_finish,
    examples=(
        "kc deals query --price-type NEW --date-range week --delta-percent 30..80 --sort percent",
        """kc deals query '{"priceTypes": [18], "salesRankRange": [1, 5000]}' --domain DE --lowest --dry-run""",
    ),
)
def query(
    selection: Selection | None = None,
    price_type: PriceType | None = None,
    domain: Annotated[Domain | None, Param("Amazon marketplace; default: domainId of the selection, else US.")] = None,
    date_range: DateRange | None = None,
    sort: Order | None = None,
    category: Annotated[list[CategoryId], Param("Categories to include.", max_items=500)] = [],  # noqa: B006
    not_category: Annotated[list[CategoryId], Param("Categories to exclude.", max_items=500)] = [],  # noqa: B006
    current: Annotated[Range | None, Param("Current price in the smallest unit, or rank.")] = None,
    delta: Annotated[Range | None, Param("Absolute difference to the start of the interval.")] = None,
    delta_percent: Annotated[Range | None, Param("Difference in percent; from 10, of ranks from 80.")] = None,
    delta_last: Annotated[Range | None, Param("Difference to the previous value.")] = None,
    sales_rank: Annotated[Range | None, Param("Sales rank; products without one are left out.")] = None,
    title: Annotated[str | None, Param("Words that the title must hold, up to 50.")] = None,
    brand: Annotated[list[Text], Param("Brands, any of them.", metavar="BRAND")] = [],  # noqa: B006
    min_rating: Annotated[int | None, Param("Least rating in tenths: 45 is 4.5; -1 is off.", min=-1, max=50)] = None,
    lowest: Annotated[Switch, Param("At the lowest value since tracking began.")] = None,
    lowest90: Annotated[Switch, Param("At the lowest value of 90 days.")] = None,
    back_in_stock: Annotated[Switch, Param("Came back into stock within 24 hours.")] = None,
    out_of_stock: Annotated[Switch, Param("Went out of stock within 24 hours.")] = None,
    has_reviews: Annotated[Switch, Param("Only products with reviews.")] = None,
    no_adult: Annotated[Switch, Param("Leave out adult items.")] = None,
    page: Annotated[int | None, Param("Page of 150 deals, from 0.", min=0, max=rules.LAST_PAGE)] = None,
    view: View | None = None,
    limit: Rows | None = None,
) -> Request:
    """Browse recent deals of one price type.

    Costs 5 tokens per page of up to 150 deals. The master switches isRangeEnabled and isFilterEnabled are set where
    ranges and filters need them. In `items`, delta and delta_percent are positive where the value fell. The profile
    (view: deals_query) has them as amounts with their currency, and says in `reading` what they are measured against.
    """
    params = locals()
    number = domain_id(_domain(params).code, "deal")
    checked = rules.check(merged(params), number)
    return selection_request("/deal", {}, checked.selection, checked.notes)
