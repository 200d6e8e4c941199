"""/query: the product finder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keepa_cli.keepa import costs
from keepa_cli.keepa.finder import field_of
from keepa_cli.keepa.finderfields import CONTROL, fields, sortable
from keepa_cli.sandbox import params as read
from keepa_cli.sandbox import selections
from keepa_cli.sandbox.finder.filters import matching
from keepa_cli.sandbox.finder.insights import insights
from keepa_cli.sandbox.finder.values import number
from keepa_cli.sandbox.messages import Call, invalid_parameter
from keepa_cli.sandbox.shop import Answer, Shop

DEFAULT_SORT = [["current_SALES", "asc"]]


def query(shop: Shop, call: Call, now: int, _: Sequence[str]) -> Answer:
    domain, with_stats = read.domain(call.params, call.path), read.flag(call.params, "stats")
    given = selections.selection(call)
    filters = _filters(given)
    page, per_page = selections.paging(given)
    order = selections.sorting(given, sortable(), DEFAULT_SORT)
    least = selections.least_matches(given, [name for name, spec in fields().items() if spec.many])
    found = selections.ordered(matching(shop.catalogue.entries(domain, now), filters, least), order, number)
    shown = [entry.asin for entry in found[page * per_page : (page + 1) * per_page]]
    payload: dict[str, Any] = {"asinList": shown, "totalResults": len(found)}
    if with_stats:
        payload["searchInsights"] = insights(found)
    return Answer(payload, costs.charge_query(len(shown), matched=len(found) if with_stats else None))


def _filters(given: dict[str, Any]) -> dict[str, Any]:
    """The filters that Keepa knows; others are ignored, as parameters are, but one must be left."""
    found = {}
    for name, value in given.items():
        spec = None if name in CONTROL else field_of(name)
        if spec is not None:
            found[name] = selections.checked(name, value, spec)
    if not found:
        raise invalid_parameter("selection")
    return found
