"""The page that explains the numbers says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from keepa_cli.research.business import scales
from keepa_cli.research.facts import Confidence, Reason
from keepa_cli.research.risks import THRESHOLDS

PAGE = (Path(__file__).parents[3] / "docs" / "numbers.md").read_text("utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]


def row(first: str) -> list[str]:
    (found,) = [r for r in ROWS if r[0] == first]
    return found


def test_weights_and_points() -> None:
    weighted = {r[0]: int(r[1]) for r in ROWS if r[0] in scales.WEIGHTS and len(r) == 3 and r[1].isdigit()}
    assert weighted == dict(scales.WEIGHTS)
    assert f"100 × log(units) / log({scales.TOP_UNITS:,}), at most 100" in PAGE
    competition = row("competition")[2]
    assert f"− {scales.POINTS_PER_OFFER} for every" in competition
    assert f"at most {scales.AMAZON_CAP} where" in competition
    told = next(r[2] for r in ROWS if r[0] == "inventory" and r[1] == "15")
    for level, points in scales.RISK_POINTS.items():
        assert f"{level.replace('_', ' ')} {points}" in told


def test_limits() -> None:
    pace = row("pace `fast`, `steady`, else `slow`")[1]
    limits = (scales.FAST_UNITS, scales.STEADY_UNITS, scales.FAST_DROPS, scales.STEADY_DROPS)
    assert re.findall(r"[\d,]+", pace)[:4] == [f"{n:,}" for n in limits]
    assert f"up to {scales.FEW_OFFERS} offers, up to {scales.SOME_OFFERS} offers" in PAGE
    assert f"for {scales.OUT_OF_STOCK_HIGH} %, {scales.OUT_OF_STOCK_MEDIUM} % of" in PAGE
    assert f"more than {scales.STALE_DAYS} days before" in PAGE
    assert f"from {scales.CONCENTRATED_HHI:,} on" in PAGE


def test_risk_limits() -> None:
    for code, limit in THRESHOLDS.items():
        assert [float(n) for n in row(f"`{code.value}`")[2:]] == [limit.medium, limit.high], code


def test_reasons_and_confidences_are_all_explained() -> None:
    for word in (*Reason, *Confidence):
        assert f"`{word.value}`" in PAGE
