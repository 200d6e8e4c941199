"""/seller and /sellerquery."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from keepa_cli.keepa import costs
from keepa_cli.keepa.sellerfinder import CONTROL, FIELDS, PER_PAGE, WHOLE_PAGE
from keepa_cli.sandbox import params as read
from keepa_cli.sandbox import selections
from keepa_cli.sandbox.catalogue import sellers
from keepa_cli.sandbox.catalogue.entry import Entry
from keepa_cli.sandbox.messages import Call, error_of, invalid_parameter
from keepa_cli.sandbox.shop import Answer, Shop

MAX_SELLERS = 100
STOREFRONT_TOKENS = 9
_ID = re.compile(r"[A-Z0-9]{10,21}")
Value = Callable[[Any, str], Any]


def seller(shop: Shop, call: Call, now: int, _: Sequence[str]) -> Answer:
    """Sellers by id. An id of an impossible form is told about beside those found."""
    domain = read.domain(call.params, call.path)
    ids = list(dict.fromkeys(v.strip() for v in call.params.get("seller", "").split(",") if v.strip()))
    with_storefront = read.flag(call.params, "storefront")
    if not 1 <= len(ids) <= MAX_SELLERS:
        raise invalid_parameter("seller")
    if with_storefront and len(ids) > 1:
        raise invalid_parameter("storefront")
    found, tokens = {}, 0
    entries = shop.catalogue.entries(domain, now)
    for known in [i for i in ids if i in set(sellers.known(shop.catalogue.seed))]:
        sold = sellers.storefront(known, entries, shop.catalogue.seed, domain)
        found[known] = sellers.seller(known, domain, sold, now, with_storefront=with_storefront)
        tokens += costs.seller().estimated + (STOREFRONT_TOKENS if with_storefront and len(sold) > 1 else 0)
    payload: dict[str, Any] = {"sellers": found}
    impossible = [i for i in ids if not _ID.fullmatch(i)]
    if impossible:
        payload["error"] = error_of("invalidParameter", f"Invalid seller ids: {', '.join(impossible)}")
    return Answer(payload, tokens)


def sellerquery(shop: Shop, call: Call, now: int, _: Sequence[str]) -> Answer:
    domain = read.domain(call.params, call.path)
    given = selections.selection(call)
    filters = {n: selections.checked(n, v, FIELDS[n]) for n, v in given.items() if n in FIELDS}
    if not filters:
        raise invalid_parameter("selection")
    if not set(given) <= {*FIELDS, *CONTROL}:
        raise invalid_parameter(min(set(given) - {*FIELDS, *CONTROL}))
    page, per_page = selections.paging(given, least=PER_PAGE, zero=WHOLE_PAGE)
    least = selections.least_matches(given, [n for n, spec in FIELDS.items() if spec.many])
    order = selections.sorting(given, NUMBERS, [["currentRatingCount", "desc"]])
    directory = _Directory(shop, domain, now)
    found = [s for s in sellers.known(shop.catalogue.seed) if directory.passes(s, filters, least)]
    found = selections.ordered(found, order, directory.number)
    shown = found[page * per_page : (page + 1) * per_page]
    return Answer({"sellerIdList": shown, "totalResults": len(found)}, costs.charge_query(len(shown)))


NUMBERS = ("currentRating", "currentRatingCount", "totalStorefrontAsins")


class _Directory:
    """What the filters of /sellerquery ask of a seller."""

    def __init__(self, shop: Shop, domain: int, now: int) -> None:
        self._seed, self._domain, self._now = shop.catalogue.seed, domain, now
        self._entries = shop.catalogue.entries(domain, now)
        self._sold: dict[str, list[Entry]] = {}

    def number(self, seller_id: str, name: str) -> int:
        if name == "totalStorefrontAsins":
            return len(self._storefront(seller_id))
        good, count = sellers.ratings(seller_id, self._domain, self._now)
        return (good if name == "currentRating" else count)[-1][1]

    def passes(self, seller_id: str, filters: Mapping[str, Any], least: Mapping[str, int]) -> bool:
        return all(self._passes(seller_id, name, value, least.get(name, 1)) for name, value in filters.items())

    def _passes(self, seller_id: str, name: str, value: Any, least: int) -> bool:
        base, _, bound = name.rpartition("_")
        if base in NUMBERS:
            found = self.number(seller_id, base)
            return found >= value if bound == "gte" else bool(found <= value)
        if name in {"search", "sellerName", "businessName"}:
            text = f"{sellers.name_of(seller_id)} {'Ltd' if name != 'sellerName' else ''}".lower()
            return all(word in text for word in str(value).lower().split())
        wanted = {str(v).lower() for v in (value if isinstance(value, list) else [value])}
        return len(wanted & {str(v).lower() for v in self._texts(seller_id, name)}) >= least

    def _texts(self, seller_id: str, name: str) -> set[Any]:
        sold = self._storefront(seller_id)
        if name == "addressCountry":
            return {sellers.country_of(seller_id)}
        if name == "brands":
            return {e.card.brand for e in sold}
        if name == "rootCategories_include":
            return {e.root for e in sold}
        asins = {e.asin for e in sold}
        return {other for other in sellers.known(self._seed) if asins & {e.asin for e in self._storefront(other)}} - {
            seller_id
        }

    def _storefront(self, seller_id: str) -> list[Entry]:
        if seller_id not in self._sold:
            self._sold[seller_id] = sellers.storefront(seller_id, self._entries, self._seed, self._domain)
        return self._sold[seller_id]
