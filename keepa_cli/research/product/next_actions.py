"""What is worth asking next, the most useful first: data that was not requested, then what can be done with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.research.needs import Need
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.vitals import NO_BUY_BOX
from keepa_cli.research.subject import Subject

LIMITS: Mapping[str, int] = {"summary": 1, "deal": 3}
LIMIT = 6
ALONGSIDE = 4
"""How many other products a comparison takes along."""
Wish = tuple[Need, dict[str, Any], str]


def section(look: Look) -> list[dict[str, Any]]:
    """Complete next actions, at most as many as the profile has room for; none for an ASIN that does not exist."""
    if not look.subject.usable:
        return []
    room = LIMITS.get(look.profile, LIMIT)
    found: list[dict[str, Any]] = []
    for need, params, reason in wishes(look.subject):
        action = offered(look, need, params, reason) if len(found) < room else None
        if action:
            found.append(action)
    return found


def offered(look: Look, need: Need, params: Mapping[str, Any], reason: str) -> dict[str, Any] | None:
    """The action for this product; None where its ASIN or marketplace cannot be asked for."""
    try:
        return look.plan(need, {**about(look.subject), **params}, reason)
    except KeepaCliError:
        return None


def about(s: Subject) -> dict[str, Any]:
    """How an operation is told which product is meant."""
    return {"asin": [s.asin], "domain": s.domain.code}


def wishes(s: Subject) -> Iterator[Wish]:
    """(need, parameters, reason) in order of use."""
    yield from _history(s)
    yield from _unasked(s)
    yield from _neighbours(s)
    if s.asked.history:
        yield Need.EXPORT_HISTORY, {}, "Every series with all its points, for a table or a chart."


def _history(s: Subject) -> Iterator[Wish]:
    if not s.asked.history:
        yield Need.GET_HISTORY, {"full": True}, "Price, rank and offer history were not requested."


def _unasked(s: Subject) -> Iterator[Wish]:
    """Offers include the buy box and the rating, and cost six times as much as either."""
    if not s.asked.rating and not len(s.series("RATING")):
        yield Need.GET_RATING, {"full": True, "rating": True}, "Rating and review count were not requested."
    if not s.asked.buybox and not len(s.series("BUY_BOX_SHIPPING")) and s.kind not in NO_BUY_BOX:
        yield Need.GET_BUYBOX, {"full": True, "buybox": True}, "Holder and price of the buy box were not requested."
    if not s.asked.offers and s.kind != "variation_parent":
        yield Need.GET_OFFERS, {"offers": 20}, "Sellers, their prices and fulfilment were not requested."
    if not (s.asked.videos and s.asked.aplus):
        yield Need.GET_CONTENT, {"full": True}, "Videos and A+ content were not requested; they cost nothing more."


def _neighbours(s: Subject) -> Iterator[Wish]:
    """Other products that this one can be held against, its family, and the seller of the buy box."""
    others = [a for a in related(s) if a != s.asin][:ALONGSIDE]
    if others and s.asin:
        yield Need.COMPARE_PRODUCTS, {"asin": [s.asin, *others]}, "Hold it against its variations and companions."
    parent = s.product.get("parentAsin")
    if isinstance(parent, str) and parent != s.asin:
        yield Need.GET_VARIATIONS, {"asin": [parent]}, "Its parent lists all variations."


def related(s: Subject) -> list[str]:
    """ASINs that the product itself names: variations, then what is bought together with it."""
    rows = s.product.get("variations")
    named = [v.get("asin") for v in rows if isinstance(v, Mapping)] if isinstance(rows, list) else []
    together = s.product.get("frequentlyBoughtTogether")
    named += together if isinstance(together, list) else []
    return list(dict.fromkeys(a for a in named if isinstance(a, str)))
