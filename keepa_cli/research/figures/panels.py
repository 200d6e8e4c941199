"""Panels of one product over one time axis: step lines, shaded stretches, axes of one width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepa_cli.keepa import clock
from keepa_cli.keepa.series import Series
from keepa_cli.research.figures import lines
from keepa_cli.research.figures.lines import Span
from keepa_cli.research.figures.model import values
from keepa_cli.research.figures.text import cut
from keepa_cli.research.subject import Subject

PLOT = 782
AXIS = 62
"""Pixels of the plot and of its value axis: with paddings, title and edge a figure of 900."""
LINE: Mapping[str, Any] = {"type": "line", "interpolate": "step-after", "aria": False}
CLIPPED: Mapping[str, Any] = {**LINE, "clip": True}
"""Only where a peak leaves the axis: a PNG takes several times as long with it."""


@dataclass(frozen=True)
class Panel:
    """The series of one product over one window, as they are drawn."""

    subject: Subject
    start: int
    end: int
    series: Mapping[str, Series]
    spans: Mapping[str, list[Span]]

    @classmethod
    def of(cls, subject: Subject, types: Sequence[str], window: tuple[int, int] | None = None) -> Panel:
        """Over all history, or over the minutes of `window`."""
        series = {name: subject.series(name) for name in types if len(subject.series(name))}
        start, end = window or reach(subject, types)
        found = {name: lines.spans(s, start, end) for name, s in series.items()}
        return cls(subject, start, end, series, {n: lines.thinned(f) for n, f in found.items() if f})

    def lines(self, name: str, label: str) -> list[dict[str, Any]]:
        """The rows of a step line; none without a value."""
        if name not in self.spans:
            return []
        return lines.line(self.spans[name], label, lines.unit(self.series[name], self.subject.domain))

    @property
    def points(self) -> int:
        return sum(map(len, self.spans.values()))

    @property
    def x(self) -> dict[str, Any]:
        """The time axis that all panels share."""
        return {"field": "t", "type": "temporal", "scale": time_scale(self.start, self.end), "axis": self._x_axis}

    @property
    def bare_x(self) -> dict[str, Any]:
        """The same without labels."""
        return self.x | {"axis": {"title": None, "labels": False, "ticks": False, "domain": False, "grid": False}}

    @property
    def _x_axis(self) -> dict[str, Any]:
        return {"title": None, "tickCount": 8, "labelOverlap": True, "format": time_format(self.start, self.end)}

    @property
    def source(self) -> dict[str, Any]:
        domain = self.subject.domain
        return {
            "asin": self.subject.asin,
            "domain": domain.code,
            "from": clock.iso(self.start),
            "until": clock.iso(self.end),
            "series": {
                n: {"change_points": len(self.series[n]), **lines.source(self.series[n], found, domain)}
                for n, found in self.spans.items()
            },
        }

    def period(self, *more: str) -> str:
        """The marketplace, the currency and the days of the window, in words."""
        days = f"{clock.iso(self.start)[:10]} to {clock.iso(self.end)[:10]} UTC"
        return cut(" · ".join([f"Amazon {self.subject.domain.code}", self.subject.domain.currency, days, *more]), 130)


def reach(subject: Subject, types: Sequence[str]) -> tuple[int, int]:
    """From the first change point of any of the types until now."""
    firsts = [subject.series(name).times[0] for name in types if len(subject.series(name))]
    end = max([subject.now, *(first + 1 for first in firsts)])
    return min([*firsts, end - 1]), end


def time_scale(start: int, end: int) -> dict[str, Any]:
    return {"type": "utc", "domain": [lines.ms(start), lines.ms(end)], "nice": False}


def time_format(start: int, end: int) -> str:
    days = (end - start) // clock.DAY
    return "%b %Y" if days > 400 else "%d %b %Y" if days > 3 else "%d %b %H:%M"


def axis(title: str, number: str, **more: Any) -> dict[str, Any]:
    """A value axis of a fixed width, so that panels stand below each other."""
    return {"title": title, "format": number, "minExtent": AXIS, "maxExtent": AXIS, "tickCount": 5} | more


def shade(panel: Panel, name: str, style: str = "stock-out") -> list[dict[str, Any]]:
    """A layer with a rectangle over the whole height for every stretch in which the type was out of stock."""
    rows = [{"t": lines.ms(s.start), "until": lines.ms(s.end)} for s in lines.absences(panel.spans.get(name, []))]
    mark = {"type": "rect", "style": style, "aria": False}
    layer = {"data": values(rows), "mark": mark, "encoding": {"x": panel.x, "x2": {"field": "until"}}}
    return [layer] if rows else []


def single(panel: Panel, rows: list[dict[str, Any]], y: Mapping[str, Any], height: int, style: str) -> dict[str, Any]:
    """A panel with one line, over the stretches in which nobody offered the product new."""
    encoding = {"x": panel.x, "y": y, "detail": {"field": "run"}}
    layer = {"data": values(rows), "mark": {**LINE, "strokeWidth": 1.5, "style": style}, "encoding": encoding}
    return {"width": PLOT, "height": height, "layer": [*shade(panel, "NEW"), layer]}
