"""/tracking: watched products and what they gave rise to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from keepa_cli.keepa import costs
from keepa_cli.keepa.tracking import MAX_LIST_NAME
from keepa_cli.sandbox import params as read
from keepa_cli.sandbox import selections
from keepa_cli.sandbox.messages import Call, Refusal, error_of, invalid_parameter
from keepa_cli.sandbox.shop import Answer, Shop
from keepa_cli.sandbox.trackings.hooks import is_allowed

MAX_ADDED = 3000
MAX_PER_PAGE = 100_000
TOLD = "invalidParameter"
ADD = "add"


def is_free(call: Call) -> bool:
    return call.params.get("type") != ADD


def tracking(shop: Shop, call: Call, _: int, __: Sequence[str]) -> Answer:
    kind, name = call.params.get("type", ""), call.params.get("list") or None
    if kind not in TYPES:
        raise invalid_parameter("type")
    if call.method == "POST" and kind != ADD and call.body:
        raise Refusal(405, "methodNotAllowed", f"Only type={ADD} takes POST.")
    if name is not None and len(name) > MAX_LIST_NAME:
        raise invalid_parameter("list")
    return TYPES[kind](shop, call, name)


def _add(shop: Shop, call: Call, name: str | None) -> Answer:
    given = selections.body_of(call, "tracking")
    items = given if isinstance(given, list) else [given]
    if not 1 <= len(items) <= MAX_ADDED or not isinstance(given, list | dict):
        raise invalid_parameter("tracking")
    found, failed = shop.desk.add(items, name)
    payload: dict[str, Any] = {"trackings": found}
    if failed:
        payload["error"] = error_of(TOLD, f"These trackings could not be added: {','.join(failed)}")
    return Answer(payload, costs.tracking(ADD, len(found)).estimated)


def _get(shop: Shop, call: Call, name: str | None) -> Answer:
    asin = _asin(call)
    found = shop.desk.get(asin, name)
    return Answer({"trackings": [found]}) if found else _not_tracked(asin)


def _list(shop: Shop, call: Call, name: str | None) -> Answer:
    if read.flag(call.params, "asins-only"):
        return Answer({"asinList": shop.desk.asins(name)})
    page, per_page = read.integer(call.params, "page"), read.integer(call.params, "perPage")
    if (page is not None and page < 0) or (per_page is not None and not 1 <= per_page <= MAX_PER_PAGE):
        raise invalid_parameter("page" if page is not None and page < 0 else "perPage")
    size = per_page or MAX_PER_PAGE
    return Answer({"trackings": shop.desk.listed(name)[(page or 0) * size : ((page or 0) + 1) * size]})


def _remove(shop: Shop, call: Call, name: str | None) -> Answer:
    asin = _asin(call)
    return Answer() if shop.desk.remove(asin, name) else _not_tracked(asin)


def _remove_all(shop: Shop, _: Call, name: str | None) -> Answer:
    shop.desk.remove_all(name)
    return Answer()


def _notification(shop: Shop, call: Call, name: str | None) -> Answer:
    since = read.integer(call.params, "since") or 0
    found = shop.desk.notifications(
        since=since,
        list_name=name,
        revise=read.flag(call.params, "revise"),
        every=read.flag(call.params, "all"),
        read_only=read.flag(call.params, "readOnly"),
    )
    return Answer({"notifications": found})


def _list_names(shop: Shop, _: Call, __: str | None) -> Answer:
    return Answer({"trackingListNames": shop.desk.names()})


def _webhook(shop: Shop, call: Call, _: str | None) -> Answer:
    url = call.params.get("url", "")
    if not is_allowed(url):
        raise invalid_parameter("url")
    shop.desk.set_webhook(url)
    return Answer()


def _asin(call: Call) -> str:
    asin = call.params.get("asin", "")
    if not read.ASIN.fullmatch(asin):
        raise invalid_parameter("asin")
    return asin


def _not_tracked(asin: str) -> Answer:
    return Answer({"error": error_of(TOLD, f"{asin} is not tracked.")})


TYPES: Mapping[str, Callable[[Shop, Call, str | None], Answer]] = {
    ADD: _add,
    "get": _get,
    "list": _list,
    "remove": _remove,
    "removeAll": _remove_all,
    "notification": _notification,
    "listNames": _list_names,
    "webhook": _webhook,
}
