"""Bug cases from the field: every file in tests/cases is one test."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases_adapters import load

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


def mismatches(expected: Any, actual: Any, path: str = "$") -> list[str]:
    """Where `actual` lacks `expected`: dicts are subsets, lists are whole, `$any_of` and `$range` are special."""
    if isinstance(expected, dict) and "$any_of" in expected:
        if any(not mismatches(choice, actual, path) for choice in expected["$any_of"]):
            return []
        return [f"{path}: expected one of {expected['$any_of']!r}, got {actual!r}"]
    if isinstance(expected, dict) and "$range" in expected:
        low, high = expected["$range"]
        inside = isinstance(actual, int | float) and (low is None or actual >= low) and (high is None or actual <= high)
        return [] if inside else [f"{path}: expected {low}..{high}, got {actual!r}"]
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return [f"{path}: expected an object, got {actual!r}"]
        lacking = [f"{path}.{k}: missing" for k in expected if k not in actual]
        return lacking + [m for k in expected if k in actual for m in mismatches(expected[k], actual[k], f"{path}.{k}")]
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return [f"{path}: expected {expected!r}, got {actual!r}"]
        return [
            m for i, (e, a) in enumerate(zip(expected, actual, strict=True)) for m in mismatches(e, a, f"{path}[{i}]")
        ]
    same = type(expected) is type(actual) and expected == actual
    return [] if same else [f"{path}: expected {expected!r}, got {actual!r}"]


@pytest.mark.parametrize("file", CASES, ids=lambda f: f.stem)
def test_case(file: Path, request: pytest.FixtureRequest) -> None:
    case = json.loads(file.read_text(encoding="utf-8"))
    adapter = load().get(case["op"])
    assert adapter, f"no adapter for {case['op']}"
    wanted = list(inspect.signature(adapter).parameters)[1:]
    actual = adapter(case["input"], **{name: request.getfixturevalue(name) for name in wanted})
    assert not mismatches(case["expected"], actual), f"{case['title']}\n{case['right']}"


def test_the_comparison_notices_differences() -> None:
    assert mismatches({"a": [1, {"$range": [2, None]}]}, {"a": [1, 3], "b": 0}) == []
    assert mismatches({"a": 1}, {"a": True})
    assert mismatches([1], [1, 2])
    assert mismatches({"$any_of": [1, 2]}, 3)
    assert mismatches({"$range": [1, 2]}, None)
