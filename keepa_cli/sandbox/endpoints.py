"""The endpoints: parameters in, payload and price out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from keepa_cli.keepa.clock import even_minute
from keepa_cli.sandbox import params as read
from keepa_cli.sandbox import prices, spoil
from keepa_cli.sandbox.bodies import Chunk
from keepa_cli.sandbox.catalogue import Catalogue
from keepa_cli.sandbox.catalogue.catalogue import Kept
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
    body: Chunk | None = None

    def encoded(self) -> Answer:
        return replace(self, payload={name: Chunk(dumps(value)) for name, value in self.payload.items()})

    def weight(self) -> int:
        return 1000 + 2 * sum(len(chunk.data) for chunk in self.payload.values())


class Shop:
    """What the endpoints answer from: the invented catalogue, stored bodies, and answers given before."""

    def __init__(self, config: SandboxConfig) -> None:
        self.catalogue = Catalogue(config.seed)
        self.stored = Stored(config.data) if config.data is not None else None
        self._given: Kept = Kept(KEPT_BYTES, Answer.weight)

    def answer(self, endpoint: Endpoint, call: Call, now_ms: int, spoiled: Sequence[str]) -> Answer:
        """The answer of an endpoint; the same question in the same minute is worked out once, unless files answer."""
        now = even_minute(now_ms)
        if spoiled or self.stored is not None:
            return endpoint(self, call, now, spoiled)
        return self._given.made((call.path, call.pairs, now), lambda: endpoint(self, call, now, ()).encoded())


Endpoint = Callable[[Shop, Call, int, Sequence[str]], Answer]


def _product(shop: Shop, call: Call, now: int, spoiled: Sequence[str]) -> Answer:
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
    return Answer(_payload(found, now, spoiled), prices.products(found, call.params, now))


def _payload(found: list[dict[str, Any]], now: int, spoiled: Sequence[str]) -> dict[str, Any]:
    return {} if "missing-products" in spoiled else {"products": spoil.products(found, spoiled, now)}


def _search(shop: Shop, call: Call, now: int, spoiled: Sequence[str]) -> Answer:
    kinds = {"product": _search_product, "category": _search_category}
    kind = call.params.get("type", "")
    if kind not in kinds:
        raise invalid_parameter("type")
    return kinds[kind](shop, call, now, spoiled)


def _search_product(shop: Shop, call: Call, now: int, spoiled: Sequence[str]) -> Answer:
    domain, words = read.domain(call.params, call.path), read.term(call.params)
    asins = shop.catalogue.search(words)
    if read.flag(call.params, "asins-only"):
        return Answer({"asinList": asins}, prices.search([], {}, 0))
    known = {name: value for name, value in call.params.items() if name in SEARCH_OPTIONS}
    asked = read.options(known)
    found = [shop.catalogue.product(asin, domain, asked, now) for asin in asins]
    return Answer(_payload(found, now, spoiled), prices.search(found, known, now))


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
    "/product": _product,
    "/search": _search,
    "/category": _category,
    "/token": _token,
}
FREE = frozenset({"/token"})
