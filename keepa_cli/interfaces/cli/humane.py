"""Views as people read them: amounts and facts as one text each, reasons beside what is absent, next steps as commands.

What only machines need (paths of evidence, methods, graphs, reading order) is left to --json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MACHINE = frozenset(
    {
        *("evidence_path", "evidence_index", "evidence_links", "read_order", "recommended_read_order", "view"),
        *("provenance", "inputs", "method", "version", "tool", "known_codes", "sparkline", "raw", "currency"),
        *("basis", "fingerprint", "sha256", "parallel_groups", "resource_templates", "recommended_next_actions"),
    }
)
FACT = frozenset({"at", "method", "confidence", "evidence_path", "inputs"})
ABSENT = "absent"
BARS = "▁▂▃▄▅▆▇█"
COLUMNS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "products_compare": {
        "rows": (
            *("asin", "status", "title", "new_price", "buy_box_price", "sales_rank", "monthly_sold", "rating"),
            *("review_count", "offer_count", "price_vs_90d_pct", "risk_codes"),
        )
    },
    "workflow_plan": {"steps": ("id", "command", "worst_case_tokens", "requires_confirmation", "depends_on", "why")},
}
TREND = ("last", "change_pct", "mean", "min", "max", "out_of_stock_pct", "drops")
POLICY = frozenset({"workflow_policy", "workflow_inputs"})
TITLE = 30
LONG_SECTIONS = frozenset({"temporal_features", "history_summary", "stats_summary"})
LEVELS = {"lower_bound": "at least {}", "low": "{} (estimate)"}


def humane(data: Mapping[str, Any]) -> dict[str, Any]:
    """A view as nested texts, numbers and tables."""
    found = {name: value for name, value in data.items() if not (name == "items" and _all_found(value))}
    if data.get("view") == "product":
        return _products(found)
    if data.get("view") == "history_trend":
        last = found.pop("next_actions", None)
        found |= _trend(found.pop("series", None)) | {"next_actions": last}
    for name, columns in COLUMNS.get(str(data.get("view")), {}).items():
        found[name] = [_chosen(row, columns) for row in _listed(found.get(name)) if isinstance(row, Mapping)]
    if isinstance(data.get("artifacts"), list) and isinstance(data.get("out_dir"), str):
        found["artifacts"] = [_inside(row, data["out_dir"]) for row in data["artifacts"]]
    return _object({k: v for k, v in found.items() if k not in POLICY})


def _inside(row: Any, folder: str) -> Any:
    """A row with its path as seen from the folder that all of them lie in."""
    path = row.get("path") if isinstance(row, Mapping) else None
    if not isinstance(path, str) or not path.startswith(folder):
        return row
    return {**row, "path": path[len(folder) :].lstrip("/\\")}


def _trend(series: Any) -> dict[str, Any]:
    """The course of every series as a line, and its windows as rows beside each other."""
    known = [(n, s) for n, s in (series.items() if isinstance(series, Mapping) else ()) if isinstance(s, Mapping)]
    courses = {name: spark(one.get("sparkline")) for name, one in known if one.get("sparkline")}
    rows = []
    for name, one in known:
        windows = one.get("windows")
        spans = {"all": one.get("all_time")} | {f"{d} d": w for d, w in _pairs(windows)}
        for span, figures in spans.items():
            if isinstance(figures, Mapping):
                rows.append({"series": name, "window": span} | {k: figures.get(k) for k in TREND})
    seasons = {f"seasonality of {n}": s["seasonality"] for n, s in known if isinstance(s.get("seasonality"), Mapping)}
    unknown = dict(_pairs(series.get(ABSENT) if isinstance(series, Mapping) else None))
    return {"course": courses, "figures": rows, **seasons} | ({ABSENT: unknown} if unknown else {})


def _pairs(value: Any) -> list[tuple[str, Any]]:
    return [(str(k), v) for k, v in value.items()] if isinstance(value, Mapping) else []


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _chosen(row: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The members of a row that fit beside each other, a long title cut."""
    found = {name: row.get(name) for name in columns}
    title = found.get("title")
    return found | ({"title": title[: TITLE - 1] + "…"} if isinstance(title, str) and len(title) > TITLE else {})


def _products(data: Mapping[str, Any]) -> dict[str, Any]:
    """Product views: one as it is, several one below the other."""
    products = [p for p in _listed(data.get("products")) if isinstance(p, Mapping)]
    rest = _object({k: v for k, v in data.items() if k not in {"products", "profile", "count"}})
    if len(products) == 1:
        return _product(products[0]) | rest
    return {_heading(p, i): _product(p) for i, p in enumerate(products, 1)} | rest


def _product(product: Mapping[str, Any]) -> dict[str, Any]:
    return _object({k: v for k, v in product.items() if k not in LONG_SECTIONS}) | _windows(product)


def _heading(product: Mapping[str, Any], place: int) -> str:
    identity = product.get("identity")
    asin = identity.get("asin") if isinstance(identity, Mapping) else None
    return f"{place}. {asin}" if asin else f"{place}."


