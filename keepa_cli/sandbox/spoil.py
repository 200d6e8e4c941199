"""The broken answers that faults ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from keepa_cli.sandbox.bodies import Body
from keepa_cli.sandbox.bucket import BucketState
from keepa_cli.sandbox.faults import Fault
from keepa_cli.sandbox.messages import HTML_TYPE, Reply, dumps, envelope

ENDINGS = {"reset-after-request": "reset", "cut-body": "cut-body", "truncated-gzip": "truncated-gzip"}
GATEWAY_PAGE = (
    b"<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head>\r\n<body>\r\n"
    b"<center><h1>503 Service Temporarily Unavailable</h1></center>\r\n</body>\r\n</html>\r\n"
)
PROXY_PAGE = (
    b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>This network needs a sign-in.</body></html>"
)
UNKNOWN_MEMBER = "SANDBOX_UNKNOWN"


def server_error(message: str, now_ms: int) -> Reply:
    error = {"details": "", "message": message, "type": "internalServerError"}
    return Reply(500, Body((dumps({"error": error, "timestamp": now_ms}),)))


def instead(fault: Fault, bucket: BucketState, now_ms: int) -> Reply:
    """The answer to a request that is not executed."""
    if fault.name == "500":
        return server_error("An unexpected error occurred.", now_ms)
    if fault.name == "503":
        return Reply(503, Body((GATEWAY_PAGE,)), HTML_TYPE)
    if fault.name == "html":
        return Reply(int(fault.value or 200), Body((PROXY_PAGE,)), HTML_TYPE)
    if fault.name == "429":
        wait = bucket.refill_in_ms if fault.value is None else int(fault.value)
        bucket = replace(bucket, tokens_left=min(bucket.tokens_left, 0), refill_in_ms=wait)
        error = {"details": "", "message": "You have no API tokens available.", "type": "notEnoughToken"}
        return Reply(429, envelope({"error": error}, bucket, now_ms, 0, 0))
    error = {"details": "", "message": "The request could not be processed.", "type": "invalidParameter"}
    return Reply(200, envelope({"error": error}, bucket, now_ms, 0, 0))


def payload(given: Mapping[str, Any], names: Sequence[str], minute: int) -> dict[str, Any]:
    """The payload of any endpoint as the `content` faults want it."""
    if "missing-products" in names:
        return {}
    found = dict(given)
    if "products" in found:
        found["products"] = products(found["products"], names, minute)
    if "extra-csv" in names and "deals" in found:
        found["deals"] = found["deals"] | {"dr": [_longer(deal) for deal in found["deals"]["dr"]]}
    if "new-enum" in names and "lightningDeals" in found:
        found["lightningDeals"] = [deal | {"dealState": UNKNOWN_MEMBER} for deal in found["lightningDeals"]]
    for name in {"categories", "categoryParents"} & found.keys() if "type-flip" in names else ():
        found[name] = {i: _flipped(category) for i, category in found[name].items()}
    return found


def _longer(deal: Mapping[str, Any]) -> dict[str, Any]:
    """A deal whose arrays have one more price type."""
    flat = {name: [*deal[name], -1] for name in ("current", "currentSince", "deltaLast")}
    return {**deal, **flat, **{name: [[*row, -2] for row in deal[name]] for name in ("avg", "delta", "deltaPercent")}}


def _flipped(category: Mapping[str, Any]) -> dict[str, Any]:
    name = "websiteDisplayGroup"
    return {**category, **({name: [category[name]]} if name in category else {})}


def products(found: list[dict[str, Any]], names: Sequence[str], minute: int) -> list[dict[str, Any]]:
    """The products as the `content` faults want them; the given ones stay as they are."""
    for name in names:
        if name in _CHANGES:
            found = [_CHANGES[name](dict(product), minute) for product in found]
    return found


def _new_enum(product: dict[str, Any], _: int) -> dict[str, Any]:
    product["deals"] = [{"accessType": UNKNOWN_MEMBER, "badge": "New kind of deal", "dealType": UNKNOWN_MEMBER}]
    promotion = {"amount": 1, "discountPercent": 1, "sellerId": None, "snsBulkDiscountPercent": None}
    product["promotions"] = [promotion | {"type": UNKNOWN_MEMBER}]
    if product.get("stats"):
        product["stats"] = product["stats"] | {"buyBoxAvailabilityMessage": UNKNOWN_MEMBER}
    return product


def _extra_csv(product: dict[str, Any], minute: int) -> dict[str, Any]:
    if product.get("csv"):
        product["csv"] = [*product["csv"], [minute - 1440, 7]]
    stats = product.get("stats")
    if stats:
        width = len(stats["current"])
        fill = {
            name: _filler(value) for name, value in stats.items() if isinstance(value, list) and len(value) == width
        }
        product["stats"] = stats | {name: [*stats[name], value] for name, value in fill.items()}
    return product


def _filler(values: list[Any]) -> Any:
    """What an array of statistics holds for a price type without data."""
    if any(isinstance(v, bool) for v in values):
        return False
    return None if any(v is None or isinstance(v, list) for v in values) else -1


def _type_flip(product: dict[str, Any], _: int) -> dict[str, Any]:
    for name in ("websiteDisplayGroup", "websiteDisplayGroupName"):
        product[name] = [product[name]] if isinstance(product.get(name), str) else []
    return product


_CHANGES = {"new-enum": _new_enum, "extra-csv": _extra_csv, "type-flip": _type_flip}
