"""SQLite is known to the store alone, and nothing else opens it."""

from __future__ import annotations

import ast

from tests.house.source import modules, text, tree


def test_only_the_store_imports_sqlite() -> None:
    found = [
        name
        for name in modules("keepa_cli")
        if not name.startswith("keepa_cli/store/") and "sqlite3" in text(name)
        for node in ast.walk(tree(name))
        if (isinstance(node, ast.Import) and any(a.name.partition(".")[0] == "sqlite3" for a in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sqlite3")
    ]
    assert not found
