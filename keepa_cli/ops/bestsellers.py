"""Best sellers of a category."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, invalid
from keepa_cli.core.registry import Param, Request, operation
from keepa_cli.keepa import costs, domains
from keepa_cli.keepa.clock import DAY, from_iso, to_datetime
from keepa_cli.keepa.containers import best_sellers
from keepa_cli.ops import _inputs
from keepa_cli.ops._list_views import Category, View, shaped
from keepa_cli.ops._listing import Limit, cut, limit_note
from keepa_cli.ops._names import BESTSELLERS_GET
from keepa_cli.ops._params import Domain, domain_id

if TYPE_CHECKING:
    from keepa_cli.research.analysis.churn import Snapshot

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


@operation(
    "bestsellers.churn",
    toolset="research",
    examples=(
        "kc bestsellers churn now.json august.json last-year.json",
        "kc bestsellers churn --fixture bestsellers_kitchen now.json --depth 50",
    ),
)
def churn(
    ctx: Context,
    input: Annotated[  # noqa: A002
        list[str],
        Param(
            "Lists of one category: --out files or saved output of kc --json.",
            metavar="FILE",
            position=True,
            whole=True,
        ),
    ] = [],  # noqa: B006
    fixture: _inputs.Fixtures = [],  # noqa: B006
    depth: Annotated[int, Param("Compare the first N of every list.", metavar="N", min=1, max=500_000)] = 100,
) -> dict[str, Any]:
    """Tell how fast the best sellers of a category change, from lists that are already here. Costs nothing.

    The newest list is compared with those nearest to 91 days (at most 21 days off) and 365 days (at most 45 days off)
    before it. Lists are dated by their lastUpdate, those of --month with --year by the end of that month. Labels:
    fomo_spike_die, high_churn, mature_stable, blue_ocean, else unlabelled.
    """
    from keepa_cli.research.analysis import churn as analysis

    given = _inputs.read(ctx, input, fixture)
    found = [_snapshot(ctx, one) for one in given]
    unread = [one.name for one, snap in zip(given, found, strict=True) if snap is None]
    usable = [snap for snap in found if snap is not None]
    if not usable:
        raise invalid("None of the inputs holds a best seller list with a time.", field="input", value=unread[0])
    _same(usable, "category")
    _same(usable, "domain")
    result = analysis.churn(usable, depth)
    return {
        "view": analysis.VIEW,
        "one_line": _churn_line(result),
        **result,
        "snapshots": [s.described() for s in sorted(usable, key=lambda s: s.minute)],
        "next_actions": _lacking(ctx, result, usable),
        "warnings": _churn_warnings(unread, usable),
    }


def _snapshot(ctx: Context, given: _inputs.Given) -> Snapshot | None:
    from keepa_cli.research.analysis.churn import snapshot
    from keepa_cli.research.inputs import unwrapped

    query, recorded = _asked(ctx, given)
    kind = ",".join(f"{name}={query[name]}" for name in ("range", "sublist", "variations") if query.get(name))
    moment, dated_by = recorded, "recorded_at"
    year, month = query.get("year", ""), query.get("month", "")
    if year.isdecimal() and month.isdecimal() and 1 <= int(month) <= 12 and 2011 <= int(year) <= 9000:
        moment, dated_by = _month_end(int(year), int(month)), "month"
    return snapshot(given.name, unwrapped(given.data), moment=moment, dated_by=dated_by, kind=kind)


def _asked(ctx: Context, given: _inputs.Given) -> tuple[dict[str, str], int | None]:
    """The query that an input answers and when it was recorded, as far as it tells."""
    if given.source == "fixture":
        from urllib.parse import parse_qsl, urlsplit

        from keepa_cli.ops import _cassettes_files

        url = _cassettes_files.fixture(ctx, given.name).exchanges[-1].url
        return dict(parse_qsl(urlsplit(url).query)), None
    data = given.data if isinstance(given.data, dict) else {}
    request, source = data.get("request"), data.get("provenance")
    query = request.get("query") if isinstance(request, dict) else None
    recorded = source.get("recorded_at") if isinstance(source, dict) else None
    try:
        minute = from_iso(recorded) if isinstance(recorded, str) else None
    except (ValueError, OverflowError):
        minute = None
    return {str(k): str(v) for k, v in query.items()} if isinstance(query, dict) else {}, minute


def _month_end(year: int, month: int) -> int:
    after = (year + 1, 1) if month == 12 else (year, month + 1)
    return from_iso(f"{after[0]}-{after[1]:02d}-01")


def _same(found: list[Snapshot], what: Literal["category", "domain"]) -> None:
    """Refuse lists of different categories or marketplaces: nothing would follow from comparing them."""
    values = {getattr(s, what) for s in found} - {None}
    if len(values) > 1:
        shown = ", ".join(f"{s.source} ({getattr(s, what)})" for s in found)
        raise invalid(f"The lists are of more than one {what}: {shown}.", field="input", value=sorted(values))


def _churn_line(result: Mapping[str, Any]) -> str:
    parts = []
    for name, window in result["windows"].items():
        value = window["left_share"]["value"]
        words = name.replace("_", " ")
        parts.append(f"{words}: no list to compare" if value is None else f"{words}: {value:.0%} left")
    return f"{'; '.join(parts)}. Label: {result['label']['code']} ({result['label']['why']})."


def _churn_warnings(unread: list[str], found: list[Snapshot]) -> list[dict[str, Any]]:
    said = [f"{name} holds no best seller list with a time; it is left out." for name in unread]
    if len({s.kind for s in found}) > 1:
        said.append(
            "The lists are ranked in different ways (range, sublist, variations): a part of the change is that."
        )
    return [{"code": "churn", "message": message} for message in said]


def _lacking(ctx: Context, result: Mapping[str, Any], found: list[Snapshot]) -> list[dict[str, Any]]:
    """Keepa still has lists of past months: the calls that would fill the windows without a list."""
    from keepa_cli.ops._actions import action
    from keepa_cli.research.facts import ABSENT

    newest = max(found, key=lambda s: s.minute)
    domain = domains.DOMAINS.get(newest.domain or 0)
    actions = []
    for window in result["windows"].values() if newest.category and domain else ():
        if "compared_with" not in window.get(ABSENT, {}):
            continue
        near = to_datetime(newest.minute - (window["days"] + 15) * DAY)
        try:
            month_check(near.year, near.month)(ctx.now())
        except KeepaCliError:
            continue
        params = {
            "category": str(newest.category), "domain": domain.code if domain else "US", "month": near.month,
            "year": near.year,
        }  # fmt: skip
        reason = f"Get the list of {near.year}-{near.month:02d}, and compare again."
        actions.append({"action": "get_bestsellers", "reason": reason} | action(ctx, BESTSELLERS_GET, params))
    return actions
