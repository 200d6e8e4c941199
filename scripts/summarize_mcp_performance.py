"""The history of several runs of check_mcp_performance.py: the worst of each figure, and tighter bars it allows.

python scripts/summarize_mcp_performance.py FILE_OR_FOLDER ...
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SCHEMA = 1
ROOM = {"ratio_p50": 1.25, "ratio_p95": 1.5, "json_bytes": 1.1, "text_bytes": 1.1, "structured_bytes": 1.1}
"""How far above the worst run a proposed bar stands."""
ENOUGH = 3
"""Runs that it takes before a bar is proposed."""


class Unreadable(Exception):
    """A file that is no artifact; the message names it."""


def read(places: Sequence[Path]) -> list[dict[str, Any]]:
    """The artifacts of files and folders, the oldest first. Raises Unreadable."""
    files = [f for p in places for f in (sorted(p.rglob("*.json")) if p.is_dir() else [p])]
    return sorted((_artifact(file) for file in dict.fromkeys(files)), key=lambda run: str(run["taken_at"]))


def _artifact(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        if found["schema"] != SCHEMA:
            raise Unreadable(f"{file} has the schema {found['schema']!r}; {SCHEMA} is read here")
        for row in found["measures"].values():
            _ = [float(row[name]) for name in (*ROOM, "p95_ms")]
        _ = found["taken_at"], found["thresholds"].items()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"{file} is no artifact of check_mcp_performance.py ({type(error).__name__})") from None
    whole: dict[str, Any] = found
    return whole


def history(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row for each figure of each measure: how often it was taken, its median and worst, its bar, a tighter one."""
    names = list(dict.fromkeys(name for run in runs for name in run["measures"]))
    return [row for name in names for row in _rows(name, runs)]


def _rows(name: str, runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    taken = [run for run in runs if name in run["measures"]]
    rows = []
    for figure in ("p95_ms", *ROOM):
        values = [float(run["measures"][name][figure]) for run in taken]
        bar = taken[-1]["thresholds"].get(name, {}).get(figure)
        row = {"what": name, "figure": figure, "runs": len(values), "median": statistics.median(values)}
        rows.append(row | {"worst": max(values), "bar": bar, "proposed": proposed(figure, values, bar)})
    return rows


def proposed(figure: str, values: Sequence[float], bar: float | None) -> float | None:
    """A bar that every run holds with some room, where it is tighter than the present one."""
    if bar is None or len(values) < ENOUGH or not max(values):
        return None
    wanted = max(values) * ROOM[figure]
    tight = math.ceil(wanted * 10) / 10 if figure.startswith("ratio") else float(math.ceil(wanted / 100) * 100)
    return tight if tight < bar else None


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    head = ("what", "figure", "runs", "median", "worst", "bar", "proposed")
    lines = [head, *(tuple(_cell(row[name]) for name in head) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float | int) and value < 1000 else str(value).removesuffix(".0")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("places", nargs="+", type=Path, metavar="FILE_OR_FOLDER")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    chosen = parser.parse_args(argv)
    try:
        runs = read(chosen.places)
    except Unreadable as error:
        parser.error(str(error))
    if not runs:
        parser.error("there is no artifact; write some with check_mcp_performance.py --out FILE")
    rows = history(runs)
    if chosen.json:
        print(json.dumps(rows, indent=1))
        return 0
    print(table(rows))
    failed = sum(bool(run.get("over")) for run in runs)
    print(f"{len(runs)} runs from {runs[0]['taken_at']} to {runs[-1]['taken_at']}, {failed} of them over a bar")
    if len(runs) < ENOUGH:
        print(f"tighter bars are proposed from {ENOUGH} runs on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
