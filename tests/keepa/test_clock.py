from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.keepa import clock

minutes = st.integers(-clock.OFFSET, clock.LATEST)


@pytest.mark.parametrize(
    ("minute", "ms", "text"),
    [
        (0, 1293840000000, "2011-01-01T00:00:00Z"),
        (411180, 1318510800000, "2011-10-13T13:00:00Z"),
        (7207224, 1726273440000, "2024-09-14T00:24:00Z"),
        (8075762, 1778385720000, "2026-05-10T04:02:00Z"),
        (clock.LATEST, 253402300740000, "9999-12-31T23:59:00Z"),
        (-clock.OFFSET, 0, "1970-01-01T00:00:00Z"),
    ],
)
def test_known_moments(minute: int, ms: int, text: str) -> None:
    assert clock.iso(minute) == text
    assert clock.to_unix_ms(minute) == ms
    assert clock.from_unix_ms(ms + 59_999) == minute
    assert clock.from_iso(text) == minute


@given(minutes)
def test_text_and_minutes_agree(minute: int) -> None:
    assert clock.from_iso(clock.iso(minute)) == minute
    assert clock.from_datetime(clock.to_datetime(minute)) == minute


def test_a_moment_needs_a_zone() -> None:
    moment = datetime(2024, 1, 2, 5, 4, tzinfo=timezone(timedelta(hours=2)))
    assert clock.from_datetime(moment) == clock.from_iso("2024-01-02T03:04Z") == clock.from_iso("2024-01-02T03:04")
    assert clock.from_datetime(datetime(2024, 1, 2, tzinfo=UTC)) == clock.from_iso("2024-01-02")
    with pytest.raises(ValueError, match="no time zone"):
        clock.from_datetime(moment.replace(tzinfo=None))


@pytest.mark.parametrize("value", [0, -1, -2, None, "", "x", "--1", True, 1.5, [], 10**15, "9" * 30])
def test_a_field_without_a_time(value: Any) -> None:
    assert clock.field_time(value) is None


def test_in_a_history_every_number_is_a_time() -> None:
    assert clock.series_time(0) == "2011-01-01T00:00:00Z"
    assert clock.series_time("6838744") == clock.field_time(6838744) == "2024-01-02T03:04:00Z"
    assert clock.series_time("-2") == "2010-12-31T23:58:00Z"
    assert clock.series_time("x") is None


@pytest.mark.parametrize(("ms", "minute"), [(1778386768884, 8075780), (1778392006978, 8075866)])
def test_the_request_time_is_an_even_minute(ms: int, minute: int) -> None:
    assert clock.even_minute(ms) == minute
