"""What speaks for or against choosing a product, each as one figure with its method, inputs and evidence."""

from __future__ import annotations

from typing import Any

from keepa_cli.keepa.clock import DAY, as_minute
from keepa_cli.keepa.money import money
from keepa_cli.keepa.stats import out_of_stock_count, out_of_stock_percentage
from keepa_cli.research.facts import Confidence, Reason, Section, derived
from keepa_cli.research.measures import mean, percent, spread
from keepa_cli.research.names import name_of
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.offers import shares
from keepa_cli.research.product.risk_taxonomy import rank_worsening
from keepa_cli.research.product.vitals import Vitals
from keepa_cli.research.risks import level

DAYS = 90
IMAGES, BULLETS = 6, 5
"""What a well filled page has: Amazon shows six pictures or more beside the title, and five bullets."""


def section(look: Look) -> dict[str, Any]:
    """One derived figure per question, each with the word for it (`level`), and the risk codes."""
    v: Vitals = look.section("vitals")
    return {
        "price_position": price_position(look, v),
        "price_stability": stability(look, v),
        "demand": demand(look, v),
        "rank_trend": _rank_trend(look, v),
        "competition": competition(v),
        "content_quality": content_quality(look, v),
        "stock_outs": _stock_outs(look, v),
        "review_strength": _reviews(v),
        "buy_box_concentration": _buy_box(look, v),
        "risk_codes": look.section("risk_taxonomy")["codes"],
    }


def price_position(look: Look, v: Vitals) -> Section:
    """Where the price stands against its mean of 90 days: below zero it is cheaper than usual."""
    s, t = look.subject, v.price_type
    usual = mean(s, t, DAYS) if v.price else None
    path = v.price.path if v.price else s.series_path(t)
    if usual is None and v.price:
        own = s.stats.get("avg90")
        value = own[t.index] if isinstance(own, list) and t.index < len(own) else None
        if type(value) is int and value > 0:
            usual, path = value, s.at("stats", "avg90", t.index)
    found = percent(v.price.value, usual) if v.price else None
    inputs = {
        "series": name_of(t),
        "current": money(v.price.value, s.domain) if v.price else None,
        "mean_90d": money(usual, s.domain) if usual is not None else None,
    }
    return _figure(
        found, "price_position", "(current - mean_90d) / mean_90d * 100", inputs, Confidence.EXACT, path,
        v["new_price"].reason if not v.price and v["new_price"].reason else Reason.NOT_COMPUTABLE,
    )  # fmt: skip


def stability(look: Look, v: Vitals) -> Section:
    s, t = look.subject, v.price_type
    found = spread(s, t, DAYS)
    return _figure(
        found, "price_spread_90d", "deviation / mean * 100 by time, 90 days",
        {"series": name_of(t)}, Confidence.EXACT, s.series_path(t), _why(look, v.price_type.name, found),
    )  # fmt: skip


def demand(look: Look, v: Vitals) -> Section:
    """Units sold a month, at least; where Amazon does not say, the sales rank stands in and says little."""
    sold, rank = v["monthly_sold"], v["sales_rank"]
    inputs: dict[str, Any] = {"monthly_sold": sold.value, "sales_rank": rank.value}
    if sold.known or not rank.known:
        why = sold.reason or Reason.NONE
        how = "monthlySold: the bottom of Amazon's bracket"
        return _figure(sold.value, "monthly_sold", how, inputs, Confidence.LOWER_BOUND, sold.path, why)
    found = _figure(None, "monthly_sold", "level by sales rank", inputs, Confidence.LOW, rank.path, sold.reason)
    return Section(found | {"level": level("sales_rank", rank.value)})


def _rank_trend(look: Look, v: Vitals) -> Section:
    _, recent, before = rank_worsening(look, v)
    found = percent(recent, before)
    word = "unknown" if found is None else "worse" if found >= 10 else "better" if found <= -10 else "steady"
    return Section(
        derived(
            found,
            method="(mean_30d - mean_60d_before) / mean_60d_before * 100; above 0 is worse",
            inputs={"mean_30d": recent, "mean_60d_before": before, "current": v.value("sales_rank")},
            confidence=Confidence.EXACT,
            evidence_path=look.subject.series_path("SALES"),
            reason=_why(look, "SALES", found),
        )
        | {"level": word}
    )


