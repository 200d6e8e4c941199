"""Amazon categories: look up by id, find by keyword."""

from __future__ import annotations

from typing import Annotated, Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import invalid
from keepa_cli.core.registry import Param, Request, operation
from keepa_cli.keepa import costs
from keepa_cli.ops._list_views import Rows, View, shaped
from keepa_cli.ops._names import CATEGORIES_SEARCH
from keepa_cli.ops._params import Domain, domain_id

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
    "categories.get",
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
