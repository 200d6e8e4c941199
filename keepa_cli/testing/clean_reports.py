"""Takes the API key out of pytest's reports: tracebacks, captured output, skip reasons.

A missed recording makes HTTP libraries print the whole URL, key included, and CI keeps what is printed.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from keepa_cli.core.context import find_key
from keepa_cli.core.redact import Redactor
from keepa_cli.core.settings import load_settings
from keepa_cli.keepa.wire import HOST

_REDACTOR = pytest.StashKey[Redactor]()


def clean(report: Any, config: pytest.Config) -> None:
    """Redact `report` in place. A traceback that held a secret becomes plain text."""
    redactor = _redactor(config)
    report.sections = [(title, _text(redactor, content)) for title, content in report.sections]
    shown = report.longrepr
    if isinstance(shown, tuple):
        report.longrepr = tuple(_text(redactor, part) if isinstance(part, str) else part for part in shown)
    elif shown is not None:
        crash = getattr(getattr(shown, "reprcrash", None), "message", "")
        whole = str(shown)
        if _text(redactor, whole) != whole or _text(redactor, crash) != crash:
            report.longrepr = _text(redactor, whole)


def _text(redactor: Redactor, text: str) -> str:
    """By value always; by name only where a Keepa URL stands, so that other assertions stay readable."""
    if HOST in text:
        return redactor.text(text)
    return redactor.text(text) if redactor.find(text.encode("utf-8", "replace")) else text


def _redactor(config: pytest.Config) -> Redactor:
    if _REDACTOR not in config.stash:
        key, _ = find_key(os.environ, load_settings(os.environ))
        config.stash[_REDACTOR] = Redactor(*([key] if key else []))
    return config.stash[_REDACTOR]
