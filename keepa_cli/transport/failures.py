"""What a lost exchange means: was anything sent, may tokens have been spent; and no key in texts or logs.

The texts name the host and the system's reason only: exceptions of the HTTP libraries quote the whole URL.
"""

from __future__ import annotations

import errno
import http.client
import logging
import os
import socket
import ssl
import weakref
from collections.abc import Iterator
from types import TracebackType

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.logs import RedactingFilter
from keepa_cli.core.redact import Redactor
from keepa_cli.transport.body import BodyError

_LOGGERS = ("connectionpool", "connection", "response", "poolmanager", "util.retry", "util.connection", "util.ssl_")
_TEXTS = {
    "cut_body": "The answer ended before it was complete",
    "undecodable": "The compression of the answer cannot be undone",
    "too_large": "The answer is larger than any answer of Keepa",
}
_BEFORE_SENDING = frozenset({"do_handshake", "_new_conn", "_prepare_proxy", "_tunnel", "create_connection"})


def without_answer(error: BaseException, host: str) -> KeepaCliError:
    """The failure of an attempt that brought no status line."""
    import requests

    if isinstance(error, requests.exceptions.ConnectTimeout):
        return _unsent(f"No connection to {host} in time.", "connect_timeout")
    if isinstance(error, requests.exceptions.ProxyError):
        return _unsent(f"The proxy in front of {host} refused the connection.", "proxy")
    if isinstance(error, ValueError) and isinstance(error, requests.RequestException):
        return _unsent(f"The address of {host} or of a proxy is not usable.", "bad_address", retryable=False)
    if any(isinstance(e, ssl.SSLCertVerificationError | ssl.CertificateError) for e in _chain(error)):
        return _unsent(f"The certificate of {host} is not trusted.", "certificate", retryable=False)
    if _nothing_sent(error):
        return _unsent(f"No connection to {host}: {_reason(error)}.", "connect")
    if any(isinstance(e, http.client.IncompleteRead) for e in _chain(error)):
        return _unknown(_TEXTS["cut_body"], "cut_body")
    if isinstance(error, requests.exceptions.Timeout) or any(isinstance(e, TimeoutError) for e in _chain(error)):
        return _timeout()
    return _unknown("The connection broke after the request was sent", "connection_reset")


def lost_body(error: BaseException) -> KeepaCliError:
    """The failure of an attempt whose answer began with status 200 and did not arrive whole."""
    import urllib3

    cause = error.cause if isinstance(error, BodyError) else "cut_body"
    if cause == "read_timeout" or isinstance(error, urllib3.exceptions.ReadTimeoutError | TimeoutError):
        return _timeout()
    return _unknown(_TEXTS[cause], cause, status=200)


def keep_key_out_of_logs(redactor: Redactor) -> None:
    """Make the HTTP libraries' log records safe at every level. Can be called again and again."""
    _FILTER.redactors.add(redactor)
    for name in ("urllib3", "requests", *(f"urllib3.{part}" for part in _LOGGERS)):
        logging.getLogger(name).addFilter(_FILTER)


class _LogFilter(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self.redactors: weakref.WeakSet[Redactor] = weakref.WeakSet()

    def filter(self, record: logging.LogRecord) -> bool:
        return all(RedactingFilter(redactor).filter(record) for redactor in list(self.redactors))


_FILTER = _LogFilter()


def _unsent(message: str, error_type: str, *, retryable: bool = True) -> KeepaCliError:
    details = {"http_status": None, "error_type": error_type, "charged": "no"}
    return KeepaCliError(Kind.TRANSPORT_ERROR, f"{message} Nothing was sent.", details=details, retryable=retryable)


def _timeout() -> KeepaCliError:
    return KeepaCliError(
        Kind.TIMEOUT,
        "The request was sent and no complete answer came in time; tokens may have been spent. It is not repeated.",
        details={"http_status": None, "error_type": "read_timeout", "charged": "unknown"},
    )


def _unknown(what: str, error_type: str, status: int | None = None) -> KeepaCliError:
    return KeepaCliError(
        Kind.OUTCOME_UNKNOWN,
        f"{what}; tokens may have been spent. It is not repeated.",
        details={"http_status": status, "error_type": error_type, "charged": "unknown"},
    )


def _nothing_sent(error: BaseException) -> bool:
    """Whether the attempt failed while the connection, its tunnel or its encryption was being set up."""
    import urllib3

    unconnected = (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError, socket.gaierror)
    for link in _chain(error):
        if isinstance(link, unconnected) or getattr(link, "errno", None) == errno.ECONNREFUSED:
            return True
        if any(name in _BEFORE_SENDING for name in _functions(link.__traceback__)):
            return True
    return False


def _functions(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        yield traceback.tb_frame.f_code.co_name
        traceback = traceback.tb_next


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and everything it wraps: causes, contexts, reasons and arguments."""
    todo, seen = [error], set[int]()
    while todo:
        link = todo.pop()
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        wrapped = (link.__cause__, link.__context__, getattr(link, "reason", None), *link.args)
        todo += [w for w in wrapped if isinstance(w, BaseException)]


def _reason(error: BaseException) -> str:
    for link in _chain(error):
        if isinstance(link, socket.gaierror):
            return "its name cannot be resolved"
        if isinstance(link, OSError) and link.errno:
            return os.strerror(link.errno)
    return "it cannot be reached"
