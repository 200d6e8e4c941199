"""Evals: JSON files that state what a command or a server must answer.

Pure: `run_eval` is handed the `call` that runs commands, `run_exchanges` what starts the server.
"""

from keepa_cli.evals.exchanges import run_exchanges
from keepa_cli.evals.load import find_files, load_file
from keepa_cli.evals.model import Eval, Failure, Verdict
from keepa_cli.evals.runner import run_eval

__all__ = ["Eval", "Failure", "Verdict", "find_files", "load_file", "run_eval", "run_exchanges"]
