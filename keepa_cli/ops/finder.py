"""Product Finder: ASINs that match a selection."""

from __future__ import annotations

from typing import Annotated, Any

from keepa_cli.core.context import Context
from keepa_cli.core.registry import Cost, Param, Request, operation
from keepa_cli.keepa import containers, costs, finder
from keepa_cli.keepa.selection import MAX_RESULTS, selection_request
from keepa_cli.ops import _selections as parts
from keepa_cli.ops._list_views import Rows, View, shaped
from keepa_cli.ops._names import FINDER_QUERY
from keepa_cli.ops._params import Domain, domain_id
from keepa_cli.ops._selections import Assignment, CategoryId, Page, Range, Selection, Sort, Text

Availability = Annotated[
    int,
    Param("Amazon's offer: -1 none, 0 in stock, 1 pre-order, 2 unknown, 3 back-order, 4 delayed.", min=-1, max=4),
]
RANGES = {
    "amazon": "current_AMAZON",
    "new": "current_NEW",
    "buy_box": "current_BUY_BOX_SHIPPING",
    "sales_rank": "current_SALES",
    "rating": "current_RATING",
    "reviews": "current_COUNT_REVIEWS",
    "monthly_sold": "monthlySold",
}


def merged(params: dict[str, Any]) -> dict[str, Any]:
    """The selection with everything that the options add; an option wins over the selection."""
    found = dict(params.get("selection") or {})
    found |= parts.given(
        title=params.get("title"),
        brand=params.get("brand"),
        rootCategory=params.get("root_category"),
        categories_include=params.get("category"),
        categories_exclude=params.get("not_category"),
        availabilityAmazon=params.get("availability"),
        page=params.get("page"),
        perPage=params.get("per_page"),
        sort=parts.sort_pairs(params.get("sort") or []),
    )
    for name, field in RANGES.items():
        found |= parts.bounds(field, params.get(name))
    return found | parts.assignments(params.get("filter") or [], finder.from_text)


def _cost(params: dict[str, Any]) -> Cost:
    return costs.query(finder.results_of(merged(params)), stats=bool(params.get("stats")))


def _view(body: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    asins = containers.asins(body)
    wanted = merged(params)
    total = body.get("totalResults")
    seen = wanted.get("page", 0) * finder.results_of(wanted) + len(asins)
    return {
        "count": len(asins),
        "total_results": total,
        "more": isinstance(total, int) and bool(asins) and seen < min(total, MAX_RESULTS),
        "body": body,
    }


def _finish(ctx: Context, _: Any, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    from keepa_cli.research.lists import finder as lists

    return shaped(ctx, data, params, lambda listing: lists.profile(listing, merged(params)))


@operation(
    FINDER_QUERY,
    toolset="research",
    cost=_cost,
    returns="finder",
    view=_view,
    finish=_finish,
    examples=(
        "kc finder query --root-category 284507 --new 1000..5000 --sales-rank ..20000 --dry-run",
        """kc finder query '{"current_SALES_lte": 5000, "productType": [0]}' --sort current_SALES:asc --per-page 100""",
        "kc finder query --title kettle --filter isLowest_NEW=true --filter buyBoxIsFBA=true --stats --dry-run",
    ),
)
def query(
    selection: Selection | None = None,
    domain: Domain = "US",
    title: Annotated[str | None, Param("Words of the title; quotes make phrases, a leading - excludes.")] = None,
    brand: Annotated[list[Text], Param("Brands, any of them.", metavar="BRAND")] = [],  # noqa: B006
    root_category: Annotated[list[CategoryId], Param("Root categories, any of them.")] = [],  # noqa: B006
    category: Annotated[list[CategoryId], Param("Categories to include.", max_items=50)] = [],  # noqa: B006
    not_category: Annotated[list[CategoryId], Param("Categories to exclude.", max_items=50)] = [],  # noqa: B006
    amazon: Annotated[Range | None, Param("Amazon's price in the smallest unit; -1 is no offer.")] = None,
    new: Annotated[Range | None, Param("Lowest new price, in the smallest unit.")] = None,
    buy_box: Annotated[Range | None, Param("Buy box price with shipping, in the smallest unit.")] = None,
    sales_rank: Annotated[Range | None, Param("Current sales rank.")] = None,
    rating: Annotated[Range | None, Param("Rating in tenths, 0 to 50: 45.. is 4.5 and more.")] = None,
    reviews: Annotated[Range | None, Param("Number of ratings.")] = None,
    monthly_sold: Annotated[Range | None, Param("Units bought in the past month.")] = None,
    availability: list[Availability] = [],  # noqa: B006
    filter: Annotated[list[Assignment], Param("Any other field of the selection; repeat it for more.")] = [],  # noqa: A002, B006
    sort: Annotated[list[Sort], Param("Sort order, up to 3; Keepa's default: current_SALES:asc.", max_items=3)] = [],  # noqa: B006
    page: Page | None = None,
    per_page: Annotated[int | None, Param("ASINs per page; 1 token per 100. Default 50.", min=50, max=10_000)] = None,
    stats: Annotated[bool, Param("Search insights: 30 tokens and 1 per million matches more.")] = False,
    view: View | None = None,
    limit: Rows | None = None,
) -> Request:
    """Find ASINs by any combination of Keepa's filters.

    Costs 10 tokens and 1 per 100 ASINs returned, and always asks for --yes when live. Every field of the selection is
    checked before anything is sent. Fields that end in _gte and _lte are inclusive bounds; deltas are positive where
    a value fell. page times per-page reaches 10000 results at most. The profile (view: finder_query) numbers the
    candidates over all pages and tells how many more there are.
    """
    checked = finder.check(merged(locals()))
    number = domain_id(domain, "query")
    return selection_request("/query", {"domain": number, "stats": stats or None}, checked.selection, checked.notes)
