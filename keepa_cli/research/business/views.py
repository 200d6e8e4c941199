"""The record of a product view, or of a row of a comparison. Nothing is computed anew: a view says what it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.core.paths import render
from keepa_cli.keepa.clock import from_iso
from keepa_cli.keepa.domains import DOMAINS, Domain
from keepa_cli.keepa.domains import NAMES as DOMAIN_NAMES
from keepa_cli.research.business.record import NAMES, PRICES, Fact, Metrics, Source, member, whole
from keepa_cli.research.facts import ABSENT, Reason

Places = Mapping[str, tuple[tuple[str, ...], ...]]
VIEW_PLACES: Places = {
    "buy_box": (("pricing", "buy_box"),),
    "new": (("pricing", "new"),),
    "monthly_sold": (("demand", "monthly_sold"),),
    "rank_drops_30": (("demand", "rank_drops", "30"),),
    "sales_rank": (("demand", "sales_rank"),),
    "total_offer_count": (("offers", "total_offer_count"),),
    "new_offer_count": (("offers", "new_offer_count"),),
    "new_fba_offer_count": (("offers", "new_fba_offer_count"),),
    "new_fbm_offer_count": (("offers", "new_fbm_offer_count"),),
    "seller_sample": (("offers", "buy_box_seller_count"),),
}
ROW_PLACES: Places = {
    "buy_box": (("buy_box_price",),),
    "new": (("new_price",),),
    "monthly_sold": (("monthly_sold",),),
    "rank_drops_30": (("rank_drops_30",), ("rank_drops", "30")),
    "sales_rank": (("sales_rank",),),
    "total_offer_count": (("total_offer_count",),),
    "new_offer_count": (("new_offer_count",), ("offer_count",)),
    "new_fba_offer_count": (("new_fba_offer_count",),),
    "new_fbm_offer_count": (("new_fbm_offer_count",),),
}
SHARE = "out_of_stock_pct"
SERIES = {"buy_box": "buy_box_shipping", "new": "new", "amazon": "amazon"}
UNUSABLE = ("unaccessible", "invalid", "not_found")
Path = tuple[str | int, ...]


def of_view(view: Mapping[str, Any], path: Path, domain: Domain, source: Source) -> Metrics:
    """The record of a product view of any profile; a section that the profile leaves out was not requested."""
    identity = member(view, "identity")
    found = _record(identity if isinstance(identity, Mapping) else {}, "product_view", path, domain, source)
    _gather(found, view, path, VIEW_PLACES)
    _shares(found, view, path, ("stats_summary", "series"))
    _sample(found, view, path)
    if (amazon := member(view, "pricing", "amazon")) is not None:
        at = (*path, "pricing", "amazon")
        found.facts["amazon_sells"] = Fact(_number(amazon) is not None, render(at), _at(amazon))
    elif member(view, "pricing", ABSENT, "amazon") == Reason.NONE.value:
        found.facts["amazon_sells"] = Fact(False, render((*path, "pricing", "amazon")))
    kind = member(identity, "kind")
    found.usable = kind not in UNUSABLE
    found.now = _minute(member(view, "provenance", "now_at") or member(identity, "updated_at"))
    return found


def of_row(row: Mapping[str, Any], path: Path, domain: Domain, source: Source) -> Metrics:
    """The record of one row of products.compare."""
    found = _record(row, "compare_row", path, domain, source)
    _gather(found, row, path, ROW_PLACES)
    _shares(found, row, path, ())
    found.usable = row.get("status") not in UNUSABLE
    return found


def _record(named: Mapping[str, Any], form: str, path: Path, domain: Domain, source: Source) -> Metrics:
    asin, title, code = named.get("asin"), named.get("title"), named.get("domain")
    known = DOMAIN_NAMES.get(code.lower(), domain) if isinstance(code, str) else domain
    return Metrics(
        asin if isinstance(asin, str) else None,
        title if isinstance(title, str) else None,
        *(known, form, render(path), source),
    )


def _believe_currency(found: Metrics, data: Mapping[str, Any], places: Places) -> None:
    """Amounts keep the currency that they are given in: a row names no marketplace, and a guess is told as one."""
    told = [member(data, *steps, "currency") for name in PRICES for steps in places[name]]
    known = sorted({c for c in told if isinstance(c, str)})
    if known and found.domain.currency not in known:
        fitting = [d for d in DOMAINS.values() if d.currency == known[0]]
        if fitting:
            found.domain, found.domain_known = fitting[0], len(fitting) == 1
        else:
            for name in PRICES:
                found.facts.pop(name, None)
                found.absent[name] = Reason.UNREADABLE


def _gather(
    found: Metrics,
    data: Mapping[str, Any],
    path: Path,
    places: Mapping[str, tuple[tuple[str, ...], ...]],
) -> None:
    for name, candidates in places.items():
        for steps in candidates:
            value = member(data, *steps)
            number = _number(value)
            if number is not None:
                found.facts[name] = Fact(number, render((*path, *steps)), _at(value), _via(value))
                break
            if (reason := _reason(data, steps)) is not None:
                found.absent.setdefault(name, reason)
    _believe_currency(found, data, places)
    for name in NAMES:
        if name not in found.facts:
            found.absent.setdefault(name, Reason.NOT_REQUESTED)


def _reason(data: Mapping[str, Any], steps: tuple[str, ...]) -> Reason | None:
    """The reason that the view itself gives for a null."""
    told = member(data, *steps[:-1], ABSENT, steps[-1]) or member(data, *steps, ABSENT, "value")
    return Reason(told) if isinstance(told, str) and told in set(Reason) else None


def _number(value: Any) -> int | None:
    """The number of a plain value, of money in minor units, or of a fact."""
    if isinstance(value, Mapping):
        value = value["raw"] if "raw" in value else value.get("value")
        return _number(value) if isinstance(value, Mapping) else whole(value)
    return whole(value)


def _at(value: Any) -> str | None:
    at = member(value, "at")
    return at if _minute(at) else None


def _via(value: Any) -> str:
    method = member(value, "method")
    return method if isinstance(method, str) else ""


def _minute(text: Any) -> int:
    try:
        return from_iso(text) if isinstance(text, str) else 0
    except (ValueError, OverflowError):
        return 0


def _shares(found: Metrics, data: Mapping[str, Any], path: Path, below: tuple[str, ...]) -> None:
    """Out-of-stock shares by series and days: in the statistics of a view, beside the prices of a row."""
    for name, series in SERIES.items():
        for days in (30, 90):
            steps = (*below, series, SHARE, str(days)) if below else (SHARE, series, str(days))
            if (share := _number(member(data, *steps))) is not None and share <= 100:
                found.facts[f"out_of_stock_{days}_{name}"] = Fact(share, render((*path, *steps)), None, "view")


def _sample(found: Metrics, view: Mapping[str, Any], path: Path) -> None:
    """The sellers of the live offers that the view names, where it names any."""
    rows = member(view, "offers", "live")
    named = rows if isinstance(rows, list) else []
    sellers = {r["seller_id"] for r in named if isinstance(r, Mapping) and isinstance(r.get("seller_id"), str)}
    if sellers:
        found.facts["seller_sample"] = Fact(len(sellers), render((*path, "offers", "live")), None, "live_offers")
