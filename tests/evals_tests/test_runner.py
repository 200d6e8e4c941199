"""Assertions hold or fail with path, expected and actual; nothing passes silently."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.redact import REDACTED, Redactor
from keepa_cli.evals import Verdict, load_file, run_eval
from keepa_cli.evals.checks import same

KEY = "k" * 20 + "0123456789" * 4 + "wxyz"
DATA = {
    "n": 3,
    "f": 3.0,
    "s": "B0D8W1YVBX",
    "long": "x" * 20_000,
    "l": [1, True, {"a": 1}],
    "o": {"a": 1, "b": None},
    "t": True,
    "z": None,
    "key": "anything",
    "text": f"the key is {KEY}",
}
OK = {"ok": True, "data": DATA}
FAILED = {"ok": False, "error": {"kind": "cassette_miss", "message": f"no recording for {KEY}"}}


def judge(tmp_path: Path, envelope: Mapping[str, Any], *assertions: dict[str, Any]) -> Verdict:
    path = tmp_path / "one.json"
    content = {"id": "one", "description": "one", "command": "a.b", "assertions": assertions}
    path.write_text(json.dumps(content))
    return run_eval(load_file(path), lambda *_: envelope, Redactor(KEY))


HOLDS = [
    ("n", "equals", 3),
    ("n", "equals", 3.0),
    ("o", "equals", {"b": None, "a": 1}),
    ("l", "equals", [1, True, {"a": 1}]),
    ("l", "length", 3),
    ("s", "length", 10),
    ("o", "length", 2),
    ("n", "min", 3),
    ("n", "max", 3),
    ("s", "contains", "D8W"),
    ("l", "contains", {"a": 1}),
    ("o", "contains", "b"),
    ("l", "not_contains", 2),
    ("s", "not_contains", "d8w"),
    ("s", "matches", "^B0[A-Z0-9]{8}$"),
    ("z", "exists", True),
    ("nope", "exists", False),
    ("n", "type", "integer"),
    ("n", "type", "number"),
    ("f", "type", "number"),
    ("z", "type", ["string", "null"]),
    ("t", "type", "boolean"),
    ("o", "schema", {"type": "object", "required": ["a"]}),
    ("n", "one_of", [1, 2, 3]),
]
FAILS = [
    ("n", "equals", 4),
    ("t", "equals", 1),
    ("l", "equals", [1, 1, {"a": 1}]),
    ("z", "equals", False),
    ("l", "length", 2),
    ("n", "length", 1),
    ("n", "min", 4),
    ("s", "min", 1),
    ("t", "max", 5),
    ("n", "max", 2),
    ("s", "contains", "zzz"),
    ("n", "contains", 3),
    ("l", "contains", "1"),
    ("s", "not_contains", "B0"),
    ("n", "not_contains", 9),
    ("nope", "not_contains", 9),
    ("nope", "equals", None),
    ("s", "matches", "^X"),
    ("n", "matches", "3"),
    ("long", "matches", "x"),
    ("z", "exists", False),
    ("nope", "exists", True),
    ("t", "type", "integer"),
    ("f", "type", "integer"),
    ("o", "schema", {"required": ["c"]}),
    ("n", "one_of", [True, "3"]),
]


@pytest.mark.parametrize(("name", "check", "expected"), HOLDS)
def test_holds(name: str, check: str, expected: Any, tmp_path: Path) -> None:
    verdict = judge(tmp_path, OK, {"path": f"$.data.{name}", check: expected})
    assert (verdict.status, verdict.failures) == ("passed", ())
    assert verdict.checked == 2


@pytest.mark.parametrize(("name", "check", "expected"), FAILS)
def test_fails_with_path_expected_and_actual(name: str, check: str, expected: Any, tmp_path: Path) -> None:
    verdict = judge(tmp_path, OK, {"path": f"$.data.{name}", check: expected})
    assert verdict.status == "failed"
    (failure,) = verdict.failures
    assert (failure.path, failure.check) == (f"$.data.{name}", check)
    assert json.loads(failure.expected) == expected
    assert failure.actual == "nothing" if name == "nope" else failure.actual.startswith(json.dumps(DATA[name])[:9])
    assert len(failure.actual) < 250
    assert failure.path in failure.sentence()


def test_a_failed_call_never_passes_by_accident(tmp_path: Path) -> None:
    verdict = judge(tmp_path, FAILED, {"path": "$.data.secret", "exists": False})
    assert verdict.status == "failed"
    assert "cassette_miss" in verdict.failures[0].note


def test_an_expected_failure_is_asserted_through_its_error(tmp_path: Path) -> None:
    assert judge(tmp_path, FAILED, {"path": "error.kind", "equals": "cassette_miss"}).status == "passed"
    assert judge(tmp_path, FAILED, {"path": "$.ok", "equals": False}).status == "passed"
    assert judge(tmp_path, OK, {"path": "error.kind", "equals": "cassette_miss"}).status == "failed"


def test_failures_hold_no_secret(tmp_path: Path) -> None:
    checks = [{"path": f"$.data.{name}", "equals": 0} for name in ("key", "text", "o")]
    shown = json.dumps(judge(tmp_path, OK, *checks).as_dict())
    assert "anything" not in shown
    assert REDACTED in shown
    assert KEY not in shown
    assert KEY not in json.dumps(judge(tmp_path, FAILED, *checks).as_dict())


def test_a_call_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(
        '{"id": "one", "description": "d", "command": "a.b", "assertions": [{"path": "ok", "exists": true}]}'
    )

    def call(*_: Any) -> Any:
        raise KeepaCliError(Kind.UNKNOWN_COMMAND, "There is no command 'a.b'.")

    verdict = run_eval(load_file(path), call, Redactor())
    assert (verdict.status, verdict.message) == ("error", "a.b: There is no command 'a.b'.")


def test_steps_run_in_order_with_shared_parameters_and_flags(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    steps = [
        {"command": "a.b", "mode": "dry-run"},
        {"command": "a.c", "params": {"x": 2}, "fixture": "f", "assertions": [{"path": "data.n", "equals": 4}]},
    ]
    last = [{"path": "data.s", "equals": "?"}]
    content = {"id": "one", "description": "d", "params": {"x": 1, "y": 1}, "steps": steps, "assertions": last}
    path.write_text(json.dumps(content))
    seen: list[Any] = []

    def call(*given: Any) -> Any:
        seen.append(given)
        return OK

    verdict = run_eval(load_file(path), call, Redactor())
    assert seen == [("a.b", {"x": 1, "y": 1}, {"dry_run": True}), ("a.c", {"x": 2, "y": 1}, {"fixture": "f"})]
    assert [(f.step, f.path) for f in verdict.failures] == [(2, "data.n"), (2, "data.s")]
    assert "step 2, a.c" in verdict.failures[0].sentence()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_equality_is_that_of_json(a: Any, b: Any) -> None:
    assert same(a, b) == (json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True))
