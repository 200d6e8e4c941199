"""Every history of the product: how much of it there is, and the newest points of the main series."""

from __future__ import annotations

from typing import Any

from keepa_cli.keepa.clock import iso
from keepa_cli.research.facts import Section
from keepa_cli.research.history.rows import clock_texts
from keepa_cli.research.history.tracks import Track, tracks
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.temporal_features import SERIES

SHOWN = frozenset({*SERIES, "monthly_sold"}) - {"rating", "new_fba_offer_count"}
"""The series whose newest points are shown."""
PARTS = (":price", ":shipping")


def section(look: Look) -> Section:
    """`{history_limit, evidence_path, series: {name: {points, first_at, last_at | newest, slot | evidence_path}},
    without_data: {reason: [names]}}`.

    `slot` is the place below `evidence_path`. `newest` are [time, raw value] pairs, the last is the newest; null is
    no value (no offer, no rank). The price and the shipping of a triple are counted once, under the landed price; the
    histories of single offers are not listed.
    """
    subject = look.subject
    found, without = Section(), {}  # type: dict[str, Any], dict[str, list[str]]
    for track in tracks(subject).values():
        if track.name.startswith("offer:") or track.name.endswith(PARTS):
            continue
        if len(track):
            found[track.name] = series_section(track, look.history_limit)
        else:
            without.setdefault(track.reason.value, []).append(track.name)
    shown = Section(history_limit=look.history_limit)
    shown["evidence_path"] = subject.at("csv") if "csv" in subject.product else subject.path
    return Section(shown, series=found, without_data=without)


def series_section(track: Track, limit: int) -> dict[str, Any]:
    times, raws = track.times, track.raws
    shown: dict[str, Any] = {"points": len(track), "first_at": iso(times[0])}
    if track.name in SHOWN and limit > 0:
        shown["newest"] = [
            [time, None if track.unit.cell(raw, track.domain)[0] is None else raw]
            for time, raw in zip(clock_texts(times[-limit:]), raws[-limit:], strict=True)
        ]
    elif len(track) > 1:
        shown["last_at"] = iso(times[-1])
    if track.type is None:
        return shown | {"evidence_path": track.path}
    return shown | {"slot": track.type.index}
