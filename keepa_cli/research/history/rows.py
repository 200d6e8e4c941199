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


def clock_texts(times: Sequence[int]) -> list[str]:
    """Keepa minutes as RFC 3339 text; the date of a day is made once."""
    days: dict[int, str] = {}
    texts = []
    for minute in times:
        day, rest = divmod(minute, DAY)
        date = days.get(day)
        if date is None:
            date = days[day] = iso(day * DAY)[:10]
        texts.append(date + _CLOCK[rest])
    return texts


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
    for piece in pieces:
        head = ",".join(map(_cell, (piece.asin, piece.track.domain.code, piece.track.name))) + ","
        yield _lines(piece, head, _csv_tail)


def _csv_tail(track: Track, raw: Raw) -> str:
    tail = _tail(track, raw, False)
    return "," + ",".join(_cell(tail[name]) for name in COLUMNS[4:]) + "\n"


def jsonl_text(pieces: Iterable[Piece]) -> Iterator[str]:
    """One JSON object a line."""
    for piece in pieces:
        names = {"asin": piece.asin, "domain": piece.track.domain.code, "series": piece.track.name}
        head = json.dumps(names)[:-1] + ', "time": "'
        yield _lines(piece, head, _jsonl_tail)


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


def _lines(piece: Piece, head: str, tail: Callable[[Track, Raw], str]) -> str:
    """head + time + tail for every point; the tail depends on the raw value alone."""
    ends = {raw: tail(piece.track, raw) for raw in set(piece.raws)}
    return "".join([head + t + ends[r] for t, r in zip(clock_texts(piece.times), piece.raws, strict=True)])


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
