"""Verbs about offers, deals and containers: raw fragments -> facts."""

from __future__ import annotations

from typing import Any

from keepa_cli.keepa import containers, dealview, domains, offers, productview
from tests.cases_adapters import verb


@verb("offers.current")
def offers_current(given: dict[str, Any]) -> dict[str, Any]:
    domain = domains.resolve(given["domain"])
    return {"offers": [offers.current_offer(offer, domain) for offer in given["offers"]]}


@verb("offers.live")
def offers_live(given: dict[str, Any]) -> dict[str, Any]:
    """The live offers in Amazon's order; the fragment is a product or holds its two fields."""
    live = offers.live_offers(given.get("product", given), domains.resolve(given["domain"]))
    return {"offers": live, "live": [offer["offerId"] for offer in live]}


@verb("deals.decode")
def deals_decode(given: dict[str, Any]) -> dict[str, Any]:
    domain = domains.resolve(given["domain"])
    listed = given.get("deals", [given["deal"]] if "deal" in given else [])
    listed = listed.get("dr") if isinstance(listed, dict) else listed
    return {"deals": [dealview.decode_deal(deal, domain) for deal in listed or []]}


@verb("containers")
def containers_read(given: dict[str, Any]) -> dict[str, Any]:
    return {"results": [contained(answer) for answer in given["answers"]]}


def contained(answer: dict[str, Any]) -> dict[str, Any]:
    body = answer["json"]
    if answer["op"] == "seller":
        found = containers.sellers(body, answer.get("asked", ()))
        return {seller: facts or "not_found" for seller, facts in found.items()}
    if answer["op"] == "bestsellers":
        return containers.best_sellers(body)
    if answer["op"] == "category":
        return {"categories": containers.categories(body)}
    return {"asins": containers.asins(body)}


@verb("product.view")
def product_view(given: dict[str, Any]) -> dict[str, Any]:
    domain = domains.resolve(given["domain"])
    return {"products": [productview.view_product(product, domain) for product in given["products"]]}
