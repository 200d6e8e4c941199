"""The measuring tool reports what it could not measure and what is over its bar, and judges only when asked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from benchmarks import run as bench


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the only measurement yields; an exception among the rows is raised."""
    found: list[Any] = []
    module = ModuleType("benchmarks.bench_made")

    def run() -> Iterator[Any]:
        for row in found:
            if isinstance(row, Exception):
                raise row
            yield row

    module.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "benchmarks.bench_made", module)
    monkeypatch.setattr(bench, "available", lambda: ["made"])
    return found


def row(ratio: float) -> dict[str, Any]:
    return {"name": f"thing {ratio}", "ratio": ratio, "bar": 2.0, "detail": "why"}


def test_over_the_bar_is_shown_and_fails_only_when_strict(rows: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    rows += [row(1.5), row(2.5)]
    assert bench.main([]) == 0
    shown = capsys.readouterr().out
    assert "1 of 2 within their bar, 1 over it" in shown
    assert any("thing 2.5" in line and "OVER" in line for line in shown.splitlines())
    assert bench.main(["--strict"]) == 1


def test_a_broken_measurement_keeps_the_rows_before_it_and_fails(
    rows: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    rows += [row(1.0), RuntimeError("no recording")]
    assert bench.main(["made"]) == 1
    shown = capsys.readouterr().out
    assert "thing 1.0" in shown
    assert "broke: RuntimeError: no recording" in shown


def test_an_unknown_name_is_a_usage_error(rows: list[Any]) -> None:
    with pytest.raises(SystemExit) as caught:
        bench.main(["speed"])
    assert caught.value.code == 2


def test_every_measurement_can_be_loaded() -> None:
    assert "cold" in bench.available()
