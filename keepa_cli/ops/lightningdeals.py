"""Lightning deals: short offers of Amazon with a limited stock."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from keepa_cli.core.registry import Param, Request, operation
from keepa_cli.keepa import costs, domains
from keepa_cli.keepa.clock import field_time
from keepa_cli.keepa.money import amount, tenths
from keepa_cli.ops._listing import Limit, cut, limit_note, rows
from keepa_cli.ops._params import Asin, Domain, domain_id

States = Literal["AVAILABLE", "WAITLIST", "SOLDOUT", "WAITLISTFULL", "EXPIRED", "SUPPRESSED", "UPCOMING"]
State = Annotated[
    States,
    Param("Only deals in this state.", metavar="STATE", parse=lambda value: value.strip().upper()),
]


def _view(body: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    deals = body.get("lightningDeals")
    found = rows(deals)
    shown = cut(found, params.get("limit"))
    if len(shown) < len(found):
        body = body | {"lightningDeals": shown}
    domain = domains.resolve(params["domain"])
    return {"count": len(found), "shown": len(shown), "items": [_row(d, domain) for d in shown], "body": body}


def _row(deal: dict[str, Any], asked: domains.Domain) -> dict[str, Any]:
    number = deal.get("domainId")
    domain = domains.DOMAINS.get(number, asked) if isinstance(number, int) else asked
    return {
        "asin": deal.get("asin"),
        "title": deal.get("title"),
        "state": deal.get("dealState"),
        "deal_price": amount(deal.get("dealPrice"), domain),
        "current_price": amount(deal.get("currentPrice"), domain),
        "currency": domain.currency,
        "percent_off": deal.get("percentOff"),
        "percent_claimed": deal.get("percentClaimed"),
        "starts": field_time(deal.get("startTime")),
        "ends": field_time(deal.get("endTime")),
        "stars": tenths(deal.get("rating")),
        "ratings": deal.get("totalReviews"),
    }


@operation(
    "lightningdeals.list",
    toolset="research",
    cost=lambda params: costs.lightningdeal(params["asin"]),
    returns="lightningdeal",
    view=_view,
    examples=(
        "kc lightningdeals list --asin B001GZ6QEC --domain US",
        "kc lightningdeals list --domain US --state AVAILABLE --dry-run",
    ),
)
def list_(
    domain: Domain = "US",
    asin: Annotated[Asin | None, Param("Only the deals of this product: 1 token instead of 500.")] = None,
    state: State | None = None,
    limit: Limit | None = None,
) -> Request:
    """List the lightning deals of the last four days, expired ones included.

    Costs 500 tokens, 1 with --asin. A product without a deal gives an empty list.
    """
    query = {"domain": domain_id(domain, "lightningdeal"), "asin": asin, "state": state}
    return Request("GET", "/lightningdeal", query, asked=(asin,) if asin else (), notes=limit_note(limit))
