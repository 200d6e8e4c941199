"""Sellers: by id, and the seller finder."""

from __future__ import annotations

import re
from typing import Annotated, Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import invalid
from keepa_cli.core.registry import Cost, Param, Request, operation
from keepa_cli.keepa import containers, costs, sellerfinder
from keepa_cli.keepa.selection import selection_request
from keepa_cli.ops import _selections as parts
from keepa_cli.ops._list_views import Rows, View, shaped
from keepa_cli.ops._names import SELLERS_GET
from keepa_cli.ops._params import Domain, domain_id
from keepa_cli.ops._selections import CategoryId, Page, Range, Selection, Sort, Text

MAX_SELLERS = 100
_SELLER = re.compile(r"[A-Z0-9]{10,21}")


def _seller_id(value: Any) -> str:
    text = value.strip().upper() if value.isascii() else value
    if not _SELLER.fullmatch(text):
        raise invalid(
            f"{value[:80]!r} is no seller id: 10 to 21 letters and digits, such as A2L77EE7U53NWQ.",
            field="seller",
            value=value[:80],
            allowed="10 to 21 letters and digits",
        )
    return str(text)


SellerId = Annotated[
    str,
    Param("Seller id: 10 to 21 letters and digits.", metavar="SELLER", parse=_seller_id, examples=("A2L77EE7U53NWQ",)),
]


def _items(body: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    found = containers.sellers(body, params["seller"])
    rows = [
        {"asked": seller, "status": "found" if facts else "not_found"}
        | {k: v for k, v in (facts or {}).items() if k != "id"}
        for seller, facts in found.items()
    ]
    return {"items": rows, "count": sum(row["status"] == "found" for row in rows), "body": body}


def _finish(ctx: Context, _: Any, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    from keepa_cli.research.lists import sellers as lists

    return shaped(ctx, data, params, lambda listing: lists.profile(listing, params["seller"]))


def _get_cost(params: dict[str, Any]) -> Cost:
    return costs.seller(len(dict.fromkeys(params["seller"])), storefront=bool(params.get("storefront")))


@operation(
    SELLERS_GET,
    toolset="research",
    cost=_get_cost,
    returns="sellers",
    view=_items,
    finish=_finish,
    examples=("kc sellers get A2L77EE7U53NWQ --domain US", "kc sellers get A2L77EE7U53NWQ --storefront --dry-run"),
)
def get(
    seller: Annotated[list[SellerId], Param("Seller ids, up to 100.", position=True, max_items=MAX_SELLERS)],
    domain: Domain = "US",
    storefront: Annotated[bool, Param("ASINs of the storefront: 9 tokens more, one seller only.")] = False,
    view: View | None = None,
    limit: Rows | None = None,
) -> Request:
    """Get sellers by id.

    Costs 1 token per seller found; ids asked twice are sent once. The profile (view: seller) tells rating, size,
    brands, categories and competitors; addresses and other personal data stay in the body.
    """
    ids = list(dict.fromkeys(seller))
    if storefront and len(ids) > 1:
        raise invalid(
            f"--storefront takes a single seller, not {len(ids)}.", field="storefront", value=True, allowed="one seller"
        )
    query = {"domain": domain_id(domain, "seller"), "seller": ids, "storefront": storefront or None}
    return Request("GET", "/seller", query, asked=tuple(ids))


def merged(params: dict[str, Any]) -> dict[str, Any]:
    """The selection with everything that the options add; an option wins over the selection."""
    found = dict(params.get("selection") or {})
    found |= parts.given(
        search=params.get("search"),
        sellerName=params.get("name"),
        businessName=params.get("business_name"),
        addressCountry=params.get("country"),
        brands=params.get("brand"),
        rootCategories_include=params.get("root_category"),
        competitorSellerIds=params.get("competitor"),
        page=params.get("page"),
        perPage=params.get("per_page"),
        sort=parts.sort_pairs(params.get("sort") or []),
    )
    ranges = {"rating": "currentRating", "rating_count": "currentRatingCount", "storefront": "totalStorefrontAsins"}
    for name, field in ranges.items():
        found |= parts.bounds(field, params.get(name))
    return found


def _query_cost(params: dict[str, Any]) -> Cost:
    return costs.sellerquery(sellerfinder.results_of(merged(params)))


def _query_view(body: dict[str, Any], _: dict[str, Any]) -> dict[str, Any]:
    found = body.get("sellerIdList")
    ids = found if isinstance(found, list) else []
    return {"count": len(ids), "total_results": body.get("totalResults"), "body": body}


@operation(
    "sellers.query",
    toolset="research",
    cost=_query_cost,
    returns="sellerquery",
    view=_query_view,
    examples=("kc sellers query --country CN --rating 90.. --storefront 100.. --dry-run",),
)
def query(
    selection: Selection | None = None,
    domain: Domain = "US",
    search: Annotated[str | None, Param("Free text.")] = None,
    name: Annotated[str | None, Param("Seller name.")] = None,
    business_name: Annotated[str | None, Param("Business name.")] = None,
    country: Annotated[list[Text], Param("Countries of the address: codes of 2 letters.", metavar="CC")] = [],  # noqa: B006
    rating: Annotated[Range | None, Param("Positive ratings in percent.")] = None,
    rating_count: Annotated[Range | None, Param("Number of ratings.")] = None,
    storefront: Annotated[Range | None, Param("Number of ASINs in the storefront.")] = None,
    brand: Annotated[list[Text], Param("Brands, any of them.", metavar="BRAND")] = [],  # noqa: B006
    root_category: Annotated[list[CategoryId], Param("Root categories, any of them.")] = [],  # noqa: B006
    competitor: Annotated[list[SellerId], Param("Seller ids of competitors.")] = [],  # noqa: B006
    sort: Annotated[list[Sort], Param("Sort order, up to 3.", max_items=3)] = [],  # noqa: B006
    page: Page | None = None,
    per_page: Annotated[
        int | None, Param("Ids per page: 0 (100) or 50 to 10000. Default 50.", min=0, max=10_000)
    ] = None,
) -> Request:
    """Find seller ids by name, place, rating, size, brand or category.

    Costs 10 tokens and 1 per 100 ids returned. Keepa's list of fields is longer than the documented part: a field of
    the selection that is not known here is sent with a note.
    """
    checked = sellerfinder.check(merged(locals()))
    query = {"domain": domain_id(domain, "sellerquery")}
    return selection_request("/sellerquery", query, checked.selection, checked.notes)
