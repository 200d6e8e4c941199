"""Best sellers of a category."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.errors import invalid
from keepa_cli.core.registry import Param, Request, operation
from keepa_cli.keepa import costs
from keepa_cli.keepa.containers import best_sellers
from keepa_cli.ops._list_views import Category, View, shaped
from keepa_cli.ops._listing import Limit, cut, limit_note
from keepa_cli.ops._names import BESTSELLERS_GET
from keepa_cli.ops._params import Domain, domain_id

MONTHS_KEPT = 36


Month = Annotated[int | None, Param("Ranks of a past month, with --year: one of the last 36.", min=1, max=12)]
Year = Annotated[int | None, Param("The year of --month.", min=2011, max=9999)]


def _view(body: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    found = best_sellers(body)
    shown = cut(found["asins"], params.get("limit"))
    if len(shown) < len(found["asins"]):
        nested = body.get("bestSellersList")
        if isinstance(nested, dict) and nested:
            body = body | {"bestSellersList": nested | {"asinList": shown}}
        else:
            body = body | {"asinList": shown}
    return {"count": len(found["asins"]), "shown": len(shown), "last_update": found["at"], "body": body}


def _finish(ctx: Context, _: Any, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    from keepa_cli.research.lists import rankings

    return shaped(ctx, data, params, lambda listing: rankings.bestsellers(listing, data["count"]))


def _check(given: Mapping[str, Any]) -> None:
    """Refuse combinations that Keepa does not know."""
    if (given["month"] is None) != (given["year"] is None):
        lacking = "year" if given["year"] is None else "month"
        raise invalid(f"--month and --year go together: {lacking} is missing.", field=lacking, value=None)
    ways = [name for name in ("range", "month", "sublist") if given[name] is not None and given[name] is not False]
    if len(ways) > 1:
        first, second = ways[:2]
        raise invalid(f"--{first} and --{second} cannot be combined.", field=second, value=given[second])


def month_check(year: int, month: int) -> Callable[[datetime], None]:
    """Keepa answers for the last 36 complete months: not for this month, and not for older ones."""

    def check(now: datetime) -> None:
        age = now.year * 12 + now.month - (year * 12 + month)
        if not 1 <= age <= MONTHS_KEPT:
            first, last = _month(now, MONTHS_KEPT), _month(now, 1)
            raise invalid(
                f"Keepa keeps best sellers of the months {first} to {last}, not of {year}-{month:02d}.",
                field="month",
                value=month,
                allowed=f"{first} to {last}",
            )

    return check


def _month(now: datetime, ago: int) -> str:
    year, month = divmod(now.year * 12 + now.month - 1 - ago, 12)
    return f"{year}-{month + 1:02d}"


@operation(
    BESTSELLERS_GET,
    toolset="research",
    cost=lambda _: costs.bestsellers(),
    returns="bestsellers",
    view=_view,
    finish=_finish,
    examples=(
        "kc bestsellers get 172282 --domain US",
        "kc bestsellers get Beauty --range 30 --limit 100 --dry-run",
        "kc bestsellers get 172282 --month 8 --year 2026 --live --yes",
    ),
)
def get(
    category: Category,
    domain: Domain = "US",
    range: Annotated[  # noqa: A002
        Literal[0, 30, 90, 180] | None, Param("Rank by the average of the last N days; 0 is the current rank.")
    ] = None,
    month: Month = None,
    year: Year = None,
    variations: Annotated[bool, Param("List every variation, not one per parent.")] = False,
    sublist: Annotated[bool, Param("Rank within the category itself, not by the root category.")] = False,
    limit: Limit | None = None,
    view: View | None = None,
) -> Request:
    """List the best sellers of a category, best rank first.

    Costs 50 tokens, nothing where there is no list (an empty result). A list holds up to 500,000 ASINs.
    --range, --month with --year, and --sublist exclude each other. The profile (view: bestsellers) shows the first 25,
    or as many as --limit says.
    """
    _check({"range": range, "month": month, "year": year, "sublist": sublist})
    query = {
        "domain": domain_id(domain, "bestsellers"), "category": category, "range": range, "month": month,
        "year": year, "variations": variations or None, "sublist": sublist or None,
    }  # fmt: skip
    check = month_check(year, month) if year is not None and month is not None else None
    return Request("GET", "/bestsellers", query, notes=limit_note(limit), check=check)