def _windows(product: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of each series over the windows: what the long sections say most."""
    features = product.get("temporal_features")
    series = features.get("series") if isinstance(features, Mapping) else None
    rows = [
        {"series": name, **{f"{days} d": _percent(w) for days, w in one["windows"].items()}}
        for name, one in (series if isinstance(series, Mapping) else {}).items()
        if isinstance(one, Mapping) and isinstance(one.get("windows"), Mapping)
    ]
    return {"change by window": rows} if rows else {}


def _percent(window: Any) -> str | None:
    change = window.get("change_pct") if isinstance(window, Mapping) else None
    return f"{change:+.1f} %" if isinstance(change, int | float) else None


def _object(item: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    brief = item.get("agent_brief") or item.get("brief")
    if isinstance(brief, Mapping) and isinstance(brief.get("one_line"), str):
        shown["summary"] = brief["one_line"]
    line = spark(item.get("sparkline"))
    if line:
        shown["course"] = line
    for name, value in item.items():
        if name in MACHINE or name == ABSENT or value is None:
            continue
        text = _member(name, value)
        if text not in (None, {}, []):
            shown[name] = text
    unknown = _absent(item.get(ABSENT))
    return shown | ({"not known": unknown} if unknown else {})


def _member(name: str, value: Any) -> Any:
    if name in {"agent_brief", "brief"} and isinstance(value, Mapping):
        return _object({k: v for k, v in value.items() if k != "one_line"})
    if name == "research_graph" and isinstance(value, Mapping):
        nodes, edges = value.get("nodes"), value.get("edges")
        counts = [len(part) if isinstance(part, list) else 0 for part in (nodes, edges)]
        return f"{counts[0]} entities, {counts[1]} relations; --json shows them"
    if name == "next_actions" and isinstance(value, list):
        return [line for action in value if (line := _step(action))]
    return _value(value)


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        text = _fact(value)
        return _object(value) if text is None else text
    if isinstance(value, list):
        rows = [_row(v) if isinstance(v, Mapping) else v for v in value]
        return "\n".join(f"- {r}" for r in rows) if _are_sentences(rows) else rows
    return value


def _are_sentences(rows: Sequence[Any]) -> bool:
    return any(isinstance(r, str) and r.endswith(".") and " " in r for r in rows) and all(
        isinstance(r, str) for r in rows
    )


def _row(item: Mapping[str, Any]) -> Any:
    """An object of a list: of rows the reasons for what they lack would only repeat themselves."""
    found = _object({k: v for k, v in item.items() if k != ABSENT})
    if set(found) == {"text"}:
        return found["text"]
    return found


def _fact(item: Mapping[str, Any]) -> Any:
    """An amount or a single figure as text; None where the object is more than that."""
    if isinstance(item.get("formatted"), str):
        return str(item["formatted"]) + _since(item)
    if "value" not in item or not (FACT & set(item) or set(item) == {"raw", "value"}):
        return None
    value = item["value"]
    if value is None:
        return None
    if isinstance(value, Mapping | list):
        return _value(value)
    text = number(value)
    if isinstance(item.get("unit"), str):
        text = f"{text} {item['unit'].replace('_', ' ')}"
    return LEVELS.get(str(item.get("confidence")), "{}").format(text) + _since(item)


def number(value: Any) -> str:
    """A figure for people, with thousands apart."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def _since(item: Mapping[str, Any]) -> str:
    at = item.get("at")
    return f" ({at[:10]})" if isinstance(at, str) and len(at) >= 10 else ""


def _absent(reasons: Any) -> str:
    """What is not known, by reason: "not requested: rating, buy box; none: coupon"."""
    if not isinstance(reasons, Mapping):
        return ""
    by_reason: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        by_reason.setdefault(str(reason).replace("_", " "), []).append(str(name).replace("_", " "))
    return "; ".join(f"{reason}: {', '.join(names)}" for reason, names in by_reason.items())


def _step(action: Any) -> str | None:
    """A next step as the command to paste, its reason and its price."""
    if isinstance(action, str):
        return action
    if not isinstance(action, Mapping) or "cli" not in action:
        return None
    worst = action.get("worst_case_tokens")
    price = f", up to {worst} token{'s' if worst > 1 else ''}" if worst else ""
    consent = ", asks first" if action.get("requires_confirmation") else ""
    reason = str(action.get("reason", action.get("action", ""))).rstrip(".")
    return f"{action['cli']}   # {reason}{price}{consent}"


def _all_found(items: Any) -> bool:
    """Whether the rows of what was asked say nothing that the view does not."""
    return isinstance(items, list) and all(isinstance(i, Mapping) and i.get("status") == "found" for i in items)


def spark(line: Any) -> str:
    """The course of a series as one line of bars; a gap is a space."""
    values = _listed(line.get("raw")) if isinstance(line, Mapping) else []
    known = [v for v in values if isinstance(v, int) and v >= 0]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    marks = (BARS[(v - low) * (len(BARS) - 1) // span if span else 3] if v in known else " " for v in values)
    return "".join(marks)
