"""Which risks which product carries, by severity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepa_cli.research.figures.model import SCHEMA, Figure, heading, values
from keepa_cli.research.figures.text import cut
from keepa_cli.research.risks import CODES, SEVERITIES

MOST = 24
"""Products on one figure."""
NONE = "none"
UNRATED = "found"
"""The severity of a risk of which a comparison tells that it is there, and no more."""
RATED = (UNRATED, *SEVERITIES)
LEVELS = (NONE, *SEVERITIES, UNRATED)
LEVEL = 8
"""Up to so many columns their ASINs are written level."""
PLOT, LABELS = 714, 152
WIDE = 2
"""Up to so many columns there is room for reasons."""


@dataclass(frozen=True)
class Judged:
    """The risks of one product, as its view gives them."""

    asin: str
    items: Sequence[Mapping[str, Any]]


def risks(judged: Sequence[Judged], basis: str) -> Figure | str:
    """The overview, or why there is none. A product without a risk is a finding too."""
    if not judged:
        return "The input judges no product: neither products nor views with a risk_taxonomy are in it."
    shown = list(judged[:MOST])
    cells = [_cell(j, code, len(shown)) for j in shown for code in _codes(shown)]
    found = sum(c["severity"] != NONE for c in cells)
    more = f" · the first {MOST} of {len(judged)} products" if len(judged) > MOST else ""
    counts = ", ".join(f"{n} {s}" for s in reversed(RATED) if (n := sum(c["severity"] == s for c in cells)))
    about = f"Products: {len(shown)}, findings: {found}" + (f" ({counts})" if counts else "") + more
    return Figure(
        name="risks",
        title="Risks by product",
        description=f"Overview of risk codes by product and severity: {about}.",
        spec={
            "$schema": SCHEMA,
            "title": heading("Risks by product", about, "– is no finding; what was not requested is not judged."),
            **_grid(cells, shown),
        },
        data={"products": [{"asin": j.asin, "items": [_source(i) for i in j.items]} for j in shown]},
        data_basis=basis,
        points=len(cells),
    )


def _codes(shown: Sequence[Judged]) -> list[str]:
    """The known codes, and others that a view brings."""
    return list(dict.fromkeys([*CODES, *(str(i.get("code")) for j in shown for i in j.items)]))


def _cell(judged: Judged, code: str, of: int) -> dict[str, Any]:
    found = [i for i in judged.items if i.get("code") == code and i.get("severity") in RATED]
    gravest = max(found, key=lambda i: RATED.index(i["severity"]), default=None)
    severity = gravest["severity"] if gravest else NONE
    return {
        "asin": judged.asin,
        "code": cut(code.replace("_", " "), 30),
        "severity": severity,
        "text": _text_of(severity, gravest, of),
    }


def _text_of(severity: str, item: Mapping[str, Any] | None, of: int) -> str:
    """The severity, with its reason where the cells are wide."""
    if item is None:
        return "–"
    reason = item.get("reason") if of <= WIDE else None
    return severity if not isinstance(reason, str) else cut(f"{severity}: {reason}", PLOT // of // 6)


def _source(item: Mapping[str, Any]) -> dict[str, Any]:
    return {k: item[k] for k in ("code", "severity", "reason", "metric", "evidence_path") if k in item}


def _grid(cells: list[dict[str, Any]], shown: Sequence[Judged]) -> dict[str, Any]:
    codes = list(dict.fromkeys(c["code"] for c in cells))
    asins = [j.asin for j in shown]
    top = {"title": None, "orient": "top", "labelAngle": 0 if len(asins) <= LEVEL else -90, **BARE, "labelFontSize": 11}
    x = {"field": "asin", "type": "nominal", "sort": asins, "axis": top, "scale": {"paddingInner": 0.04}}
    y = {
        "field": "code",
        "type": "nominal",
        "sort": codes,
        "axis": {"title": None, **BARE, "minExtent": LABELS, "maxExtent": LABELS},
        "scale": {"paddingInner": 0.08},
    }
    shown_levels = [s for s in LEVELS if s != UNRATED or any(c["severity"] == s for c in cells)]
    color = {
        "field": "severity", "type": "ordinal", "scale": {"domain": list(LEVELS), "range": "severity"},
        "legend": {"title": None, "symbolType": "square", "values": shown_levels},
    }  # fmt: skip
    grave = [c for c in cells if c["severity"] == SEVERITIES[-1]]
    others = [c for c in cells if c["severity"] != SEVERITIES[-1]]
    text = {"field": "text"}
    layers = [
        {"data": values(cells), "mark": {"type": "rect", "aria": False}, "encoding": {"color": color}},
        _text(others, "value", text),
        _text(grave, "on-strong", text),
    ]
    size = {"width": PLOT, "height": 32 * len(codes)}
    drawn = [layer for layer in layers if layer["data"]["values"]]
    return size | {"encoding": {"x": x, "y": y}, "layer": drawn}


def _text(rows: list[dict[str, Any]], style: str, text: dict[str, Any]) -> dict[str, Any]:
    mark = {"type": "text", "style": style, "fontSize": 11, "aria": False}
    return {"data": values(rows), "mark": mark, "encoding": {"text": text}}


BARE: Mapping[str, Any] = {"ticks": False, "domain": False, "grid": False, "labelFontSize": 12, "labelPadding": 6}
