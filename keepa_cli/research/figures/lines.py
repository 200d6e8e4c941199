"""A series as what is drawn: points of a step line, stretches without a value, the range they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from keepa_cli.keepa import clock
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.series import OK, OUT_OF_STOCK, Series, plain, state_of
from keepa_cli.research.history.downsample import keep

MOST_POINTS = 700
"""More change points of a series than this cannot be told apart on a figure."""

AVAILABLE, NOT_OFFERED, NOT_COLLECTED = "offered", "no offer", "not collected"
STATES = (AVAILABLE, NOT_OFFERED, NOT_COLLECTED)


@dataclass(frozen=True)
class Span:
    """A stretch of a step function: `value` holds from the minute `start` until `end`."""

    value: int
    start: int
    end: int


def spans(series: Series, start: int, end: int) -> list[Span]:
    """The stretches inside the window; neighbours of one value are one."""
    found: list[Span] = []
    for value, since, until in series.spans(start, end):
        if found and found[-1].value == value:
            found[-1] = Span(value, found[-1].start, until)
        else:
            found.append(Span(value, since, until))
    return found


def thinned(found: Sequence[Span], most: int = MOST_POINTS) -> list[Span]:
    """About `most` of the stretches: the ends, the extremes and every stock-out stay; each lasts until the next."""
    chosen = keep([s.start for s in found], [s.value for s in found], most)
    ends = [found[i].start for i in chosen[1:]] + [s.end for s in found[-1:]]
    return [Span(found[i].value, found[i].start, end) for i, end in zip(chosen, ends, strict=True)]


def unit(series: Series, domain: Domain) -> float:
    """What one raw step is worth on an axis: a hundredth for cents, a tenth for ratings."""
    if series.type.is_price:
        return float(10**domain.digits)
    return 10 if series.type.kind.value == "score" else 1


def line(found: Sequence[Span], name: str, divisor: float) -> list[dict[str, Any]]:
    """Rows of a step line: a point where each value begins, and one where each run of values ends."""
    rows: list[dict[str, Any]] = []
    run, until = 0, None
    for span in found:
        if span.value < 0:
            continue
        if until != span.start:
            _close(rows, until)
            run += 1
        rows.append({"t": ms(span.start), "v": span.value / divisor, "series": name, "run": f"{name} {run}"})
        until = span.end
    _close(rows, until)
    return rows


def _close(rows: list[dict[str, Any]], until: int | None) -> None:
    if rows and until is not None:
        rows.append(rows[-1] | {"t": ms(until)})


def absences(found: Sequence[Span]) -> list[Span]:
    """The stretches out of stock, as Keepa's -1 says it; -2 is a gap in what is known, no stock-out."""
    return [s for s in found if s.value == -1]


def availability(series: Series, found: Sequence[Span], row: str) -> list[dict[str, Any]]:
    """Rows of the availability strip: the series's states in time order, neighbours joined."""
    rows: list[dict[str, Any]] = []
    for span in found:
        state = {OK: AVAILABLE, OUT_OF_STOCK: NOT_OFFERED}.get(state_of(span.value, series.type.kind), NOT_COLLECTED)
        if rows and rows[-1]["state"] == state and rows[-1]["until"] == ms(span.start):
            rows[-1]["until"] = ms(span.end)
        else:
            rows.append({"row": row, "t": ms(span.start), "until": ms(span.end), "state": state})
    return rows


def source(series: Series, found: Sequence[Span], domain: Domain) -> dict[str, Any]:
    """What a source file tells of a series: every drawn change point, exact, and every stock-out."""
    t = series.type
    about = {"unit": t.kind.value} | ({"currency": domain.currency} if t.is_price else {})
    return about | {
        "points": [{"time": clock.iso(s.start), "raw": s.value, "value": plain(t, domain, s.value)} for s in found],
        "until": clock.iso(found[-1].end) if found else None,
        "stock_outs": [{"from": clock.iso(s.start), "until": clock.iso(s.end)} for s in absences(found)]
        if t.is_price
        else [],
    }


def price_range(rows: Sequence[dict[str, Any]]) -> tuple[float, float, float | None]:
    """(lowest, highest, the peak that is cut off or None) of a price axis: a rare spike must not flatten the rest.

    A peak is cut where it is more than four times as high as what the price exceeds for a twentieth of the time.
    """
    held: list[tuple[float, int]] = []
    for a, b in pairwise(rows):
        if a["run"] == b["run"]:
            held.append((a["v"], max(b["t"] - a["t"], 1)))
    held.sort()
    total, seen, usual = sum(w for _, w in held), 0, 0.0
    for value, weight in held:
        seen, usual = seen + weight, value
        if seen >= total * 0.95:
            break
    top = max(v for v, _ in held)
    low = held[0][0]
    high = usual if top > 4 * usual > 0 else top
    room = (high - low) * 0.08 or high * 0.1 or 1.0
    return max(0.0, low - room), high + room, top if top > high else None


def common_range(ranges: Sequence[tuple[float, float, float | None]]) -> tuple[float, float, float | None]:
    """One axis for several lines; the peak is told only where it is beyond all of them."""
    high = max(r[1] for r in ranges)
    peak = max((r[2] for r in ranges if r[2] and r[2] > high), default=None)
    return min(r[0] for r in ranges), high, peak


def log_ticks(low: float, high: float, most: int = 7) -> list[int]:
    """Where a logarithmic axis has its labels: 1, 2 and 5 of every power of ten, only 1 where those are too many."""
    powers = [10**k for k in range(10)]
    found = [m * p for p in powers for m in (1, 2, 5) if low <= m * p <= high]
    tens = [p for p in powers if low <= p <= high]
    return found if len(found) <= most else tens


def ms(minute: int) -> int:
    return clock.to_unix_ms(minute)