def competition(v: Vitals) -> Section:
    f = v["new_offer_count"]
    inputs = {"live_offer_count": v.value("live_offer_count")}
    return _figure(
        f.value, "new_offer_count", "offers in new condition now", inputs, Confidence.EXACT, f.path, f.reason
    )


def content_quality(look: Look, v: Vitals) -> Section:
    """How much of what sells a product its page has, of what is known: pictures, bullets, a video, A+ content."""
    s, features = look.subject, look.subject.product.get("features")
    counts = {
        "images": (v.value("image_count"), IMAGES, v["image_count"].path),
        "bullets": (len(features) if isinstance(features, list) else None, BULLETS, s.at("features")),
        "videos": (v.value("video_count"), 1, v["video_count"].path),
        "aplus_modules": (v.value("aplus_module_count"), 1, v["aplus_module_count"].path),
    }
    known = {name: found for name, found in counts.items() if found[0] is not None}
    met = sum(count >= least for count, least, _ in known.values())
    return _figure(
        round(met / len(known) * 100, 2) if known else None,
        "content_quality",
        f"share met of: images >= {IMAGES}, bullets >= {BULLETS}, videos >= 1, aplus_modules >= 1",
        {name: count for name, (count, _, _) in known.items()},
        Confidence.MEDIUM,
        [path for _, _, path in known.values()] or s.path,
        v["image_count"].reason,
    )


def _stock_outs(look: Look, v: Vitals) -> Section:
    """The share of 90 days without a price, by Keepa's rule, and how often that was."""
    s, t = look.subject, v.price_type
    since, start = as_minute(s.product.get("trackingSince")) or 0, s.now - DAYS * DAY
    share = out_of_stock_percentage(s.series(t), start, s.now, max(since, 0))
    times = out_of_stock_count(s.series(t), start, s.now)
    return derived(
        share if share >= 0 else None,
        method="minutes without a price / minutes * 100, 90 days, rounded up",
        inputs={"series": name_of(t), "times": times if share >= 0 else None},
        confidence=Confidence.EXACT,
        evidence_path=s.series_path(t),
        reason=_why(look, t.name, None if share < 0 else share),
        unit="percent",
    )


def _reviews(v: Vitals) -> Section:
    f, rating = v["review_count"], v["rating"]
    inputs = {"rating_tenths": rating.value}
    return _figure(f.value, "review_count", "number of ratings", inputs, Confidence.EXACT, f.path, f.reason)


def _buy_box(look: Look, v: Vitals) -> Section:
    """The share of the seller that held the buy box longest in 90 days."""
    s = look.subject
    path = s.at("buyBoxSellerIdHistory") if "buyBoxSellerIdHistory" in s.product else s.path
    won = [(round(figures["percentageWon"], 2), seller) for seller, figures in shares(s, DAYS)]
    top = won[0] if won else (None, None)
    reason = v["buy_box_seller"].reason or Reason.TOO_LITTLE_HISTORY
    return _figure(
        top[0], "buy_box_share",
        "minutes held with a price / minutes * 100, 90 days",
        {"seller_id": top[1], "sellers": len(won) or None}, Confidence.EXACT, path, reason,
    )  # fmt: skip


def _why(look: Look, code: str, found: float | None) -> Reason:
    """Why a figure over a window is absent: the series is, or it says nothing about the window."""
    if found is not None:
        return Reason.NONE
    series = look.subject.series(code)
    return Reason.NOT_COMPUTABLE if any(n >= 0 for n in series.landing) else look.subject.why_no(code)


def _figure(
    value: float | None,
    name: str,
    method: str,
    inputs: dict[str, Any],
    confidence: Confidence,
    path: str | list[str],
    reason: Reason | None,
) -> Section:
    """A figure with the word for it; without a figure there is no word."""
    found = derived(
        value,
        method=method,
        inputs=inputs,
        confidence=confidence,
        evidence_path=path,
        reason=reason or Reason.NOT_COMPUTABLE,
    )
    word = level(name, value)
    return Section(found | {"level": word}) if word else found
