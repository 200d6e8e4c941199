"""Compare bodies and cassettes, and tell moved values (expected) from a moved shape (contract drift)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.reduce import reduced, summarized
from keepa_cli.cassettes.shape import SAMPLE, WORDS, Word, compare_shapes, shape_of

Verdict = Literal["identical", "values_moved", "shape_moved"]
VOLATILE = ("tokensLeft", "tokensConsumed", "refillIn", "refillRate", "timestamp", "processingTimeInMs",
            "tokenFlowReduction")  # fmt: skip
SHOWN = 50
_WORST: tuple[Verdict, ...] = ("identical", "values_moved", "shape_moved")


def compare_bodies(old: bytes, new: bytes, *, whole: bool = False) -> dict[str, Any]:
    """The difference of two answers. Bodies that are not JSON are compared as bytes.

    `whole` looks at every item of long lists instead of the first and last hundred.
    """
    try:
        before, after = summarized(old), summarized(new)
    except ValueError:
        return _opaque(old, new)
    sample = None if whole else SAMPLE
    shapes = shape_of(reduced(old), sample=sample), shape_of(reduced(new), sample=sample)
    shape = compare_shapes(*shapes)
    values = _values(before, after)
    verdict: Verdict = "shape_moved" if shape.moved else "values_moved" if values["count"] else "identical"
    return {
        "verdict": verdict,
        "breaking": shape.breaking,
        "contract": shape.contract,
        "shape": shape.as_dict(),
        "values": values,
        "lists": "whole" if all(s.whole for s in shapes) else "sampled",
    }


def _opaque(old: bytes, new: bytes) -> dict[str, Any]:
    same = old == new
    return {
        "verdict": "identical" if same else "values_moved",
        "breaking": False,
        "contract": "fine",
        "shape": {"added": [], "removed": [], "type_changed": [], "nullability": [], "lengths": []},
        "values": {"count": int(not same), "changes": [], "note": f"not JSON: {len(old)} and {len(new)} bytes"},
        "lists": "whole",
    }


def _values(before: Any, after: Any) -> dict[str, Any]:
    """DeepDiff's report as rows of path, kind, old and new; the bucket and timing fields of the answer are left out."""
    from deepdiff import DeepDiff

    excluded = [f"root['{name}']" for name in VOLATILE]
    found = DeepDiff(before, after, exclude_paths=excluded, verbose_level=2, threshold_to_diff_deeper=0)
    rows = [row for kind, group in found.items() for row in _rows(kind, group)]
    rows.sort(key=lambda row: str(row["path"]))
    shown = {"count": len(rows), "changes": rows[:SHOWN]}
    return shown | ({"left_out": len(rows) - SHOWN} if len(rows) > SHOWN else {})


def _rows(kind: str, group: Any) -> list[dict[str, Any]]:
    if not isinstance(group, dict):
        return [{"path": str(path), "change": kind} for path in group]
    rows = []
    for path, change in group.items():
        pair = change if isinstance(change, dict) and {"old_value", "new_value"} <= change.keys() else None
        row = {"path": str(path).removeprefix("root"), "change": kind}
        if pair is not None:
            row |= {"from": _short(pair["old_value"]), "to": _short(pair["new_value"])}
        else:
            row["value"] = _short(change)
        rows.append(row)
    return rows


def _short(value: Any) -> Any:
    if isinstance(value, dict | list):
        return f"{type(value).__name__} of {len(value)}"
    return value[:120] + "..." if isinstance(value, str) and len(value) > 120 else value


def compare_exchanges(old: Sequence[Exchange], new: Sequence[Exchange], *, whole: bool = False) -> dict[str, Any]:
    """The difference of two recordings, exchange by exchange in their order."""
    pairs = [_pair(i, a, b, whole) for i, (a, b) in enumerate(zip(old, new, strict=False))]
    verdicts: list[Verdict] = [p["verdict"] for p in pairs]
    words: list[Word] = [p["contract"] for p in pairs]
    if len(old) != len(new):
        verdicts.append("shape_moved")
        words.append("error" if len(new) < len(old) else "warning")
    worst = max(verdicts, key=_WORST.index, default="identical")
    breaking = any(p["breaking"] for p in pairs) or len(new) < len(old)
    return {
        "verdict": worst,
        "breaking": breaking,
        "contract": max(words, key=WORDS.index, default="fine"),
        "interactions": {"old": len(old), "new": len(new)},
        "exchanges": pairs,
    }


def _pair(ordinal: int, old: Exchange, new: Exchange, whole: bool) -> dict[str, Any]:
    from keepa_cli.cassettes.fingerprint import query_pairs

    before, after = query_pairs(old.url), query_pairs(new.url)
    found = compare_bodies(old.body, new.body, whole=whole)
    found["ordinal"] = ordinal
    found["request"] = {
        "same": sorted(before) == sorted(after) and old.method == new.method,
        "only_old": sorted(f"{k}={v}" for k, v in set(before) - set(after)),
        "only_new": sorted(f"{k}={v}" for k, v in set(after) - set(before)),
    }
    found["status"] = {"old": old.status, "new": new.status}
    if old.status != new.status:
        found |= {"verdict": "shape_moved", "breaking": True, "contract": "error"}
    return found
