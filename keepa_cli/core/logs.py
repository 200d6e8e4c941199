"""Keeps secrets out of log records; apart from the redactor, which most commands use without logging."""

from __future__ import annotations

import logging

from keepa_cli.core.redact import Redactor


class RedactingFilter(logging.Filter):
    """Takes secrets out of log records, with their arguments and exception texts, before any handler sees them."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):
            message = f"{record.msg} {record.args!r}"
        record.msg, record.args = self._redactor.text(message), None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._redactor.text(record.exc_text)
        if record.stack_info:
            record.stack_info = self._redactor.text(record.stack_info)
        record.exc_info = None
        return True
