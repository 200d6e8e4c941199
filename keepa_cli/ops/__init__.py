"""One module per family of operations; the only place where their names are spelled.

A family is imported when it is asked for. Modules whose names start with an underscore hold shared parts.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Sequence
from pathlib import Path

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.registry import OPERATIONS, Operation
from keepa_cli.ops._names import ALIASES


@functools.cache
def families() -> tuple[str, ...]:
    """The names of all families in alphabetical order, without importing them."""
    names = (file.stem for file in Path(__path__[0]).iterdir() if file.suffix == ".py")
    return tuple(sorted(name.replace("_", "-") for name in names if not name.startswith("_")))


def load(family: str) -> list[Operation]:
    """The operations of one family in the order they are declared. Raises `unknown_command`."""
    if family not in families():
        raise _unknown(family, families())
    importlib.import_module(f"{__name__}.{family.replace('-', '_')}")
    return [op for name, op in OPERATIONS.items() if name.partition(".")[0] == family]


def about(family: str) -> str:
    """The first line of the family's docstring, read from its source: a list of families imports none."""
    name = family.replace("-", "_")
    with contextlib.suppress(OSError), (Path(__path__[0]) / f"{name}.py").open(encoding="utf-8") as source:
        return source.readline().strip().strip('"').strip()
    module = importlib.import_module(f"{__name__}.{name}")
    return (module.__doc__ or "").partition("\n")[0].strip()


def load_all() -> list[Operation]:
    """Every operation, sorted by name."""
    return sorted((op for family in families() for op in load(family)), key=lambda op: op.name)


def find(name: str) -> Operation:
    """The operation called `name`. Raises `unknown_command` with the nearest names."""
    name = ALIASES.get(name, name)
    family = name.partition(".")[0]
    if name not in OPERATIONS and family in families():
        load(family)
    if name not in OPERATIONS:
        raise _unknown(name, [op.name for op in load_all()])
    return OPERATIONS[name]


def _unknown(name: str, known: Sequence[str]) -> KeepaCliError:
    import difflib

    close = difflib.get_close_matches(name, known, n=3)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    return KeepaCliError(Kind.UNKNOWN_COMMAND, f"There is no command {name!r}.{hint}", details={"close": close})
