"""Keepa minutes: whole minutes since 2011-01-01T00:00Z, always UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = datetime(2011, 1, 1, tzinfo=UTC)
OFFSET = 21_564_000
DAY = 1440
MINUTE_MS = 60_000
LATEST = 4_201_807_679
"""9999-12-31T23:59Z: the last minute that a date can show."""

_MINUTE = timedelta(minutes=1)
_NAIVE = EPOCH.replace(tzinfo=None)


def to_datetime(minute: int) -> datetime:
    """The moment of a Keepa minute; OverflowError beyond the year 9999."""
    return EPOCH + minute * _MINUTE


def iso(minute: int) -> str:
    """A Keepa minute as RFC 3339 text ending in Z."""
    return (_NAIVE + minute * _MINUTE).isoformat() + "Z"


def from_datetime(moment: datetime) -> int:
    """The Keepa minute in which `moment` falls. A moment without a zone is refused, never taken for local time."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} names no time zone")
    return (moment - EPOCH) // _MINUTE


def from_iso(text: str) -> int:
    """The Keepa minute of an RFC 3339 text, a date (midnight UTC), or a date and time without a zone (UTC)."""
    moment = datetime.fromisoformat(text)
    return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def to_unix_ms(minute: int) -> int:
    return (minute + OFFSET) * MINUTE_MS


def from_unix_ms(ms: int) -> int:
    return ms // MINUTE_MS - OFFSET


def even_minute(ms: int) -> int:
    """The even Keepa minute nearest to a Unix time in ms: Keepa's "now" of a request with that `timestamp`."""
    return round((ms / MINUTE_MS - OFFSET) / 2) * 2


def series_time(value: Any) -> str | None:
    """A time in a history (number or decimal text) as ISO text: every number is real there, also 0."""
    minute = as_minute(value)
    return None if minute is None else iso(minute)


def field_time(value: Any) -> str | None:
    """The time of a field such as `lastUpdate` as ISO text; 0, negative numbers and null mean "not available"."""
    minute = as_minute(value)
    return iso(minute) if minute is not None and minute > 0 else None


def as_minute(value: Any) -> int | None:
    """A Keepa minute given as a number or as decimal text; None when it is neither or no date can show it."""
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,15}", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not -OFFSET <= value <= LATEST:
        return None
    return value
