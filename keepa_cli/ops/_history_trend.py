"""The answer of `history trend`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keepa_cli.keepa.clock import iso
from keepa_cli.keepa.domains import resolve
from keepa_cli.ops._batches import product_items
from keepa_cli.ops.history import WINDOW_DAYS
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.history.choose import chosen, lacking
from keepa_cli.research.history.tracks import tracks
from keepa_cli.research.history.trend import trend
from keepa_cli.research.needs import Need, Planner
from keepa_cli.research.subject import Subject, subjects

MAIN = ("new", "sales_rank", "buy_box_shipping", "new_offer_count", "rating", "review_count", "monthly_sold")


def trended(plan: Planner, body: Any, params: dict[str, Any]) -> dict[str, Any]:
    """`{view, asin, domain, now_at, items, series, next_actions}`."""
    shown = Section(view="history_trend", asin=params["asin"])
    asked = {**params, "asin": [params["asin"]]}
    found = next(subjects(body, resolve(params["domain"]), params), None)
    shown["items"] = product_items(body, asked)["items"]
    if found is None:
        shown.lack("series", Reason.NONE)
        return Section(shown, next_actions=[_tokens(plan)])
    shown["domain"] = found.domain.code
    shown["now_at"] = iso(found.now)
    shown["series"] = _series(found, params)
    return Section(shown, next_actions=list(_actions(plan, found, asked)))


def _series(subject: Subject, params: dict[str, Any]) -> Section:
    known = tracks(subject)
    asked = params.get("series") or [n for n in MAIN if len(known[n])] or [MAIN[0]]
    windows = sorted(set(params.get("window_days") or [WINDOW_DAYS]))
    full, empty = chosen(known, asked)
    series = Section()
    for track in full:
        if not track.unit.ordered:
            series.lack(track.name, Reason.NOT_APPLICABLE)
            continue
        series[track.name] = trend(subject, track, windows)
    for track in empty:
        series.lack(track.name, track.reason)
    for name in lacking(known, asked):
        series.lack(name, Reason.NONE)
    return series


def _actions(plan: Planner, subject: Subject, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if not subject.usable:
        yield _tokens(plan)
        return
    base = {"asin": params["asin"], "domain": subject.domain.code}
    names = {"series": params["series"]} if params.get("series") else {}
    gates = {k: params[k] for k in ("offers", "buybox", "rating") if params.get(k)}
    yield plan(Need.EXPORT_HISTORY, base | names | gates | {"out": "history.csv"}, "Every change behind these figures.")
    wanted = params.get("series") or MAIN
    if not subject.asked.buybox and any(name.startswith("buy_box") for name in wanted):
        yield plan(Need.GET_BUYBOX, base | {"full": True, "buybox": True}, "The buy box histories were not requested.")
    if not subject.asked.rating and any("rating" in name or "review" in name for name in wanted):
        yield plan(Need.GET_RATING, base | {"full": True, "rating": True}, "The rating histories were not requested.")


def _tokens(plan: Planner) -> dict[str, Any]:
    return plan(Need.CHECK_TOKENS, {}, "No product with data was found: see what is left before the next try.")
