"""Figures of a large product against a bare rendering of a trivial line chart, and against the time allowed for one.

The renderer is warmed up first; what its first call costs is in the detail of the last row.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.ops._actions import planner
from keepa_cli.research.figures import render, sets
from keepa_cli.research.figures.material import Material
from keepa_cli.research.figures.model import Figure

ROUNDS = 5
ALLOWED = 0.6
BAR = 25.0
NOW = 8_075_762
POINTS = {0: 300, 1: 1500, 3: 6000, 11: 600, 16: 120, 17: 4000, 18: 1500}
"""Change points by slot of `csv`: those of a product that sells well, over two years."""
TRIVIAL = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.21.json",
    "data": {"values": [{"x": x, "y": x % 7} for x in range(20)]},
    "mark": "line",
    "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
}
Row = dict[str, Any]


def run() -> Iterator[Row]:
    """Two rows per figure (SVG and PNG together): the ratio to a trivial chart, and the seconds of the 0.6 allowed."""
    material = _material()
    _draw_trivial()
    for name in sets.ALL:
        figure = next((f for f in _figures(material, name)), None)
        if figure is None:
            raise RuntimeError(f"{name} was not drawn")
        pairs = [(_seconds(lambda n=name: _draw(material, n)), _seconds(_draw_trivial)) for _ in range(ROUNDS)]
        ours, bare = (min(side) for side in zip(*pairs, strict=True))
        detail = f"{ours * 1000:.0f} ms, {figure.points} points, best of {ROUNDS}"
        yield {
            "name": f"figure {name}",
            "ratio": ours / ALLOWED,
            "bar": 1.0,
            "detail": f"{detail}; {ALLOWED} s allowed",
        }
        yield {
            "name": f"figure {name} against a trivial chart",
            "ratio": statistics.median(a / b for a, b in pairs),
            "bar": BAR,
            "detail": f"{bare * 1000:.0f} ms for the chart",
        }
    first = _first_call()
    yield {
        "name": "first rendering of a process",
        "ratio": first / (2 * ALLOWED),
        "bar": 1.0,
        "detail": f"{first * 1000:.0f} ms with the import of the renderer",
    }


def _draw(material: Material, name: str) -> None:
    """The first figure of a name, from the data to both files."""
    figure = next(iter(_figures(material, name)))
    spec = render.themed(figure, "light")
    render.png(spec, render.svg(spec))


def _draw_trivial() -> None:
    render.png(TRIVIAL, render.svg(TRIVIAL))


def _figures(material: Material, name: str) -> Iterator[Figure]:
    made = (f for f in _made(material, name))
    return (f for f in made if isinstance(f, Figure))


def _made(material: Material, name: str) -> Iterator[Any]:
    if name in sets.PER_PRODUCT:
        yield sets.OWN[name](material.products[0])
    else:
        yield sets.SHARED[name](material)


def _material() -> Material:
    found = Material(planner(Context(env={})), DOMAINS[1])
    products = [_product(f"B00AAAAA{i:02}", random.Random(i)) for i in range(6)]
    found.add("made", {"timestamp": (NOW + 21_564_000) * 60_000, "products": products})
    found.finish()
    return found


def _product(asin: str, source: random.Random) -> dict[str, Any]:
    csv: list[Any] = [None] * 36
    for slot, count in POINTS.items():
        times = sorted(source.sample(range(NOW - 730 * 1440, NOW), count))
        values = [_value(slot, source) for _ in times]
        triple = slot == 18
        csv[slot] = [n for t, v in zip(times, values, strict=True) for n in ((t, v, min(v, 0)) if triple else (t, v))]
    return {
        "asin": asin, "domainId": 1, "productType": 0, "title": f"Sample {asin}", "csv": csv, "brand": "Acme",
        "buyBoxSellerIdHistory": [str(NOW - 9000), "A2D7JKJIGBZO3G"], "monthlySold": 300, "lastUpdate": NOW,
    }  # fmt: skip


def _value(slot: int, source: random.Random) -> int:
    if slot == 3:
        return int(10 ** source.uniform(1, 5))
    if slot == 16:
        return source.randint(38, 48)
    return -1 if slot != 17 and source.random() < 0.01 else source.randint(900, 3000)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _first_call() -> float:
    """Seconds of the first rendering in a new process, without the start of Python."""
    code = (
        "import time; from benchmarks import bench_figures as b; t = time.perf_counter(); b._draw_trivial(); "
        "print(time.perf_counter() - t)"
    )
    done = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    return statistics.median(float(d.stdout) for d in done)
