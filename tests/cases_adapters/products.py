"""Verbs about parts of a product: coupons, holders of the used buy box."""

from __future__ import annotations

from typing import Any

from keepa_cli.keepa import coupons, decode, domains
from tests.cases_adapters import verb


@verb("coupon.decode")
def coupon_decode(given: dict[str, Any]) -> dict[str, Any]:
    return coupons.decode(given["coupon"], given["couponHistory"], domains.resolve(given["domain"]))


@verb("buybox.used_history")
def buybox_used_history(given: dict[str, Any]) -> dict[str, Any]:
    return {"events": decode.used_seller_events(given["history"])}
