"""Amazon categories: look up by id, find by keyword."""

from __future__ import annotations

from typing import Annotated, Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import invalid
from keepa_cli.core.registry import Cost, CostPart, Param, Request, operation
from keepa_cli.keepa import containers, costs
from keepa_cli.ops._list_views import Category, Rows, View, hydrated, listing, shaped, write_selection
from keepa_cli.ops._listing import limit_note
from keepa_cli.ops._names import CATEGORIES_FINDER_SELECTION, CATEGORIES_GET, CATEGORIES_PRODUCTS, CATEGORIES_SEARCH
from keepa_cli.ops._params import Domain, domain_id
from keepa_cli.ops._selections import Assignment, Range, Sort, Text

CategoryId = Annotated[
    int, Param("Category node id; 0 stands for all root categories.", metavar="ID", min=0, max=2**63 - 1)
]
Parents = Annotated[bool, Param("Include the parents of every category up to its root.")]


def _found(body: dict[str, Any], _: dict[str, Any]) -> dict[str, Any]:
    return {"count": len(body.get("categories") or {}), "body": body}


def _finish(ctx: Context, _: Any, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    from keepa_cli.research.lists import categories as lists

    return shaped(ctx, data, params, lists.profile)


@operation(
    CATEGORIES_GET,
    toolset="research",
    cost=lambda _: costs.category(),
    returns="category",
    view=_found,
    finish=_finish,
    examples=("kc categories get 0 --domain US", "kc categories get 172282 1055398 --parents"),
)
def get(
    category: Annotated[
        list[CategoryId], Param("Category node ids, up to 10; 0 alone lists the roots.", position=True, max_items=10)
    ],
    domain: Domain = "US",
    parents: Parents = False,
    view: View | None = None,
    limit: Rows | None = None,
) -> Request:
    """Look up categories by id.

    The profile (view: categories) tells size, ranks, average price and ratings of each, and its path with --parents.
    """
    if 0 in category and len(category) > 1:
        raise invalid("0 (all roots) cannot be combined with other ids.", field="category", value=category)
    return Request(
        "GET",
        "/category",
        {"domain": domain_id(domain, "category"), "category": list(dict.fromkeys(category)), "parents": parents},
    )


@operation(
    CATEGORIES_SEARCH,
    toolset="research",
    cost=lambda _: costs.search_category(),
    returns="search_category",
    view=_found,
    finish=_finish,
    examples=('kc categories search "home kitchen" --domain US',),
)
def search(
    term: Annotated[str, Param("Keywords of at least 3 characters each; all must match.", position=True)],
    domain: Domain = "US",
    parents: Parents = False,
    view: View | None = None,
    limit: Rows | None = None,
) -> Request:
    """Find categories by keyword; at most 50 are returned.

    The profile (view: category_search) orders the candidates by how well their names answer the words, and names what
    to do with the best one.
    """
    words = term.split()
    short = [w for w in words if len(w) < 3]
    if not words or short:
        raise invalid(
            f"Every keyword needs at least 3 characters: {short[0]!r} is too short." if short else "The term is empty.",
            field="term",
            value=term,
        )
    query = {"domain": domain_id(domain, "search"), "type": "category", "term": " ".join(words)}
    return Request("GET", "/search", query | ({"parents": True} if parents else {}))


@operation(
    CATEGORIES_FINDER_SELECTION,
    toolset="research",
    effect="write_local",
    examples=(
        "kc categories finder-selection 1055398 --domain US --out finder-1055398.json",
        "kc categories finder-selection 284507 --root --new 1500..6000 --reviews ..300",
    ),
)
def finder_selection(
    ctx: Context,
    category: Annotated[int, Param("Category node id.", metavar="ID", position=True, min=1, max=2**63 - 1)],
    domain: Domain = "US",
    root: Annotated[bool, Param("The category is a root: take its whole tree.")] = False,
    not_category: Annotated[list[CategoryId], Param("Categories to exclude.", max_items=50)] = [],  # noqa: B006
    title: Annotated[str | None, Param("Words of the title; quotes make phrases, a leading - excludes.")] = None,
    brand: Annotated[list[Text], Param("Brands, any of them.", metavar="BRAND")] = [],  # noqa: B006
    new: Annotated[Range | None, Param("Lowest new price, in the smallest unit.")] = None,
    buy_box: Annotated[Range | None, Param("Buy box price with shipping, in the smallest unit.")] = None,
    sales_rank: Annotated[Range | None, Param("Current sales rank.")] = None,
    rating: Annotated[Range | None, Param("Rating in tenths, 0 to 50: 45.. is 4.5 and more.")] = None,
    reviews: Annotated[Range | None, Param("Number of ratings.")] = None,
    monthly_sold: Annotated[Range | None, Param("Units bought in the past month.")] = None,
    filter: Annotated[list[Assignment], Param("Any other field of the selection; repeat it for more.")] = [],  # noqa: A002, B006
    sort: Annotated[list[Sort], Param("Sort order, up to 3.", max_items=3)] = [],  # noqa: B006
    per_page: Annotated[int | None, Param("ASINs per page.", min=50, max=10_000)] = None,
    out: Annotated[str | None, Param("Write the selection to this file.", metavar="FILE")] = None,
) -> dict[str, Any]:
    """Draft a finder selection for a category, with notes on every field. Sends nothing, costs nothing.

    The file of --out holds the selection alone: kc finder query --selection-file FILE takes it as it is. Every field
    is checked as the finder would check it.
    """
    given = {k: v for k, v in locals().items() if k not in {"ctx", "category", "out", "domain", "root"}}
    from keepa_cli.keepa import domains, finder
    from keepa_cli.ops import finder as family
    from keepa_cli.ops._actions import planner
    from keepa_cli.research.lists import scaffold

    filters = family.merged(given)
    checked = finder.check(scaffold.drafted(category, root=root, filters=filters))
    found = scaffold.view(category, checked.selection, domains.resolve(domain), planner(ctx), root=root)
    found["warnings"] = [{"code": "selection", "message": note} for note in checked.notes]
    return found | write_selection(ctx, out, checked.selection)


def _products_cost(params: dict[str, Any]) -> Cost:
    listed, top = costs.bestsellers(), params.get("hydrate_top") or 0
    parts = (CostPart("hydrate_top", top, top, "1 per product looked up"),) if top else ()
    return Cost((*listed.parts, *parts), confirm=listed.confirm, notes=listed.notes)


def _listed(body: dict[str, Any], _: dict[str, Any]) -> dict[str, Any]:
    return {"count": len(containers.best_sellers(body)["asins"]), "body": body}


def _finish_products(ctx: Context, call: Any, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    from keepa_cli.research.lists import rankings

    found = rankings.bestsellers(listing(ctx, data["body"], params), data["count"], rankings.CATEGORY_PRODUCTS)
    asins = [row["asin"] for row in found["candidates"]][: params["hydrate_top"]]
    return found | (hydrated(call, asins, params["domain"]) if asins else {})


@operation(
    CATEGORIES_PRODUCTS,
    toolset="research",
    cost=_products_cost,
    returns="bestsellers",
    view=_listed,
    finish=_finish_products,
    examples=(
        "kc categories products 172282 --domain US --limit 25 --dry-run",
        "kc categories products 172282 --hydrate-top 3 --live --yes",
    ),
)
def products(
    category: Category,
    domain: Domain = "US",
    limit: Annotated[int, Param("At most N candidates; the cost stays the same.", metavar="N", min=1)] = 25,
    hydrate_top: Annotated[
        int, Param("Look up the first N candidates as well: 1 token each.", metavar="N", min=0, max=100)
    ] = 0,
) -> Request:
    """List the best selling products of a category as candidates for research.

    Asks what kc bestsellers get asks, so one recording serves both. Costs 50 tokens whatever the limit: cheaper ways
    are kc categories finder-selection with kc finder query (11 tokens), and kc products compare for known ASINs.
    --hydrate-top N adds the summaries of the first N, in one further call that is part of the quoted cost.
    """
    query = {"domain": domain_id(domain, "bestsellers"), "category": category}
    return Request("GET", "/bestsellers", query, notes=limit_note(limit))
