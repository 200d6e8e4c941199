"""Record, sanitize, verify and replay Keepa API answers."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keepa_cli.client import LocalClient as LocalClient
    from keepa_cli.core.errors import KeepaCliError as KeepaCliError

__version__ = "0.1.0"
__all__ = ["KeepaCliError", "LocalClient", "__version__"]
_LAZY = {"LocalClient": "keepa_cli.client", "KeepaCliError": "keepa_cli.core.errors"}
"""Imported when they are asked for: the command line starts without them."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
