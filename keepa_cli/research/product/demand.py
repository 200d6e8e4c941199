"""How well it sells: sales rank, "bought in past month", and how often the rank improved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.clock import DAY, as_minute, iso
from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.keepa.series import Series, read_series
from keepa_cli.keepa.stats import WINDOWS, delta_percent, rank_drops
from keepa_cli.research.facts import Confidence, Reason, Section, derived
from keepa_cli.research.product.category import category_names, reference
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.values import moment, number, why_none
from keepa_cli.research.subject import Subject

CATEGORIES_SHOWN, CATEGORIES_WHOLE = 2, 20
DELTA_DAYS = 90
RANK, SOLD = BY_NAME["SALES"], BY_NAME["COUNT_NEW"]
"""`SOLD`: the history of monthly sales is laid out like a count."""


def section(look: Look) -> Section:
    s, wants = look.subject, look.wants("demand")
    found = Section()
    found.put("sales_rank", _rank(s), why_none(s, "SALES"))
    if wants("category_ranks"):
        found.put("category_ranks", _category_ranks(look), _why_no_ranks(s))
    found["monthly_sold"] = _monthly_sold(s)
    if wants("monthly_sold_change_90d"):
        found["monthly_sold_change_90d"] = _sold_change(s)
    if wants("rank_drops"):
        found["rank_drops"] = _drops(s)
    return found


def _rank(s: Subject) -> Section | None:
    fact = number(s, "SALES")
    if fact is None:
        return None
    category = reference(s.product)
    fact.put("category_id", category, Reason.NOT_COLLECTED)
    name = category_names(s.product).get(category) if category is not None else None
    return fact.put("category_name", name, Reason.NOT_COLLECTED)


def _category_ranks(look: Look) -> list[Section]:
    """The newest rank in each category beside the main one, best first."""
    s = look.subject
    main, names = reference(s.product), category_names(s.product)
    found = []
    for key, packed in _ranks(s).items():
        series = read_series(packed, RANK)
        at = series.index_at(s.now)
        if key == str(main) or at < 0 or series.values[at] < 0:
            continue
        fact = Section(category_id=int(key)).put("category_name", names.get(int(key)), Reason.NOT_COLLECTED)
        fact["value"], fact["at"] = series.values[at], iso(series.times[at])
        fact["evidence_path"] = s.at("salesRanks", key)
        found.append(fact)
    found.sort(key=lambda fact: (fact["value"], fact["category_id"]))
    return found[: CATEGORIES_WHOLE if look.whole else CATEGORIES_SHOWN]


def _ranks(s: Subject) -> Mapping[str, Any]:
    found = s.product.get("salesRanks")
    if not isinstance(found, Mapping):
        return {}
    return {k: v for k, v in found.items() if isinstance(k, str) and k.isascii() and k.isdecimal() and len(k) < 20}


def _why_no_ranks(s: Subject) -> Reason:
    if not s.asked.history and "salesRanks" not in s.product:
        return Reason.NOT_REQUESTED
    return Reason.NONE if isinstance(s.product.get("salesRanks"), Mapping) else Reason.NOT_COLLECTED


def _monthly_sold(s: Subject) -> Section:
    """The bottom of the bracket that Amazon shows ("100K+ bought in past month"): at least so many."""
    value = s.product.get("monthlySold")
    known = value if type(value) is int and value >= 0 else None
    reason = Reason.NONE if value == -1 else Reason.NOT_COLLECTED if value is None else Reason.UNREADABLE
    fact = derived(
        known,
        method="bottom_of_bracket",
        inputs={},
        confidence=Confidence.LOWER_BOUND,
        evidence_path=_where(s, "monthlySold"),
        reason=reason,
    )
    return fact.put("at", moment(s.product, "lastSoldUpdate"), Reason.NOT_COLLECTED)


def _sold_change(s: Subject) -> Section:
    """Keepa's figure is (mean - now) / mean: negative when sales rose. `direction` says so in a word; there is none
    for 0, which also stands for "not computable"."""
    history = read_series(s.product.get("monthlySoldHistory"), SOLD)
    told = s.stats.get("deltaPercent90_monthlySold")
    value: int | None
    if type(told) is int:
        value, method, path = told, "keepa", s.at("stats", "deltaPercent90_monthlySold")
    else:
        in_window = len(history) and history.index_at(s.now) >= 0 and history.last() >= 0
        value = delta_percent(history, s.now - DELTA_DAYS * DAY, s.now) if in_window else None
        method, path = "mean_minus_current_by_mean", _where(s, "monthlySoldHistory")
    if value == 0 and not len(history):
        value = None
    fact = derived(
        value,
        method=method,
        inputs={"window_days": DELTA_DAYS},
        confidence=Confidence.LOW,
        evidence_path=path,
        reason=Reason.NOT_COMPUTABLE if s.asked.history else Reason.NOT_REQUESTED,
        unit="percent",
    )
    if value is not None:
        fact["direction"] = "sales_rose" if value < 0 else "sales_fell" if value > 0 else "unchanged"
    return fact


def _drops(s: Subject) -> Section:
    """How often the rank improved in each window: Keepa's count where it is there, else an estimate."""
    told = {str(days): s.stats.get(f"salesRankDrops{days}") for days in WINDOWS}
    keepa = {days: n for days, n in told.items() if type(n) is int and n >= 0}
    found = Section()
    if keepa:
        for name in told:
            found.put(name, keepa.get(name), Reason.NOT_COLLECTED)
        path: Any = s.at("stats")
        return _with_method(found, "keepa", Confidence.EXACT, path)
    series = s.series(RANK)
    until = _counted_until(s)
    for days in WINDOWS:
        found.put(str(days), _estimate(series, until - days * DAY), _why_no_drops(s, series))
    return _with_method(found, "estimate", Confidence.MEDIUM, s.series_path(RANK))


def _with_method(found: Section, method: str, confidence: Confidence, path: str) -> Section:
    found |= {"method": method, "inputs": {}, "confidence": confidence.value, "evidence_path": path}
    return found


def _counted_until(s: Subject) -> int:
    """Keepa counts when it refreshes the product, not when it is asked."""
    updated = as_minute(s.product.get("lastUpdate"))
    return updated if updated is not None and updated > 0 else s.now


def _estimate(series: Series, start: int) -> int | None:
    """None where the history begins inside of the window: the count would be of less than the window says."""
    known = len(series) and series.times[0] <= start
    return rank_drops(series, start) if known else None


def _why_no_drops(s: Subject, series: Series) -> Reason:
    return Reason.TOO_LITTLE_HISTORY if len(series) else s.why_no(RANK)


def _where(s: Subject, name: str) -> str:
    return s.at(name) if name in s.product else s.path
