"""Who held the buy box: the share of time per seller, how concentrated it is, and how often it changed hands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from keepa_cli.keepa.buybox import NEW_COUNT, NEW_PRICE, NOBODY, buy_box_stats, holders, tenures
from keepa_cli.keepa.clock import DAY, iso
from keepa_cli.keepa.csvtypes import csv_type
from keepa_cli.keepa.money import money
from keepa_cli.keepa.series import Series
from keepa_cli.research.business.scales import CONCENTRATED_HHI
from keepa_cli.research.facts import Confidence, Reason, Section, derived
from keepa_cli.research.subject import Subject

VERSION = "1"
WINDOWS = (30, 90, 180, 365)
FIELD = "buyBoxSellerIdHistory"


def buybox_share(s: Subject, windows: Sequence[int] = WINDOWS) -> Section:
    """`{holder, windows: {"30": {sellers, concentration, changes, …}}}`; null windows with the reason without history.

    Shares are Keepa's: minutes with a buy box price, of all minutes of the window.
    """
    held = holders(s.product.get(FIELD))
    path = s.at(FIELD) if FIELD in s.product else s.path
    if not held:
        return Section().lack("holder", _why(s)).lack("windows", _why(s))
    found = Section().put("holder", _holder(s, held, path))
    row = _row(s)
    return found.put("windows", {str(days): _window(s, row, held, days, path) for days in windows})


def _why(s: Subject) -> Reason:
    given = s.product.get(FIELD)
    if isinstance(given, list) and given:
        return Reason.UNREADABLE
    return Reason.NOT_COLLECTED if s.asked.buybox else Reason.NOT_REQUESTED


def _row(s: Subject) -> list[Series]:
    """The two series that the shares are made of, at their slots; the others stay undecoded."""
    needed = (NEW_PRICE, NEW_COUNT)
    return [s.series(csv_type(i)) if i in needed else Series(csv_type(i)) for i in range(max(needed) + 1)]


def _holder(s: Subject, held: list[tuple[int, str]], path: str) -> Section | None:
    """Who holds it now, None for nobody."""
    now = [h for h in held if h[0] <= s.now]
    if not now or now[-1][1] in NOBODY:
        return None
    return Section({"seller_id": now[-1][1], "at": iso(now[-1][0]), "evidence_path": path})


def _window(s: Subject, row: list[Series], held: list[tuple[int, str]], days: int, path: str) -> Section:
    start, end = s.now - days * DAY, s.now
    stats = buy_box_stats(s.product, row, start, end)
    sellers = [_seller(s, name, won, path) for name, won in stats.items()]
    sellers.sort(key=lambda one: (-one["share_percent"], one["seller_id"]))
    paths = [path, s.series_path("BUY_BOX_SHIPPING")]
    found = Section().put("sellers", sellers, Reason.NONE)
    found["covered_days"] = round(max(0, end - max(start, held[0][0])) / DAY, 2)
    found["concentration"] = _concentration(s, start, end, paths[0])
    found["changes_of_holder"] = _changes(s, start, end, paths[0])
    return found


def _seller(s: Subject, name: str, won: dict[str, Any], path: str) -> Section:
    found = Section({"seller_id": name, "share_percent": round(won["percentageWon"], 2)})
    known = won["avgPrice"] >= 0
    found.put("average_price", money(won["avgPrice"], s.domain) if known else None, Reason.NOT_COMPUTABLE)
    found.put("is_fba", won["isFBA"] if isinstance(won["isFBA"], bool) else None, Reason.NOT_REQUESTED)
    found["last_seen_at"] = iso(won["lastSeen"])
    found["evidence_path"] = path
    return found


def _concentration(s: Subject, start: int, end: int, path: str) -> Section:
    """The sum of the squared shares of the time that anybody held it: 10,000 is one seller alone."""
    minutes: dict[str, int] = {}
    for seller, since, until in tenures(s.product.get(FIELD), start, end):
        if seller not in NOBODY:
            minutes[seller] = minutes.get(seller, 0) + until - since
    total = sum(minutes.values())
    squares = sum(m * m for m in minutes.values())
    index = round(squares * 10_000 / (total * total), 2) if total else None
    found = derived(
        index,
        method="herfindahl_hirschman_index",
        inputs={"sellers": len(minutes), "minutes_held": total},
        confidence=Confidence.HIGH,
        evidence_path=path,
        version=VERSION,
        unit="points_of_10000",
    )
    if index is not None:
        found["level"] = "few_hands" if index >= CONCENTRATED_HHI else "many_hands"
    return found


def _changes(s: Subject, start: int, end: int, path: str) -> Section:
    """How often another seller took over; times without any holder are bridged."""
    order = [seller for seller, _, _ in tenures(s.product.get(FIELD), start, end) if seller not in NOBODY]
    return derived(
        sum(a != b for a, b in pairwise(order)),
        method="changes_between_sellers",
        inputs={"stretches": len(order)},
        confidence=Confidence.HIGH,
        evidence_path=path,
        version=VERSION,
        unit="changes",
    )
