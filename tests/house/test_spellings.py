"""One spelling: operation names, error kinds, exit codes and the redaction mark each stand in one place."""

from __future__ import annotations

import ast
import importlib
import pkgutil

import keepa_cli.ops
from keepa_cli.core.errors import ExitCode, Kind
from keepa_cli.core.redact import REDACTED
from keepa_cli.core.registry import OPERATIONS, TOKENS_STATUS
from tests.house.source import modules, strings, tree

ORDINARY_WORDS = {Kind.TIMEOUT.value}
"""Kinds that are also the name of an ordinary parameter."""


def elsewhere(home: str) -> list[str]:
    return [name for name in modules("keepa_cli") if not name.startswith(home)]


def literals(home: str, wanted: set[str]) -> list[str]:
    return [f"{name}:{line}: {value!r}" for name in elsewhere(home) for line, value in strings(name) if value in wanted]


def test_each_operation_name_stands_once() -> None:
    for module in pkgutil.iter_modules(keepa_cli.ops.__path__):
        importlib.import_module(f"keepa_cli.ops.{module.name}")
    names = {name for name in OPERATIONS if "." in name}
    assert len(names) > 20
    places = {value: f"{name}:{line}" for name in modules("keepa_cli") for line, value in strings(name)}
    again = [
        f"{name}:{line}: {value!r}"
        for name in modules("keepa_cli")
        for line, value in strings(name)
        if value in names and places[value] != f"{name}:{line}"
    ]
    assert not again, "take the name from keepa_cli/ops/_names.py"
    assert not literals("keepa_cli/ops/", names - {TOKENS_STATUS})


def test_error_kinds_stand_in_the_error_table_only() -> None:
    assert not literals("keepa_cli/core/errors.py", {k.value for k in Kind} - ORDINARY_WORDS)


def test_the_redaction_mark_stands_in_the_redactor_only() -> None:
    found = [
        f"{name}:{line}"
        for name in elsewhere("keepa_cli/core/redact.py")
        for line, value in strings(name)
        if REDACTED in value
    ]
    assert not found


def test_exit_codes_stand_in_the_error_table_only() -> None:
    assert ExitCode.INTERRUPTED == 130
    found = [
        f"{name}:{node.lineno}"
        for name in elsewhere("keepa_cli/core/errors.py")
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Call) and _called(node.func) in {"exit", "_exit", "SystemExit"} and _number(node)
    ]
    assert not found, "use ExitCode"


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _number(call: ast.Call) -> bool:
    return any(isinstance(a, ast.Constant) and type(a.value) is int for a in call.args)
