"""What type checkers and editors see is what the client has."""

from __future__ import annotations

import ast
import importlib.util
from typing import Any

from keepa_cli.client import methods
from tests.conftest import REPO


def script() -> Any:
    spec = importlib.util.spec_from_file_location("build_client_stub", REPO / "scripts" / "build_client_stub.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stub_is_current() -> None:
    made = script()
    assert made.STUB.read_text(encoding="utf-8") == made.stub(), "python scripts/build_client_stub.py"


def test_the_stub_names_every_parameter_of_every_operation() -> None:
    tree = ast.parse(script().stub())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    fields = {
        n.target.id: n.annotation.id
        for n in classes["LocalClient"].body
        if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name) and isinstance(n.annotation, ast.Name)
    }
    for name, family in methods.families().items():
        for verb, op in methods.operations(family).items():
            home = classes[fields[name]] if verb else classes["LocalClient"]
            [found] = [n for n in home.body if isinstance(n, ast.FunctionDef) and n.name == (verb or name)]
            names = [a.arg for a in (*found.args.args, *found.args.kwonlyargs)]
            assert names == ["self", *methods.signature(op).parameters]
            assert ast.get_docstring(found)
