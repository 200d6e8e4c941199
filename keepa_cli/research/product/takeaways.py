"""What the histories of a product say, in sentences with exact figures, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keepa_cli.keepa.clock import DAY, iso
from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.keepa.money import money
from keepa_cli.keepa.stats import extremes, out_of_stock_percentage
from keepa_cli.research.measures import change, mean, percent
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.vitals import Vitals

Told = dict[str, Any]


def takeaways(look: Look, v: Vitals) -> Iterator[Told]:
    """`{text, evidence_path}`, the most telling first; nothing about what has no history."""
    for rule in (_price, _rank, _reviews, _lowest, _offers, _stock):
        yield from rule(look, v)


def _price(look: Look, v: Vitals) -> Iterator[Told]:
    s, t = look.subject, v.price_type
    usual = mean(s, t, 90) if v.price else None
    apart = percent(v.price.value, usual) if v.price else None
    if v.price is None or usual is None or apart is None:
        return
    then = money(usual, s.domain)["formatted"]
    side = "above" if apart > 0 else "below"
    where = f"{abs(apart):g} % {side}" if apart else "at"
    yield _told(f"Price {where} its 90-day mean of {then}.", s.series_path(t))


def _rank(look: Look, v: Vitals) -> Iterator[Told]:
    s, sales = look.subject, BY_NAME["SALES"]
    recent, usual = mean(s, sales, 30), mean(s, sales, 90)
    if recent is not None and usual is not None:
        text = f"Mean rank {recent:,} over 30 days, {usual:,} over 90."
        yield _told(text, s.series_path(sales))


def _reviews(look: Look, v: Vitals) -> Iterator[Told]:
    s, t = look.subject, BY_NAME["COUNT_REVIEWS"]
    for days in (90, 30):
        moved = change(s, t, days)
        if moved.percent is not None and moved.first is not None and moved.last is not None:
            text = f"Ratings {moved.last - moved.first:+,} ({moved.percent:+g} %) in {days} days."
            yield _told(text, s.series_path(t))
            return


def _lowest(look: Look, v: Vitals) -> Iterator[Told]:
    """How the price stands to its lowest ever, and for how long it has stood."""
    s, t = look.subject, v.price_type
    low, at = extremes(s.series(t))[0], s.newest(t)
    if v.price is None or low is None or at < 0 or low[0] > s.now:
        return
    stood = (s.now - s.series(t).times[at]) / DAY
    above = percent(v.price.value, low[1])
    lowest = money(low[1], s.domain)["formatted"]
    ever = "the lowest ever" if not above else f"{above:g} % above the lowest ever, {lowest} on {iso(low[0])[:10]}"
    yield _told(f"Price unchanged for {stood:.1f} days, {ever}.", s.series_path(t))


def _offers(look: Look, v: Vitals) -> Iterator[Told]:
    s, t = look.subject, BY_NAME["COUNT_NEW"]
    moved = change(s, t, 30)
    if moved.first is not None and moved.last is not None and moved.first != moved.last:
        yield _told(f"New offers {moved.first:,} to {moved.last:,} in 30 days.", s.series_path(t))


def _stock(look: Look, v: Vitals) -> Iterator[Told]:
    s, t = look.subject, v.price_type
    share = out_of_stock_percentage(s.series(t), s.now - 90 * DAY, s.now, _since(look))
    if share >= 0:
        said = f"Without a price for up to {share} % of 90 days." if share else "Never without a price in 90 days."
        yield _told(said, s.series_path(t))


def _since(look: Look) -> int:
    value = look.subject.product.get("trackingSince")
    return value if type(value) is int and value > 0 else 0


def _told(text: str, path: str) -> Told:
    return {"text": text, "evidence_path": path}
