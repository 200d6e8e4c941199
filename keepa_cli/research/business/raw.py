"""The record of a product as Keepa sent it."""

from __future__ import annotations

from keepa_cli.keepa.clock import DAY, as_minute, field_time, iso
from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.keepa.stats import out_of_stock_percentage, rank_drops
from keepa_cli.research.business.record import LARGEST, Fact, Metrics, Source, whole
from keepa_cli.research.facts import Reason
from keepa_cli.research.subject import Subject

SERIES = {"buy_box": "BUY_BOX_SHIPPING", "new": "NEW", "amazon": "AMAZON"}
COUNT_SERIES = {"new_offer_count": "COUNT_NEW", "new_fba_offer_count": "COUNT_NEW_FBA",
                "new_fbm_offer_count": "COUNT_NEW_FBM"}  # fmt: skip
ALL_COUNTS = ("COUNT_NEW", "COUNT_USED", "COUNT_REFURBISHED", "COUNT_COLLECTIBLE")


def record(s: Subject, source: Source) -> Metrics:
    """Every fact that the product holds. Nothing is known of what Keepa cannot access."""
    title = s.product.get("title")
    found = Metrics(
        *(s.asin, title if isinstance(title, str) else None, s.domain, "raw_product", s.path, source),
        now=s.now,
        usable=s.usable and bool(s.product),
        subject=s,
    )
    if found.usable:
        for name in ("buy_box", "new"):
            _newest(found, s, name, SERIES[name])
        _newest(found, s, "sales_rank", "SALES")
        for name, series in COUNT_SERIES.items():
            _newest(found, s, name, series)
        _amazon(found, s)
        _sold(found, s)
        _drops(found, s)
        _total(found, s)
        _sample(found, s)
        _out_of_stock(found, s)
    return found


def _newest(found: Metrics, s: Subject, name: str, series_name: str) -> None:
    """The value in force now, from the history, else from `stats.current`, where -1 does not tell its reason."""
    t, series, at = BY_NAME[series_name], s.series(series_name), s.newest(series_name)
    if at >= 0 and (value := whole(series.landing[at])) is not None:
        found.facts[name] = Fact(value, s.series_path(t), iso(series.times[at]), "csv")
        return
    current = s.stats.get("current")
    if not len(series) and isinstance(current, list) and t.index < len(current):
        known = whole(current[t.index])
        if known is not None:
            found.facts[name] = Fact(known, s.at("stats", "current", t.index), iso(s.now), "stats.current")
            return
    beyond = at >= 0 and series.landing[at] >= LARGEST
    found.absent[name] = Reason.UNREADABLE if beyond else s.why_no(t)


def _amazon(found: Metrics, s: Subject) -> None:
    """Whether Amazon itself has an offer now."""
    series, at = s.series("AMAZON"), s.newest("AMAZON")
    if at >= 0:
        found.facts["amazon_sells"] = Fact(series.values[at] >= 0, s.series_path("AMAZON"), iso(series.times[at]))
    else:
        found.absent["amazon_sells"] = s.why_no("AMAZON")


def _sold(found: Metrics, s: Subject) -> None:
    """`monthlySold`; -1 means that Amazon shows no such badge."""
    raw = s.product.get("monthlySold")
    value = whole(raw)
    if value is not None:
        at = field_time(s.product.get("lastSoldUpdate"))
        found.facts["monthly_sold"] = Fact(value, s.at("monthlySold"), at, "monthlySold")
    else:
        reason = Reason.NONE if raw == -1 else Reason.NOT_COLLECTED if raw in (None, -2) else Reason.UNREADABLE
        found.absent["monthly_sold"] = reason


def _drops(found: Metrics, s: Subject) -> None:
    """Keepa's own count, else a count over the history, which Keepa's leaves tiny drops out of."""
    told = whole(s.stats.get("salesRankDrops30"))
    if told is not None:
        found.facts["rank_drops_30"] = Fact(told, s.at("stats", "salesRankDrops30"), None, "stats")
        return
    series = s.series("SALES")
    start = max(as_minute(s.product.get("lastUpdate")) or 0, 0) or s.now
    start -= 30 * DAY
    if len(series) and series.times[0] <= start:
        found.facts["rank_drops_30"] = Fact(rank_drops(series, start), s.series_path("SALES"), None, "counted")
    else:
        found.absent["rank_drops_30"] = Reason.TOO_LITTLE_HISTORY if len(series) else s.why_no("SALES")


def _total(found: Metrics, s: Subject) -> None:
    """Offers of all conditions: Keepa's total, else the sum of the counts that are known."""
    told = whole(s.stats.get("totalOfferCount"))
    if told is not None:
        found.facts["total_offer_count"] = Fact(told, s.at("stats", "totalOfferCount"), None, "stats")
        return
    counts = {n: s.series(n).values[at] for n in ALL_COUNTS if (at := s.newest(n)) >= 0}
    known = {n: v for n, v in counts.items() if v >= 0}
    if "COUNT_NEW" in known:
        found.facts["total_offer_count"] = Fact(sum(known.values()), s.series_path("COUNT_NEW"), None, "csv")
    else:
        found.absent["total_offer_count"] = s.why_no("COUNT_NEW")


def _sample(found: Metrics, s: Subject) -> None:
    """How many different sellers the answer names: live offers, else winners of the buy box in the last 90 days."""
    from keepa_cli.keepa.buybox import NOBODY, tenures
    from keepa_cli.keepa.offers import live_offers

    live = {str(o["seller_id"]) for o in live_offers(s.product, s.domain) if isinstance(o["seller_id"], str)}
    if live:
        found.facts["seller_sample"] = Fact(len(live), s.at("offers"), None, "live_offers")
        return
    history = s.product.get("buyBoxSellerIdHistory")
    won = {seller for seller, _, _ in tenures(history, s.now - 90 * DAY, s.now)} - NOBODY
    if won:
        found.facts["seller_sample"] = Fact(len(won), s.at("buyBoxSellerIdHistory"), None, "buy_box_winners_90")
    else:
        asked = s.asked.buybox or s.asked.offers
        found.absent["seller_sample"] = Reason.NOT_COLLECTED if asked else Reason.NOT_REQUESTED


def _out_of_stock(found: Metrics, s: Subject) -> None:
    """The share of time without an offer by Keepa's own rule, from the history, else from `stats`."""
    since = max(as_minute(s.product.get("trackingSince")) or 0, 0)
    for name, series_name in SERIES.items():
        t, series = BY_NAME[series_name], s.series(series_name)
        for days in (30, 90):
            field = f"out_of_stock_{days}_{name}"
            share = out_of_stock_percentage(series, s.now - days * DAY, s.now, since)
            told = s.stats.get(f"outOfStockPercentage{days}")
            if share >= 0:
                found.facts[field] = Fact(share, s.series_path(t), None, "csv")
            elif isinstance(told, list) and t.index < len(told) and (known := whole(told[t.index])) is not None:
                path = s.at("stats", f"outOfStockPercentage{days}", t.index)
                found.facts[field] = Fact(known, path, None, "stats")
            else:
                found.absent[field] = Reason.TOO_LITTLE_HISTORY if len(series) else s.why_no(t)
