"""For tests of programs that call Keepa: recorded answers for any requests session, without a key or a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keepa_cli.cassettes.library import Library
    from keepa_cli.testing.adapter import CassetteMiss, ReplayAdapter, ReplayError, replay_session

__all__ = ["CassetteMiss", "Library", "ReplayAdapter", "ReplayError", "replay_session"]


def __getattr__(name: str) -> Any:
    if name == "Library":
        from keepa_cli.cassettes.library import Library

        return Library
    if name in __all__:
        from keepa_cli.testing import adapter

        return getattr(adapter, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
