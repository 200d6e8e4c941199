"""Rows of histories: `asin, domain, series, time, value, raw, unit, currency`, as objects, lines of JSON or of CSV.

A history of thousands of points has a few hundred different values on few days: texts are made once for each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from keepa_cli.keepa.clock import DAY, iso
from keepa_cli.research.facts import ABSENT, Reason
from keepa_cli.research.history.tracks import Track
from keepa_cli.research.history.units import Raw, why_null

COLUMNS = ("asin", "domain", "series", "time", "value", "raw", "unit", "currency")
_CLOCK = tuple(f"T{m // 60:02}:{m % 60:02}:00Z" for m in range(DAY))
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_QUOTED = frozenset(',"\r\n')


@dataclass(frozen=True)
class Piece:
    """The points of one track of one product that are wanted."""

    asin: str
    track: Track
    times: Sequence[int]
    raws: Sequence[Raw]


class _Days(dict[int, str]):
    """The dates of days since 2011, made when first asked for."""

    def __missing__(self, day: int) -> str:
        date = self[day] = iso(day * DAY)[:10]
        return date


def clock_texts(times: Sequence[int], days: _Days | None = None) -> list[str]:
    """Keepa minutes as RFC 3339 text; the date of a day is made once."""
    dates = _Days() if days is None else days
    return [dates[minute // DAY] + _CLOCK[minute % DAY] for minute in times]


def objects(piece: Piece, *, reasons: bool = False) -> Iterator[dict[str, Any]]:
    """The rows as objects; with `reasons` every null has its reason in `absent`, as in all views."""
    track = piece.track
    code, name = track.domain.code, track.name
    tails: dict[Raw, dict[str, Any]] = {}
    for time, raw in zip(clock_texts(piece.times), piece.raws, strict=True):
        tail = tails.get(raw)
        if tail is None:
            tail = tails[raw] = _tail(track, raw, reasons)
        yield {"asin": piece.asin, "domain": code, "series": name, "time": time, **tail}


def _tail(track: Track, raw: Raw, reasons: bool) -> dict[str, Any]:
    value, unit, currency = track.unit.cell(raw, track.domain)
    tail = {"value": value, "raw": raw, "unit": unit, "currency": currency}
    absent = {"value": why_null(raw).value} if value is None else {}
    absent |= {"currency": Reason.NOT_APPLICABLE.value} if currency is None else {}
    return tail | ({ABSENT: absent} if reasons and absent else {})


def csv_text(pieces: Iterable[Piece]) -> Iterator[str]:
    """RFC 4180 with a head line, lines ending in LF; what a spreadsheet would take for a formula gets an apostrophe."""
    yield ",".join(COLUMNS) + "\n"
    days = _Days()
    for piece in pieces:
        head = ",".join(map(_cell, (piece.asin, piece.track.domain.code, piece.track.name))) + ","
        yield _lines(piece, head, _csv_tail, days)


def _csv_tail(track: Track, raw: Raw) -> str:
    value, unit, currency = track.unit.cell(raw, track.domain)
    if type(raw) is int:
        return f",{'' if value is None else value},{raw},{unit},{currency or ''}\n"
    return f",{_cell(value)},{_cell(raw)},{unit},{currency or ''}\n"


def jsonl_text(pieces: Iterable[Piece]) -> Iterator[str]:
    """One JSON object a line."""
    days = _Days()
    for piece in pieces:
        names = {"asin": piece.asin, "domain": piece.track.domain.code, "series": piece.track.name}
        head = json.dumps(names)[:-1] + ', "time": "'
        yield _lines(piece, head, _jsonl_tail, days)


def _jsonl_tail(track: Track, raw: Raw) -> str:
    return '", ' + json.dumps(_tail(track, raw, False))[1:] + "\n"


def json_text(pieces: Iterable[Piece]) -> Iterator[str]:
    """One array of objects, a row a line."""
    yield "["
    before = "\n"
    for piece in pieces:
        text = "".join(jsonl_text([piece]))
        if text:
            yield before + text[:-1].replace("}\n{", "},\n{")
            before = ",\n"
    yield "\n]\n"


def _lines(piece: Piece, head: str, tail: Callable[[Track, Raw], str], days: _Days) -> str:
    """head + time + tail for every point; the tail depends on the raw value alone."""
    ends = {raw: tail(piece.track, raw) for raw in set(piece.raws)}
    return "".join([head + t + ends[r] for t, r in zip(clock_texts(piece.times, days), piece.raws, strict=True)])


def _cell(value: Any) -> str:
    """A CSV field. Negative numbers stay numbers; other text that begins like a formula is marked as text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if text.startswith(_FORMULA) and not (text[1:].isascii() and text[1:].isdecimal()):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if not _QUOTED.isdisjoint(text) else text
