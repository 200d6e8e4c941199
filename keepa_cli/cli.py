"""The entry point of keepa-cli and kc."""

from __future__ import annotations


def main() -> int:
    from keepa_cli.interfaces.cli.app import run

    return run()
