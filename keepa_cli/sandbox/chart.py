"""The pictures of /graphimage: the price history of a product as step lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.series import Series, read_series
from keepa_cli.sandbox.catalogue.market import Market
from keepa_cli.sandbox.drawing import Canvas, Colour

SERIES: Mapping[str, tuple[int, str, str]] = {
    "amazon": (0, "cAmazon", "ffa500"), "new": (1, "cNew", "8888dd"), "used": (2, "cUsed", "444444"),
    "salesrank": (3, "cSales", "8fbc8f"), "bb": (18, "cBB", "ff00b4"), "bbu": (32, "cBBU", "da66ff"),
    "fba": (10, "cFBA", "ff5722"), "fbm": (7, "cFBM", "039be5"), "ld": (8, "cLD", "e10000"),
    "wd": (9, "cWD", "9c27b0"), "pe": (33, "cPE", "00b7ee"),
}  # fmt: skip
"""Switch -> price type, its colour parameter, and the colour without it."""
BACKGROUND, FONT = "ffffff", "444444"
SHOWN_AT_FIRST = ("amazon", "new")
OTHERS = ("1f77b4", "2ca02c", "d62728", "9467bd", "8c564b", "e377c2", "7f7f7f", "bcbd22", "17becf")
MARGIN, LINES, TITLE_HEIGHT, LEGEND_WIDTH = 12, 4, 12, 24
SALES = 3


@dataclass(frozen=True)
class Chart:
    """What a picture shows. `colours` by parameter name; `types` are further price types."""

    width: int = 500
    height: int = 200
    days: int = 90
    thick: int = 2
    on: frozenset[str] = frozenset(SHOWN_AT_FIRST)
    types: tuple[int, ...] = ()
    zoomed: bool = True
    title: bool = True
    legend: bool = False
    second: bool = False
    colours: Mapping[str, str] = field(default_factory=dict)


def draw(chart: Chart, market: Market | None, now: int) -> bytes:
    """The picture as PNG; without a market only its frame."""
    lines = [(slot, _rgb(chart.colours.get(name, plain))) for slot, name, plain in _wanted(chart)]
    grey = _rgb("dddddd")
    palette = [_rgb(chart.colours.get("cBackground", BACKGROUND)), _rgb(chart.colours.get("cFont", FONT)), grey]
    canvas = Canvas(chart.width, chart.height, [*palette, *(colour for _, colour in lines)])
    top = MARGIN + (TITLE_HEIGHT if chart.title else 0)
    right = chart.width - MARGIN - (LEGEND_WIDTH if chart.legend else 0)
    bottom = chart.height - MARGIN - (chart.height // 3 if chart.second else 0)
    box = (MARGIN, top, right, bottom)
    if chart.title:
        canvas.fill(MARGIN, 4, MARGIN + chart.width // 3, 8, 1)
    for index in range(len(lines) if chart.legend else 0):
        canvas.fill(right + 6, top + 8 * index, right + 16, top + 8 * index + 4, 3 + index)
    _frame(canvas, box)
    known = [(i, market.series(slot)) for i, (slot, _) in enumerate(lines)] if market else []
    for group in ([k for k in known if k[1].type.index == SALES], [k for k in known if k[1].type.index != SALES]):
        _plot(canvas, box, group, chart, now)
    if chart.second and market:
        lower = (MARGIN, bottom + 8, right, chart.height - MARGIN)
        _frame(canvas, lower)
        sold = read_series(market.fields["monthlySoldHistory"], 11)
        _plot(canvas, lower, [(-2, sold)], chart, now)
    return canvas.png()


def _wanted(chart: Chart) -> list[tuple[int, str, str]]:
    found = [SERIES[name] for name in SERIES if name in chart.on]
    there = {slot for slot, _, _ in found}
    return found + [(slot, "", OTHERS[slot % len(OTHERS)]) for slot in chart.types if slot not in there]


def _frame(canvas: Canvas, box: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = box
    for i in range(LINES + 1):
        y = top + (bottom - top) * i // LINES
        canvas.fill(left, y, right, y, 2)
    canvas.fill(left, bottom, right, bottom, 1)
    canvas.fill(left, top, left, bottom, 1)


def _plot(
    canvas: Canvas, box: tuple[int, int, int, int], lines: Iterable[tuple[int, Series]], chart: Chart, now: int
) -> None:
    """Lines on one scale: from their lowest to their highest value when zoomed, else from zero."""
    left, top, right, bottom = box
    start = now - chart.days * DAY
    spans = [(i, [s for s in series.spans(start, now) if s[0] >= 0]) for i, series in lines]
    values = [value for _, found in spans for value, _, _ in found]
    if not values:
        return
    low, high = (min(values) if chart.zoomed else 0), max(values)
    reach = max(1, high - low)
    for index, found in spans:
        run: list[tuple[int, int]] = []
        ended = None
        for value, since, until in found:
            x = left + (since - start) * (right - left) // (now - start)
            y = bottom - 2 - (value - low) * (bottom - top - 6) // reach
            if ended is not None and since > ended:
                _line(canvas, run, ended, start, now, box, chart, index)
                run = []
            run.append((x, y))
            ended = until
        _line(canvas, run, ended, start, now, box, chart, index)


def _line(
    canvas: Canvas, run: list[tuple[int, int]], ended: int | None, start: int, now: int,
    box: tuple[int, int, int, int], chart: Chart, index: int,
) -> None:  # fmt: skip
    if run and ended is not None:
        end = box[0] + (ended - start) * (box[2] - box[0]) // (now - start)
        canvas.steps(run, end, chart.thick, 3 + index)


def _rgb(text: str) -> Colour:
    red, green, blue = bytes.fromhex(text)
    return red, green, blue
