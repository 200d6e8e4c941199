"""Run the measurements of this folder and print one table: python -m benchmarks.run [NAMES] [--strict].

Each bench_*.py has `run() -> list[dict]` with rows of name, ratio, bar and detail. Both sides of a ratio are measured
in one run on one machine, so that the machine does not matter; nothing here judges absolute time.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import traceback
from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]


def available() -> list[str]:
    import benchmarks

    return sorted(
        m.name.removeprefix("bench_") for m in pkgutil.iter_modules(benchmarks.__path__) if m.name.startswith("bench_")
    )


def measure(name: str) -> list[Row]:
    """The rows of one module. A measurement that breaks is a row without a ratio; what was measured before stays."""
    print(f"measuring {name} ...", file=sys.stderr, flush=True)
    rows: list[Row] = []
    try:
        rows.extend(importlib.import_module(f"benchmarks.bench_{name}").run())
    except Exception as error:  # noqa: BLE001 - the other measurements go on
        traceback.print_exc()
        rows.append({"name": name, "ratio": None, "bar": None, "detail": f"broke: {type(error).__name__}: {error}"})
    return rows


def verdict(row: Row) -> str:
    if row["ratio"] is None:
        return "BROKE"
    return "ok" if row["ratio"] <= row["bar"] else "OVER"


def table(rows: Sequence[Row]) -> str:
    lines = [("what", "ratio", "bar", "", "detail")]
    lines += [
        (
            r["name"],
            "-" if r["ratio"] is None else f"{r['ratio']:.2f}",
            "-" if r["bar"] is None else f"{r['bar']:g}",
            verdict(r),
            r.get("detail", ""),
        )
        for r in rows
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(5)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(available())}; all when left out")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a ratio is over its bar")
    chosen = parser.parse_args(argv)
    unknown = [n for n in chosen.names if n not in available()]
    if unknown:
        parser.error(f"there is no measurement {unknown[0]!r}; there are {', '.join(available())}")
    rows = [row for name in chosen.names or available() for row in measure(name)]
    print(table(rows))
    verdicts = [verdict(row) for row in rows]
    print(f"\n{verdicts.count('ok')} of {len(rows)} within their bar, {verdicts.count('OVER')} over it", end="")
    print(f", {verdicts.count('BROKE')} broke" if "BROKE" in verdicts else "")
    return int("BROKE" in verdicts or (chosen.strict and "OVER" in verdicts))


if __name__ == "__main__":
    sys.exit(main())
