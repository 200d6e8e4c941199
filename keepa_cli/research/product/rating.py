"""Stars and how many gave them."""

from __future__ import annotations

from typing import Any

from keepa_cli.keepa.clock import iso
from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.keepa.money import tenths
from keepa_cli.keepa.series import read_series
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.values import boolean, current, moment, number, why_none
from keepa_cli.research.subject import Subject


def section(look: Look) -> Section:
    """`review_count` counts ratings with or without words: that is what Keepa's series holds today.
    `written_review_count` counts written reviews of this variation."""
    s = look.subject
    found = Section()
    found.put("rating", _stars(s), why_none(s, "RATING"))
    found.put("review_count", number(s, "COUNT_REVIEWS"), why_none(s, "COUNT_REVIEWS"))
    found.put("written_review_count", _written(s), Reason.NOT_COLLECTED if s.asked.rating else Reason.NOT_REQUESTED)
    found.put("has_reviews", boolean(s.product, "hasReviews"), Reason.NOT_COLLECTED)
    found.put("updated_at", moment(s.product, "lastRatingUpdate"), Reason.NOT_COLLECTED)
    return found


def _stars(s: Subject) -> Section | None:
    known = current(s, "RATING")
    if known is None:
        return None
    fact = Section(value=tenths(known.value), raw=known.value)
    fact.put("at", None if known.at is None else iso(known.at), Reason.NOT_REQUESTED)
    fact["evidence_path"] = known.path
    return fact


def _written(s: Subject) -> dict[str, Any] | None:
    reviews = s.product.get("reviews")
    if not isinstance(reviews, dict):
        return None
    series = read_series(reviews.get("reviewCount"), BY_NAME["COUNT_REVIEWS"])
    if not len(series) or series.values[-1] < 0:
        return None
    return {
        "value": series.values[-1],
        "at": iso(series.times[-1]),
        "evidence_path": s.at("reviews", "reviewCount"),
    }
