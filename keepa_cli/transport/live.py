"""Calls to the real server over one kept-alive requests session per thread; the key never leaves this module."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from keepa_cli import __version__
from keepa_cli.cassettes.fingerprint import of_request
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.redact import Redactor
from keepa_cli.keepa import answer
from keepa_cli.keepa.wire import BASE_URL, Source, WireRequest, WireResponse
from keepa_cli.transport import aborting, failures
from keepa_cli.transport.aborting import Exchange, Guard, unguarded
from keepa_cli.transport.body import BodyError, read_body
from keepa_cli.transport.policy import NO_RETRY, RetryPolicy

if TYPE_CHECKING:
    import requests

TIMEOUT = 120.0
CONNECT_TIMEOUT = 30.0
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
OnWait = Callable[[float, KeepaCliError], None]


class LiveTransport:
    """Sends requests to `base_url` with the key as first query parameter and repeats what charged nothing.

    HTTP errors are returned as answers (`keepa.answer` judges them); only a lost or impossible exchange raises.
    `on_wait` is told before each wait between attempts, `before_send` before each attempt. `guard` stands around each
    attempt and can abort it from another thread: the attempt ends at once with `KeyboardInterrupt`, or with
    `InterruptedWait` where nothing had been sent, and is not repeated.
    """

    kind = "live"

    def __init__(
        self,
        base_url: str,
        key: str,
        timeout: float = TIMEOUT,
        policy: RetryPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
        redactor: Redactor | None = None,
        *,
        connect_timeout: float | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        on_wait: OnWait | None = None,
        before_send: Callable[[int], None] | None = None,
        guard: Guard = unguarded,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.timeout = timeout if timeout > 0 else TIMEOUT
        self.policy = policy or RetryPolicy()
        self.redactor = redactor or Redactor()
        self.redactor.add_secret(key)
        self._key = key
        self._connect_timeout = min(connect_timeout or CONNECT_TIMEOUT, self.timeout)
        self._sleep, self._monotonic, self._jitter, self._now = sleep, monotonic, jitter, now
        self._on_wait, self._before_send, self._guard = on_wait, before_send, guard
        self._sessions = threading.local()

    def __repr__(self) -> str:
        return f"LiveTransport({self.base_url!r})"

    @property
    def origin(self) -> str:
        return "live" if urlsplit(self.base_url).hostname == urlsplit(BASE_URL).hostname else "sandbox"

    def send(self, request: WireRequest, *, retry: bool = True) -> WireResponse:
        """The answer to `request`. With `retry=False` (writes) exactly one attempt is made."""
        policy = self.policy if retry else NO_RETRY
        waited, attempt, start = 0.0, 0, self._monotonic()
        while True:
            attempt += 1
            outcome = self._attempt(request, attempt)
            error = outcome if isinstance(outcome, KeepaCliError) else self._error_in(outcome)
            wait = policy.decide(attempt, error, waited=waited, chance=self._jitter()) if error else None
            if wait is None:
                break
            if self._on_wait and error:
                self._on_wait(wait, error)
            self._sleep(wait)
            waited += wait
        if isinstance(outcome, KeepaCliError):
            outcome.details["attempts"] = attempt
            raise outcome
        elapsed = round((self._monotonic() - start) * 1000, 3)
        return replace(outcome, source=replace(outcome.source, attempts=attempt, elapsed_ms=elapsed))

    def close(self) -> None:
        """Close the connections of this thread."""
        session = self._sessions.__dict__.pop("session", None)
        if session is not None:
            session.close()

    def _attempt(self, request: WireRequest, attempt: int) -> WireResponse | KeepaCliError:
        """One exchange. Failures are returned, not raised here, so that no exception chain holds the URL."""
        session, exchange = self._session(), Exchange()
        if self._before_send:
            self._before_send(attempt)
        with self._guard(exchange.abort), aborting.exchanging(exchange):
            outcome = self._outcome(session, request)
        if exchange.aborted and isinstance(outcome, KeepaCliError):
            raise exchange.ending()
        return outcome

    def _outcome(self, session: requests.Session, request: WireRequest) -> WireResponse | KeepaCliError:
        import requests
        import urllib3

        deadline = self._monotonic() + self.timeout + self._connect_timeout
        try:
            raw = self._exchange(session, request)
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            return failures.without_answer(error, urlsplit(self.base_url).hostname or "")
        headers = _headers(raw)
        source = Source(self.kind, self.kind, self.origin, fingerprint=of_request(request))
        outcome = WireResponse(raw.status_code, raw.reason or "", headers, b"", source)
        try:
            return replace(outcome, body=read_body(raw.raw, headers, self._monotonic, deadline))
        except (BodyError, urllib3.exceptions.HTTPError, OSError) as error:
            # The status of a refusal says all that is needed; a lost result was perhaps paid for.
            return failures.lost_body(error) if raw.status_code == 200 else outcome
        finally:
            raw.close()

    def _exchange(self, session: requests.Session, request: WireRequest) -> requests.Response:
        import requests

        prepared = session.prepare_request(requests.Request(request.method, self.base_url, data=request.body or None))
        prepared.url = request.url(self.base_url, (("key", self._key),))
        if request.content_type:
            prepared.headers["Content-Type"] = request.content_type
        bypass = urlsplit(self.base_url).hostname in LOOPBACK
        settings = session.merge_environment_settings(self.base_url, {}, True, None, None)
        return session.send(
            prepared,
            allow_redirects=False,
            timeout=(self._connect_timeout, self.timeout),
            stream=True,
            verify=settings["verify"],
            cert=settings["cert"],
            proxies={} if bypass else settings["proxies"],
        )

    def _error_in(self, response: WireResponse) -> KeepaCliError | None:
        if response.status == 200:
            return None
        try:
            body = answer.parse_body(response)
        except KeepaCliError:
            body = {}
        return answer.error_of(response, body, self._now())

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._sessions, "session", None)
        if session is None:
            session = self._sessions.session = new_session(self.redactor)
        return session


def new_session(redactor: Redactor) -> requests.Session:
    """A session that keeps connections but no cookies, reads no .netrc and logs no key."""
    from http.cookiejar import DefaultCookiePolicy

    import requests

    class Session(requests.Session):
        def get_redirect_target(self, resp: requests.Response) -> None:
            """None: a redirect is an answer like any other, and the key follows none."""

    failures.keep_key_out_of_logs(redactor)
    session = Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, aborting.adapter())
    session.headers.clear()
    session.headers.update(
        {
            "User-Agent": f"keepa-cli/{__version__}",
            "Accept": "*/*",
            "Accept-Encoding": "gzip",
            "Connection": "keep-alive",
        }
    )
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.auth = _no_auth
    return session


def _no_auth(prepared: requests.PreparedRequest) -> requests.PreparedRequest:
    """Present, so that requests does not look for a password in .netrc."""
    return prepared


def _headers(raw: requests.Response) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, value in raw.raw.headers.items():
        found[name.lower()] = (*found.get(name.lower(), ()), value)
    return found
