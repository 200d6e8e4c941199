"""Every history of a product by name: the slots of `csv`, ranks by category, sales, coupons, sellers, offers.

A triple (price and shipping) is three tracks: NAME is the landed price that statistics count, NAME:price and
NAME:shipping are what Keepa sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from keepa_cli.keepa.clock import as_minute, iso
from keepa_cli.keepa.csvtypes import BY_NAME, ITEM_PRICE_UNTIL, LANDING_LATER, CsvType, SeriesKind, csv_type
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.offers import SHIPPED_PRICES
from keepa_cli.keepa.series import Series, read_series
from keepa_cli.research.facts import Reason
from keepa_cli.research.history import units
from keepa_cli.research.history.units import Raw, Unit
from keepa_cli.research.names import NAMES, name_of
from keepa_cli.research.subject import Subject

Columns = tuple[list[int], list[Any]]
COUNTS, TRIPLES = BY_NAME["COUNT_NEW"], SHIPPED_PRICES


@dataclass(eq=False)
class Track:
    """One history: times and raw values, read when first asked for. `until` tracks date the end of a value, not its
    start. `reason` tells why it is empty where it is. `series` is the step function behind it, where there is one."""

    name: str
    path: str
    unit: Unit
    domain: Domain
    read: Callable[[], Columns]
    reason: Reason = Reason.NOT_COLLECTED
    until: bool = False
    type: CsvType | None = None

    @cached_property
    def columns(self) -> Columns:
        return self.read()

    @property
    def times(self) -> list[int]:
        return self.columns[0]

    @property
    def raws(self) -> list[Raw]:
        return self.columns[1]

    def __len__(self) -> int:
        return len(self.times)

    @property
    def basis_changed_at(self) -> str | None:
        """When the prices of this history began to include shipping, where it lies inside: a step there is no market
        move."""
        changed = self.type is not None and self.type.index in LANDING_LATER
        inside = len(self) > 0 and self.times[0] < ITEM_PRICE_UNTIL
        return iso(ITEM_PRICE_UNTIL) if changed and inside else None

    @cached_property
    def series(self) -> Series:
        """The step function of an ordered track; statistics are made from it."""
        return Series(self.type or _type_of(self.unit), self.times, self.raws)  # type: ignore[arg-type]


def _type_of(unit: Unit) -> CsvType:
    kinds = {u.name: kind for kind, u in units.BY_KIND.items()}
    return CsvType(-1, unit.name, kinds.get(unit.name, SeriesKind.COUNT))


def tracks(subject: Subject) -> dict[str, Track]:
    """The tracks of a product by name, also the empty ones, in a stable order."""
    found = [*_slots(subject), *_ranks(subject), *_others(subject), *_sellers(subject), *_offers(subject)]
    return {t.name: t for t in found}


def _slots(subject: Subject) -> Iterator[Track]:
    csv = subject.product.get("csv")
    for index in range(max(len(NAMES), len(csv) if isinstance(csv, list) else 0)):
        t = csv_type(index)
        has = subject.slot(t) is not None
        reason = Reason.NONE if has and not subject.series(t).problems else subject.why_no(t)
        yield from _parts(name_of(t), subject.series_path(t), subject.domain, partial(subject.series, t), t, reason)


def _parts(
    name: str, path: str, domain: Domain, read: Callable[[], Series], t: CsvType, reason: Reason
) -> Iterator[Track]:
    unit = units.unit_of(t)
    yield Track(name, path, unit, domain, lambda: (read().times, read().landing), reason, type=t)
    if t.stride == 3:
        yield Track(f"{name}:price", path, unit, domain, lambda: (read().times, read().values), reason, type=t)
        yield Track(f"{name}:shipping", path, unit, domain, lambda: (read().times, read().shipping), reason, type=t)


def _packed(subject: Subject, name: str, packed: Any, path: str, unit: Unit, reason: Reason) -> Track:
    def read() -> Columns:
        series = read_series(packed, COUNTS)
        return series.times, series.values

    return Track(name, path, unit, subject.domain, read, reason)


def _ranks(subject: Subject) -> Iterator[Track]:
    ranks = subject.product.get("salesRanks")
    for category, packed in (ranks if isinstance(ranks, Mapping) else {}).items():
        path = subject.at("salesRanks", str(category))
        yield _packed(subject, f"sales_rank:{category}", packed, path, units.RANK, Reason.NONE)


def _others(subject: Subject) -> Iterator[Track]:
    """The histories of numbers outside of `csv`."""
    product = subject.product
    for field, name, unit in (
        ("monthlySoldHistory", "monthly_sold", units.COUNT),
        ("salesRankReferenceHistory", "sales_rank_reference", units.CATEGORY_ID),
    ):
        yield _packed(subject, name, product.get(field), _path(subject, field), unit, _why(subject, field))
    path, reason = _path(subject, "couponHistory"), _why(subject, "couponHistory")
    for part, name in enumerate(("coupon_one_time", "coupon_subscribe"), 1):
        yield Track(name, path, units.COUPON, subject.domain, _coupons(product.get("couponHistory"), part), reason)
    reviews = product.get("reviews")
    for field, name in (("ratingCount", "reviews_rating_count"), ("reviewCount", "reviews_review_count")):
        packed = reviews.get(field) if isinstance(reviews, Mapping) else None
        path = subject.at("reviews", field) if isinstance(reviews, Mapping) and field in reviews else subject.path
        reason = Reason.NOT_COLLECTED if subject.asked.rating else Reason.NOT_REQUESTED
        yield _packed(subject, name, packed, path, units.COUNT, reason)


def _coupons(packed: Any, part: int) -> Callable[[], Columns]:
    def read() -> Columns:
        series = read_series(packed, TRIPLES)
        return series.times, series.values if part == 1 else series.shipping

    return read


def _sellers(subject: Subject) -> Iterator[Track]:
    """The histories of texts: who held the buy boxes, and the parent ASIN, whose time is when it ended."""
    for field, stride, parts in (
        ("buyBoxSellerIdHistory", 2, (("buy_box_seller", units.SELLER_ID),)),
        (
            "buyBoxUsedHistory",
            4,
            (
                ("buy_box_used_seller", units.SELLER_ID),
                ("buy_box_used_condition", units.CONDITION),
                ("buy_box_used_is_fba", units.FLAG),
            ),
        ),
        ("parentAsinHistory", 2, (("parent_asin", units.ASIN),)),
    ):
        gated = field.startswith("buyBox")
        reason = Reason.NOT_REQUESTED if gated and not subject.asked.buybox else _why(subject, field)
        for part, (name, unit) in enumerate(parts, 1):
            read = _texts(subject.product.get(field), stride, part)
            yield Track(name, _path(subject, field), unit, subject.domain, read, reason, until=field[0] == "p")


def _texts(packed: Any, stride: int, part: int) -> Callable[[], Columns]:
    """Times and one member of every whole group of a history of texts, in the order of time."""

    def read() -> Columns:
        if not isinstance(packed, list):
            return [], []
        whole = packed[: len(packed) - len(packed) % stride]
        timed = [(as_minute(t), v) for t, v in zip(whole[::stride], whole[part::stride], strict=True)]
        rows = [(t, str(v)) for t, v in timed if t is not None and isinstance(v, str | int)]
        rows.sort(key=lambda r: r[0])
        return [t for t, _ in rows], [v for _, v in rows]

    return read


def _offers(subject: Subject) -> Iterator[Track]:
    """Prices, stock and coupons of each offer; an id that occurs twice is counted on, so that neither is lost."""
    offers = subject.product.get("offers")
    seen: dict[str, int] = {}
    for place, offer in enumerate(offers if isinstance(offers, list) else []):
        if not isinstance(offer, Mapping):
            continue
        base = f"offer:{offer.get('offerId', place)}"
        seen[base] = seen.get(base, 0) + 1
        name = base if seen[base] == 1 else f"{base}~{seen[base]}"
        if offer.get("offerCSV") is not None:
            path, packed = subject.at("offers", place, "offerCSV"), offer["offerCSV"]
            yield from _parts(name, path, subject.domain, _once(packed), TRIPLES, Reason.NONE)
        for field, part, unit in (
            ("stockCSV", "stock", units.COUNT),
            ("primeExclCSV", "prime_exclusive", units.MONEY),
            ("couponHistory", "coupon", units.COUPON),
        ):
            if offer.get(field) is not None:
                where = subject.at("offers", place, field)
                yield _packed(subject, f"{name}:{part}", offer[field], where, unit, Reason.NONE)


def _once(packed: Any) -> Callable[[], Series]:
    found: list[Series] = []

    def read() -> Series:
        if not found:
            found.append(read_series(packed, TRIPLES))
        return found[0]

    return read


def _path(subject: Subject, field: str) -> str:
    return subject.at(field) if field in subject.product else subject.path


def _why(subject: Subject, field: str) -> Reason:
    if not subject.asked.history:
        return Reason.NOT_REQUESTED
    return Reason.NONE if subject.product.get(field) in (None, []) else Reason.UNREADABLE
