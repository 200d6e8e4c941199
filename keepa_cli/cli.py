"""The entry point of keepa-cli and kc."""

from __future__ import annotations


def main() -> int:
    """Run the command line of this process; the exit code. An interrupt during start-up is not a traceback."""
    try:
        from keepa_cli.interfaces.cli.app import run

        return run()
    except KeyboardInterrupt:
        return 130
