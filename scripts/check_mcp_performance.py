"""Measure the MCP server on a pipe against a bare server of the SDK in the same run, and hold it to ratios.

    python scripts/check_mcp_performance.py                   measure and judge; exit 1 when something is over its bar
    python scripts/check_mcp_performance.py --out FILE.json   keep everything for summarize_mcp_performance.py

Milliseconds differ between machines and are told only; what is judged are ratios, and sizes in bytes.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPO))

from benchmarks.mcp_peers import BARE, OPENING, OURS, Peer, peer, place  # noqa: E402

SCHEMA, ROUNDS, WARM = 1, 30, 5
ASIN = "B0PPJ248DY"
Ask = Callable[[Peer], tuple[float, bytes]]


@dataclass(frozen=True)
class Measure:
    """What our server is asked, what the bare one is asked beside it, and the bars: ratios of latency, bytes."""

    ours: Ask
    bare: Ask
    ratio_p50: float
    ratio_p95: float
    json_bytes: int
    text_bytes: int = 0
    structured_bytes: int = 0


def _call(tool: str, **arguments: Any) -> Ask:
    return lambda found: found.call(tool, **arguments)


FIXTURE = {"asin": ASIN, "domain": "US", "fixture": f"product_{ASIN}", "view": "summary"}
BARE_CALL = _call("echo")
MEASURES: Mapping[str, Measure] = {
    "initialize": Measure(
        lambda p: p.ask("initialize", OPENING), lambda p: p.ask("initialize", OPENING), 1.5, 2.5, 3_000
    ),
    "tools/list": Measure(lambda p: p.ask("tools/list"), lambda p: p.ask("tools/list"), 1.5, 2.5, 60_000),
    "context_policy": Measure(_call("context_policy", from_cache=None), BARE_CALL, 3.0, 5.0, 40_000, 20_000, 20_000),
    "products_get, fixture": Measure(
        _call("products_get", no_cache=True, **FIXTURE), BARE_CALL, 8.0, 12.0, 20_000, 10_000, 10_000
    ),
    "products_get, cache hit": Measure(_call("products_get", **FIXTURE), BARE_CALL, 3.0, 5.0, 20_000, 10_000, 10_000),
}
"""THRESHOLDS stand beside what they bind; summarize_mcp_performance.py proposes tighter ones."""
BARS = ("ratio_p50", "ratio_p95", "json_bytes", "text_bytes", "structured_bytes")


def measured(rounds: int = ROUNDS) -> dict[str, dict[str, Any]]:
    with place() as (env, cwd), peer(OURS, env, cwd) as ours:
        tools = cwd / "tools.json"
        tools.write_text(json.dumps(json.loads(ours.ask("tools/list")[1])["result"]["tools"]), encoding="utf-8")
        with peer((BARE, "stdio", str(tools)), env, cwd) as theirs:
            return {name: _measured(m, ours, theirs, rounds) for name, m in MEASURES.items()}


def _measured(m: Measure, ours: Peer, theirs: Peer, rounds: int) -> dict[str, Any]:
    for _ in range(WARM):
        m.ours(ours), m.bare(theirs)
    pairs = [(m.ours(ours), m.bare(theirs)) for _ in range(rounds)]
    mine, other = (sorted(row[side][0] * 1000 for row in pairs) for side in (0, 1))
    line = pairs[-1][0][1]
    return {
        "p50_ms": round(at(mine, 0.5), 3),
        "p95_ms": round(at(mine, 0.95), 3),
        "bare_p50_ms": round(at(other, 0.5), 3),
        "bare_p95_ms": round(at(other, 0.95), 3),
        "ratio_p50": round(at(mine, 0.5) / at(other, 0.5), 3),
        "ratio_p95": round(at(mine, 0.95) / at(other, 0.95), 3),
        **sizes(line),
    }


def at(ordered: Sequence[float], share: float) -> float:
    """The value below which that share of the ordered values lies."""
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered)) - 1))]


def sizes(line: bytes) -> dict[str, int]:
    """Bytes of the whole answer, of its text and of its structured content."""
    result = json.loads(line)["result"]
    text = "".join(block.get("text", "") for block in result.get("content", []))
    structured = result.get("structuredContent")
    plain = "" if structured is None else json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
    return {
        "json_bytes": len(line.rstrip(b"\n")),
        "text_bytes": len(text.encode()),
        "structured_bytes": len(plain.encode()),
    }


def over(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What is above its bar, each as a sentence. A measure that is missing counts as well."""
    wrong = [f"{name}: was not measured" for name in MEASURES if name not in found]
    for name, row in found.items():
        for bar in BARS:
            most = getattr(MEASURES[name], bar)
            if row[bar] > most:
                wrong.append(f"{name}: {bar} is {row[bar]:g}, at most {most:g} is allowed")
    return wrong


def artifact(found: Mapping[str, Mapping[str, Any]], rounds: int) -> dict[str, Any]:
    from keepa_cli import __version__

    return {
        "schema": SCHEMA,
        "version": __version__,
        "taken_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "system": platform.system(),
        "rounds": rounds,
        "measures": found,
        "thresholds": {name: {bar: getattr(m, bar) for bar in BARS} for name, m in MEASURES.items()},
        "over": over(found),
    }


def table(found: Mapping[str, Mapping[str, Any]]) -> str:
    head = ("what", "p50 ms", "p95 ms", "p50 ratio", "bar", "p95 ratio", "bar", "JSON", "text", "structured")
    lines = [head]
    for name, row in found.items():
        m = MEASURES[name]
        figures = (row["p50_ms"], row["p95_ms"], row["ratio_p50"], m.ratio_p50, row["ratio_p95"], m.ratio_p95)
        bytes_ = (row["json_bytes"], row["text_bytes"], row["structured_bytes"])
        lines.append((name, *(f"{v:.2f}" for v in figures), *(str(v) for v in bytes_)))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, metavar="FILE", help="write everything that was measured as JSON")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"[default: {ROUNDS}]")
    chosen = parser.parse_args(argv)
    if chosen.rounds < 1:
        parser.error("--rounds takes a number of at least 1")
    if chosen.out:
        try:
            chosen.out.parent.mkdir(parents=True, exist_ok=True)
            chosen.out.open("a", encoding="utf-8").close()
        except OSError as error:
            parser.error(f"--out {chosen.out}: {error.strerror}")
    found = measured(chosen.rounds)
    whole = artifact(found, chosen.rounds)
    if chosen.out:
        text = json.dumps(whole, indent=1) + "\n"
        chosen.out.write_text(text, encoding="utf-8", newline="\n")
    print(table(found))
    for line in whole["over"]:
        print(line)
    print(f"{len(whole['over'])} figures over their bar" if whole["over"] else "every figure is within its bar")
    return int(bool(whole["over"]))


if __name__ == "__main__":
    sys.exit(main())
