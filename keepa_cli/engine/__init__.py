"""Runs operations: `run(op, params, ctx, options)` gives the envelope."""

from keepa_cli.engine.modes import Flags
from keepa_cli.engine.options import Options
from keepa_cli.engine.runner import run

__all__ = ["Flags", "Options", "run"]
