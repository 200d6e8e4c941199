"""Schemas of histories: what a product view tells of them, their export, their trend."""

from __future__ import annotations

from keepa_cli.research.analysis.seasonality import OFF, PEAK, SHOULDER, YEAR_ROUND
from keepa_cli.research.history import units
from keepa_cli.research.history.units import Unit
from keepa_cli.research.schemas.build import (
    COUNT,
    CURRENCY,
    DAYS,
    NUMBER,
    PATH,
    TEXT,
    TIME,
    WHOLE,
    Schema,
    closed,
    const,
    either,
    listed,
    maybe,
    one_of,
    table,
)
from keepa_cli.research.schemas.shared import ACTIONS, ITEMS, MONEY, OUTPUT, PATHS, basis_of, derived, with_amount

UNITS: Schema = one_of(u.name for u in vars(units).values() if isinstance(u, Unit))
DIRECTIONS: Schema = one_of(("up", "down", "flat"))
PAIR = listed(NUMBER)


def newest() -> Schema:
    """[time, raw value] pairs; null is no value."""
    return listed({"type": "array", "prefixItems": [TIME, {"type": ["integer", "string", "null"]}], "items": False})


def summary_series(points: Schema) -> Schema:
    return closed(
        {"points": COUNT, "first_at": TIME}, {"newest": points, "last_at": TIME, "slot": COUNT, "evidence_path": PATHS}
    )


def _window() -> Schema:
    whole = dict.fromkeys(("first", "change", "mean", "min", "max", "range"), maybe(WHOLE))
    parts = dict.fromkeys(
        ("change_pct", "volatility", "slope", "z_score", "drawdown", "rebound", "density"), maybe(NUMBER)
    )
    lists = dict.fromkeys(("quantiles", "longest_rise", "longest_fall", "outliers"), maybe(PAIR))
    more = {"constant": {"const": True}, "coverage": NUMBER, "direction": maybe(DIRECTIONS), "same_as": TEXT}
    return closed({}, whole | parts | lists | more)


def _temporal() -> Schema:
    series = closed(
        {"unit": UNITS, "evidence_path": PATHS, "last": maybe(WHOLE), "windows": table(maybe(_window()), names=DAYS)},
        {"currency": CURRENCY},
    )
    return basis_of(series=table(maybe(series)))


TEMPORAL = _temporal()


def export() -> Schema:
    """`data` of history export."""
    series = closed(
        {"points": COUNT, "rows": COUNT, "first_at": TIME, "last_at": TIME, "unit": UNITS, "evidence_path": PATH},
        {"time_of": one_of(("end",)), "basis_changed_at": TIME},
    )
    product = closed(
        {"asin": maybe(TEXT), "domain": TEXT, "now_at": TIME, "series": table(maybe(series))}, {"from_at": TIME}
    )
    needed = {
        "view": {"const": "history_export"}, "count": COUNT, "items": ITEMS, "products": listed(product),
        "row_count": COUNT, "next_actions": ACTIONS,
    }  # fmt: skip
    return closed(needed, {"rows": listed(_row()), "output": OUTPUT})


def _row() -> Schema:
    value: Schema = {"type": ["string", "integer", "boolean", "null"]}
    return closed(
        {
            "asin": TEXT, "domain": TEXT, "series": TEXT, "time": TIME, "value": value,
            "raw": {"type": ["integer", "string"]}, "unit": either(UNITS, const("percent")), "currency": maybe(TEXT),
        }
    )  # fmt: skip


def trend() -> Schema:
    """`data` of history trend."""
    needed = {"view": {"const": "history_trend"}, "asin": TEXT, "items": ITEMS, "next_actions": ACTIONS,
              "series": maybe(table(maybe(_trend_series())))}  # fmt: skip
    return closed(needed, {"domain": TEXT, "now_at": TIME})


def value(**more: Schema) -> Schema:
    """A raw number with what it means: money, else `{value, raw}`."""
    plain = closed({"value": {"type": ["string", "integer"]}, "raw": WHOLE, **more})
    return either(plain, with_amount(more) if more else MONEY)


def _trend_series() -> Schema:
    spark = closed({"from_at": TIME, "to_at": TIME, "raw": listed({"type": ["integer", "null"]})})
    return closed(
        {
            "unit": UNITS, "evidence_path": PATH, "points": COUNT, "first_at": TIME, "last_at": TIME,
            "current": maybe(value()), "all_time": maybe(_trend_window()),
            "windows": table(maybe(_trend_window()), names=DAYS), "sparkline": spark,
        },
        {"currency": CURRENCY, "basis_changed_at": TIME, "seasonality": _seasonality()},
    )  # fmt: skip


def _trend_window() -> Schema:
    needed = {
        "from_at": TIME, "to_at": TIME, "points": COUNT, "coverage_pct": NUMBER, "first": value(),
        "last": maybe(value()), "change": maybe(value()), "change_pct": maybe(NUMBER), "min": maybe(value(at=TIME)),
        "max": maybe(value(at=TIME)), "mean": maybe(value()), "out_of_stock_pct": maybe(WHOLE),
        "drops": derived(COUNT),
    }  # fmt: skip
    return basis_of(**needed)


def _seasonality() -> Schema:
    month = closed(
        {"month": WHOLE, "label": one_of((PEAK, OFF, SHOULDER, YEAR_ROUND)), "index_pct": NUMBER, "days": COUNT}
    )
    return derived(maybe(listed(month)), years=NUMBER, pattern=one_of(("seasonal", YEAR_ROUND, "unknown")))
