"""The most rated sellers of a marketplace."""

from __future__ import annotations

from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.core.registry import Request, operation
from keepa_cli.keepa import costs
from keepa_cli.ops._list_views import View, shaped
from keepa_cli.ops._listing import Limit, cut, limit_note, texts
from keepa_cli.ops._params import Domain, domain_id


def _view(body: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    sellers = texts(body.get("sellerIdList"))
    shown = cut(sellers, params.get("limit"))
    if len(shown) < len(sellers):
        body = body | {"sellerIdList": shown}
    return {"count": len(sellers), "shown": len(shown), "body": body}


def _finish(ctx: Context, _: Any, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    from keepa_cli.research.lists import rankings

    return shaped(ctx, data, params, lambda listing: rankings.topsellers(listing, data["count"]))


@operation(
    "topsellers.list",
    toolset="research",
    cost=lambda _: costs.topseller(),
    returns="topseller",
    view=_view,
    finish=_finish,
    examples=("kc topsellers list --domain US", "kc topsellers list --domain DE --limit 20 --live --yes"),
)
def list_(domain: Domain = "US", limit: Limit | None = None, view: View | None = None) -> Request:
    """List the sellers with the most ratings, most rated first; the list is made anew every day.

    Costs 50 tokens. Up to 100,000 seller ids; kc sellers get tells more about them. The profile (view: topsellers)
    shows the first 25, or as many as --limit says.
    """
    return Request("GET", "/topseller", {"domain": domain_id(domain, "topseller")}, notes=limit_note(limit))
