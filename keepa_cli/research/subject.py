"""One product of an answer with what is needed to read it: where it stands, its marketplace, "now", what was asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.core.paths import render
from keepa_cli.keepa.clock import as_minute, even_minute
from keepa_cli.keepa.csvtypes import BY_NAME, CsvType, SeriesKind
from keepa_cli.keepa.domains import DOMAINS, Domain
from keepa_cli.keepa.productview import KINDS
from keepa_cli.keepa.series import Series, read_series
from keepa_cli.research.facts import Reason

UNUSABLE_KINDS = frozenset({3, 4})
"""Inaccessible, and unknown or wrong: Keepa has no data of them (source: keepa-api.md §6.1)."""


@dataclass(frozen=True)
class Asked:
    """What the request asked for. It is read off the product where the request is not at hand."""

    history: bool
    stats: bool
    offers: bool
    buybox: bool
    rating: bool
    videos: bool
    aplus: bool

    @classmethod
    def of(cls, product: Mapping[str, Any], params: Mapping[str, Any]) -> Asked:
        """`params` are those of the operation; an option that is not among them is inferred from the product."""
        csv, stats = product.get("csv"), product.get("stats")
        own = stats if isinstance(stats, Mapping) else {}
        full = bool(params.get("full"))

        def asked(name: str, seen: bool) -> bool:
            given = params.get(name)
            return seen if given is None else bool(given) or seen

        has_offers = asked("offers", isinstance(product.get("offers"), list))
        return cls(
            history=isinstance(csv, list),
            stats=bool(own),
            offers=has_offers,
            buybox=has_offers or asked("buybox", _has_buybox(product, own)),
            rating=has_offers or asked("rating", isinstance(product.get("reviews"), Mapping)),
            videos=asked("videos", isinstance(product.get("videos"), list)) or full,
            aplus=asked("aplus", isinstance(product.get("aPlus"), list)) or full,
        )

    def opens(self, t: CsvType) -> bool:
        """Whether the values of a price type were unlocked."""
        return not t.gate or self.offers or {"buybox": self.buybox, "rating": self.rating}.get(t.gate, False)


def _has_buybox(product: Mapping[str, Any], stats: Mapping[str, Any]) -> bool:
    price = stats.get("buyBoxPrice")
    return isinstance(product.get("buyBoxSellerIdHistory"), list) or (type(price) is int and price != -2)


@dataclass
class Subject:
    """A product to look at. Series are decoded when first asked for, once.

    `path` is the JSON path of the product in the raw body, `now` the Keepa minute of the answer.
    """

    product: Mapping[str, Any]
    path: str
    domain: Domain
    now: int
    asked: Asked
    known: dict[tuple[Any, ...], Any] = field(default_factory=dict, repr=False)
    """What was found out already, by what it is and of what: several sections ask for the same values and windows."""
    _series: dict[int, Series] = field(default_factory=dict, repr=False)

    @property
    def asin(self) -> str | None:
        found = self.product.get("asin")
        return found if isinstance(found, str) else None

    @property
    def kind(self) -> str | None:
        """`standard`, `variation_parent` …; None where the number is unknown."""
        number = self.product.get("productType")
        return KINDS[number] if type(number) is int and 0 <= number < len(KINDS) else None

    @property
    def usable(self) -> bool:
        """False for ASINs that Keepa cannot access or that do not exist."""
        number = self.product.get("productType")
        return type(number) is not int or number not in UNUSABLE_KINDS

    @property
    def stats(self) -> Mapping[str, Any]:
        found = self.product.get("stats")
        return found if isinstance(found, Mapping) else {}

    def at(self, *steps: str | int) -> str:
        """The JSON path in the raw body of what stands below the product."""
        return self.path + render(steps)[1:]

    def slot(self, t: CsvType) -> Any:
        """The packed array of a type as Keepa sent it."""
        csv = self.product.get("csv")
        return csv[t.index] if isinstance(csv, list) and t.index < len(csv) else None

    def series(self, which: CsvType | str) -> Series:
        """The decoded series of a type, empty without one."""
        t = BY_NAME[which] if isinstance(which, str) else which
        if t.index not in self._series:
            self._series[t.index] = read_series(self.slot(t), t)
        return self._series[t.index]

    def newest(self, which: CsvType | str) -> int:
        """The index of the point in force now, -1 without one: a running lightning deal ends in the future."""
        series = self.series(which)
        last = len(series) - 1
        return last if last < 0 or series.times[last] <= self.now else series.index_at(self.now)

    def series_path(self, which: CsvType | str) -> str:
        """The JSON path of the nearest thing that stands in the body: the array, else `csv`, else the product."""
        t = BY_NAME[which] if isinstance(which, str) else which
        csv = self.product.get("csv")
        if isinstance(csv, list) and t.index < len(csv):
            return self.at("csv", t.index)
        return self.at("csv") if "csv" in self.product else self.path

    def why_no(self, which: CsvType | str) -> Reason:
        """Why a type has no value now. To be asked only where it has none."""
        t = BY_NAME[which] if isinstance(which, str) else which
        series = self.series(t)
        if len(series):
            at = self.newest(t)
            value = series.values[at] if at >= 0 else -2
            return Reason.NONE if value == -1 or t.kind is not SeriesKind.PRICE else Reason.NOT_COLLECTED
        if not self.asked.history or not self.asked.opens(t):
            return Reason.NOT_REQUESTED
        return Reason.UNREADABLE if series.problems else Reason.NOT_COLLECTED


def now_of(body: Any, product: Mapping[str, Any]) -> int:
    """The Keepa minute that "now" means: when the answer was made, else when the product was updated last."""
    stamp = body.get("timestamp") if isinstance(body, Mapping) else None
    if type(stamp) is int and stamp > 0 and (minute := as_minute(even_minute(stamp))) is not None:
        return minute
    return as_minute(product.get("lastUpdate")) or 0


def subject(product: Any, path: str, body: Any, domain: Domain, params: Mapping[str, Any]) -> Subject:
    """The subject of one product. Its own `domainId` counts more than the domain that was asked."""
    known = product if isinstance(product, Mapping) else {}
    own = known.get("domainId")
    found = DOMAINS.get(own, domain) if type(own) is int else domain
    return Subject(known, path, found, now_of(body, known), Asked.of(known, params))


def subjects(body: Any, domain: Domain, params: Mapping[str, Any]) -> Iterator[Subject]:
    """Every product of a /product answer, in order; what is no object is an empty product."""
    products = body.get("products") if isinstance(body, Mapping) else None
    for i, product in enumerate(products if isinstance(products, list) else []):
        yield subject(product, render(("products", i)), body, domain, params)
