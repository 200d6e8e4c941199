"""A promotion of a big body takes a bounded multiple of its size."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import bench_promote

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="peak memory is not measured there")


def test_peak_memory_stays_below_the_bar(tmp_path: Path) -> None:
    small = bench_promote.body(tmp_path / "small.json", 0)
    big = bench_promote.body(tmp_path / "big.json", 12)
    assert 11e6 < big.stat().st_size < 14e6
    row = bench_promote.measure("promote", big, small, tmp_path / "out")
    assert row["ratio"] <= bench_promote.BAR, row["detail"]
    (fixture,) = (tmp_path / "out" / "measured" / "cassettes" / "product").glob("*.yaml")
    assert fixture.stat().st_size > big.stat().st_size
