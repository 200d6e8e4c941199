"""What the product costs now by every price type, its lowest and highest price, and its coupons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa import coupons
from keepa_cli.keepa.clock import as_minute, iso
from keepa_cli.keepa.csvtypes import BY_NAME, CSV_TYPES
from keepa_cli.keepa.money import money
from keepa_cli.keepa.series import basis
from keepa_cli.keepa.stats import extremes
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.names import name_of
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.values import listed, positive, price, priced, rows, slot, why_none
from keepa_cli.research.subject import Subject

ALWAYS: Mapping[str, str] = {
    "new": "NEW",
    "amazon": "AMAZON",
    "buy_box": "BUY_BOX_SHIPPING",
    "list_price": "LISTPRICE",
    "used": "USED",
    "new_fba": "NEW_FBA",
    "new_fbm_shipping": "NEW_FBM_SHIPPING",
}
"""Prices that a view always names; the others only where they have a value."""
OTHERS: Mapping[str, str] = {
    "buy_box_used" if t.name == "BUY_BOX_USED_SHIPPING" else name_of(t): t.name
    for t in CSV_TYPES
    if t.is_price and t.name not in ALWAYS.values()
}
EXTREMES: Mapping[str, str] = {"": "NEW", "buy_box_": "BUY_BOX_SHIPPING"}
COUPONS_SHOWN, COUPONS_WHOLE = 3, 100
BADGES = 5


def section(look: Look) -> Section:
    s = look.subject
    wants = look.wants("pricing")
    found = Section(currency=s.domain.currency)
    for name, which in ALWAYS.items():
        if wants(name):
            found.put(name, price(s, which), why_none(s, which))
    for name, which in OTHERS.items():
        known = price(s, which) if wants(name) else None
        if known is not None:
            found[name] = known
    for prefix, which in EXTREMES.items():
        for end, name in enumerate(("lowest_ever", "highest_ever")):
            if wants(prefix + name):
                found.put(prefix + name, _extreme(s, which, end), why_no_extreme(s, which))
    _coupon(found, s)
    if wants("coupon_history"):
        _coupon_history(found, look)
    _hints(found, s)
    return found


def why_no_extreme(s: Subject, which: str) -> Reason:
    """A type that never had a value has none; without a history it was not asked for or not collected."""
    return Reason.NONE if len(s.series(which)) else why_none(s, which)


def _extreme(s: Subject, which: str, end: int) -> Section | None:
    """From the whole history, else from Keepa's `stats`, which knows all time also where the history was trimmed."""
    t = BY_NAME[which]
    own = extremes(s.series(t))[end]
    told = slot(s.stats.get("max" if end else "min"), t.index)
    known = told if _is_pair(told) else None
    if known and (own is None or (known[1] > own[1] if end else known[1] < own[1])):
        return _dated(s, which, known, s.at("stats", "max" if end else "min", t.index))
    return _dated(s, which, own, s.at("csv", t.index)) if own else None


def _is_pair(value: Any) -> bool:
    numbers = isinstance(value, list) and len(value) == 2 and all(type(n) is int for n in value)
    return numbers and value[1] >= 0 and as_minute(value[0]) is not None


def _dated(s: Subject, which: str, pair: list[int], path: str) -> Section:
    fact = priced(s, pair[1], pair[0], path)
    fact["basis"] = basis(BY_NAME[which], pair[0])
    return fact


def _coupon(found: Section, s: Subject) -> None:
    value = s.product.get("coupon")
    if not isinstance(value, list):
        known = "coupon" in s.product and value is None
        found.lack("coupon", Reason.NONE if known else Reason.NOT_COLLECTED if value is None else Reason.UNREADABLE)
        return
    now = Section()
    for name, one in coupons.both(value, s.domain).items():
        now.put(name, one, Reason.NONE)
    if now["one_time"] is None and now["subscribe"] is None:
        found.lack("coupon", Reason.NONE)
        return
    now["evidence_path"] = s.at("coupon")
    found["coupon"] = now


def _coupon_history(found: Section, look: Look) -> None:
    """Every stretch with a coupon, newest first."""
    s = look.subject
    if "couponHistory" not in s.product:
        found.lack("coupon_history", Reason.NONE if s.asked.history else Reason.NOT_REQUESTED)
        return
    changes = coupons.events(s.product["couponHistory"])
    if not changes:
        found.lack("coupon_history", Reason.UNREADABLE if s.product["couponHistory"] else Reason.NONE)
        return
    stretches = list(coupons.periods(changes))
    shown = min(look.history_limit, COUPONS_WHOLE if look.whole else COUPONS_SHOWN)
    history = Section(event_count=len(changes), period_count=len(stretches))
    history.put("last_ended_at", _last_end(stretches), Reason.NONE)
    history["newest"] = [_period(s, *stretch) for stretch in reversed(stretches[-shown:])]
    history["evidence_path"] = s.at("couponHistory")
    found["coupon_history"] = history


def _last_end(stretches: list[tuple[coupons.Event, int | None]]) -> str | None:
    ends = [end for _, end in stretches if end is not None]
    return iso(ends[-1]) if ends else None


def _period(s: Subject, event: coupons.Event, end: int | None) -> dict[str, Any]:
    """Kinds of coupon that did not run then are left out; so is the end of what still runs."""
    at, once, subscribe = event
    kinds = {"one_time": coupons.coupon(once, s.domain), "subscribe": coupons.coupon(subscribe, s.domain)}
    found: dict[str, Any] = {"from_at": iso(at)} | ({"until_at": iso(end)} if end is not None else {})
    return found | {name: one for name, one in kinds.items() if one is not None}


def _hints(found: Section, s: Subject) -> None:
    """What Keepa tells only where there is something to tell."""
    for name, field in {
        "competitive_price_threshold": "competitivePriceThreshold",
        "suggested_lower_price": "suggestedLowerPrice",
    }.items():
        raw = positive(s.product, field)
        if raw is not None:
            found[name] = {**money(raw, s.domain), "evidence_path": s.at(field)}
    badges = [d["badge"][:60] for d in rows(s.product.get("deals")) if isinstance(d.get("badge"), str) and d["badge"]]
    if badges:
        found["deal_badges"] = badges[:BADGES]
    types = [p["type"][:40] for p in listed(s.product.get("promotions")) if isinstance(p, dict) and _named(p)]
    if types:
        found["promotions"] = list(dict.fromkeys(types))[:BADGES]


def _named(promotion: Mapping[str, Any]) -> bool:
    return isinstance(promotion.get("type"), str) and bool(promotion["type"])
