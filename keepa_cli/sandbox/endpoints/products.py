"""/product, /search and /category."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keepa_cli.sandbox import params as read
from keepa_cli.sandbox import prices
from keepa_cli.sandbox.messages import Call, invalid_parameter
from keepa_cli.sandbox.shop import Answer, Shop

MAX_FOUND_CATEGORIES = 50
SHORTEST_KEYWORD = 3
SEARCH_OPTIONS = frozenset({"history", "rating", "stats", "update"})


def product(shop: Shop, call: Call, now: int, spoiled: Sequence[str]) -> Answer:
    domain = read.domain(call.params, call.path)
    kind, values = read.items(call.params)
    asked, limit = read.options(call.params), read.code_limit(call.params)
    asins = values
    if kind == "code":
        asins = [asin for code in values for asin in shop.catalogue.by_code(code)[:limit]]
    elif shop.stored is not None:
        body = shop.stored.find(domain, values, call.params)
        if body is not None:
            return Answer(tokens=body.tokens, body=body.spoiled(spoiled) if spoiled else body.chunk)
    found = [shop.catalogue.product(asin, domain, asked, now) for asin in asins]
    return Answer({"products": found}, prices.products(found, call.params, now))


def search(shop: Shop, call: Call, now: int, _: Sequence[str]) -> Answer:
    kinds = {"product": _search_product, "category": _search_category}
    kind = call.params.get("type", "")
    if kind not in kinds:
        raise invalid_parameter("type")
    return kinds[kind](shop, call, now)


def _search_product(shop: Shop, call: Call, now: int) -> Answer:
    domain, words = read.domain(call.params, call.path), read.term(call.params)
    asins = shop.catalogue.search(words)
    if read.flag(call.params, "asins-only"):
        return Answer({"asinList": asins}, prices.search([], {}, 0))
    known = {name: value for name, value in call.params.items() if name in SEARCH_OPTIONS}
    asked = read.options(known)
    found = [shop.catalogue.product(asin, domain, asked, now) for asin in asins]
    return Answer({"products": found}, prices.search(found, known, now))


def _search_category(shop: Shop, call: Call, _: int) -> Answer:
    domain, words = read.domain(call.params, call.path), read.term(call.params)
    if any(len(word) < SHORTEST_KEYWORD for word in words):
        raise invalid_parameter("term", status=200)
    found = shop.catalogue.tree(domain).search(words)[:MAX_FOUND_CATEGORIES]
    return _categories(shop, domain, found, read.flag(call.params, "parents"))


def category(shop: Shop, call: Call, _: int, __: Sequence[str]) -> Answer:
    domain, asked = read.domain(call.params, call.path), read.categories(call.params)
    tree = shop.catalogue.tree(domain)
    ids = tree.roots if asked == [0] else [i for i in asked if i in tree.nodes]
    return _categories(shop, domain, ids, read.flag(call.params, "parents"))


def _categories(shop: Shop, domain: int, ids: Sequence[int], parents: bool) -> Answer:
    tree = shop.catalogue.tree(domain)
    payload: dict[str, Any] = {"categories": {str(i): tree.category(i) for i in ids}}
    if parents:
        payload["categoryParents"] = {str(i): tree.category(i) for i in tree.parents(list(ids))}
    return Answer(payload, prices.CATEGORY)
