"""The endpoints: parameters in, payload and price out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.keepa.clock import even_minute
from keepa_cli.sandbox import params as read
from keepa_cli.sandbox import prices, spoil
from keepa_cli.sandbox.catalogue import Catalogue
from keepa_cli.sandbox.catalogue.catalogue import Kept
from keepa_cli.sandbox.catalogue.options import Options
from keepa_cli.sandbox.config import SandboxConfig
from keepa_cli.sandbox.messages import Call, dumps, invalid_parameter
from keepa_cli.sandbox.stored import Stored

MAX_FOUND_CATEGORIES = 50
SHORTEST_KEYWORD = 3
SEARCH_OPTIONS = frozenset({"history", "rating", "stats", "update"})
KEPT_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class Answer:
    """`body` is a whole stored answer that goes out untouched; else the envelope is put around `payload`."""

    payload: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    body: bytes | None = None


class Shop:
    """What the endpoints answer from: the invented catalogue, stored bodies, and encoded products."""

    def __init__(self, config: SandboxConfig) -> None:
        self.catalogue = Catalogue(config.seed)
        self.stored = Stored(config.data) if config.data is not None else None
        self._encoded = Kept(KEPT_BYTES, lambda made: len(made[1]))

    def encoded(self, asin: str, domain: int, asked: Options, now: int) -> tuple[prices.Facts, bytes]:
        """A product and what its price depends on. Kept until the minute or the refresh it was made for is over."""
        fresh = now if asked.with_stats or asked.days else self.catalogue.updated(asin, domain, asked.update, now)

        def make() -> tuple[prices.Facts, bytes]:
            product = self.catalogue.product(asin, domain, asked, now)
            return prices.facts(product), dumps(product)

        return self._encoded.made((asin, domain, asked, fresh), make)


@dataclass(frozen=True)
class Endpoint:
    run: Callable[[Shop, Call, int, Sequence[str]], Answer]
    free: bool = False


def _product(shop: Shop, call: Call, now_ms: int, spoiled: Sequence[str]) -> Answer:
    domain = read.domain(call.params, call.path)
    kind, values = read.items(call.params)
    asked, limit = read.options(call.params), read.code_limit(call.params)
    asins = values
    if kind == "code":
        asins = [asin for code in values for asin in shop.catalogue.by_code(code)[:limit]]
    elif shop.stored is not None:
        body = shop.stored.find(domain, values, call.params)
        if body is not None:
            return Answer(tokens=body.tokens, body=body.spoiled(spoiled) if spoiled else body.data)
    payload, found = _products(shop, domain, asins, asked, now_ms, spoiled)
    return Answer(payload, prices.products(found, call.params, even_minute(now_ms)))


def _products(
    shop: Shop, domain: int, asins: Sequence[str], asked: Options, now_ms: int, spoiled: Sequence[str]
) -> tuple[Mapping[str, Any], list[prices.Facts]]:
    """The payload and what each product of it is priced by."""
    now = even_minute(now_ms)
    if spoiled:
        products = [shop.catalogue.product(asin, domain, asked, now) for asin in asins]
        payload = {} if "missing-products" in spoiled else {"products": spoil.products(products, spoiled, now)}
        return payload, [prices.facts(product) for product in products]
    made = [shop.encoded(asin, domain, asked, now) for asin in asins]
    return {"products": b"[" + b",".join(data for _, data in made) + b"]"}, [facts for facts, _ in made]


def _search(shop: Shop, call: Call, now_ms: int, spoiled: Sequence[str]) -> Answer:
    kinds = {"product": _search_product, "category": _search_category}
    kind = call.params.get("type", "")
    if kind not in kinds:
        raise invalid_parameter("type")
    return kinds[kind](shop, call, now_ms, spoiled)


def _search_product(shop: Shop, call: Call, now_ms: int, spoiled: Sequence[str]) -> Answer:
    domain, words = read.domain(call.params, call.path), read.term(call.params)
    asins = shop.catalogue.search(words)
    if read.flag(call.params, "asins-only"):
        return Answer({"asinList": asins}, prices.search([], {}, 0))
    known = {name: value for name, value in call.params.items() if name in SEARCH_OPTIONS}
    payload, found = _products(shop, domain, asins, read.options(known), now_ms, spoiled)
    return Answer(payload, prices.search(found, known, even_minute(now_ms)))


def _search_category(shop: Shop, call: Call, _: int, __: Sequence[str]) -> Answer:
    domain, words = read.domain(call.params, call.path), read.term(call.params)
    if any(len(word) < SHORTEST_KEYWORD for word in words):
        raise invalid_parameter("term", status=200)
    found = shop.catalogue.tree(domain).search(words)[:MAX_FOUND_CATEGORIES]
    return _categories(shop, domain, found, read.flag(call.params, "parents"))


def _category(shop: Shop, call: Call, _: int, __: Sequence[str]) -> Answer:
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


def _token(_: Shop, __: Call, ___: int, ____: Sequence[str]) -> Answer:
    return Answer()


ENDPOINTS: Mapping[str, Endpoint] = {
    "/product": Endpoint(_product),
    "/search": Endpoint(_search),
    "/category": Endpoint(_category),
    "/token": Endpoint(_token, free=True),
}
