"""Keepa from Python, in this process: the operations, modes and envelopes of the command line."""

from keepa_cli.client.local import CallFailed, LocalClient

__all__ = ["CallFailed", "LocalClient"]
