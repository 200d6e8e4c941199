"""Webhooks: notifications sent by HTTP POST, one more try after a pause."""

from __future__ import annotations

import heapq
import http.client
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from keepa_cli.sandbox.config import is_loopback
from keepa_cli.sandbox.messages import dumps

TIMEOUT = 10
ATTEMPTS = 2
LOG_SIZE = 1000


@dataclass(frozen=True)
class Delivery:
    """One try. `status` is None when nobody answered. The address is a secret and is not kept."""

    notification_id: str
    attempt: int
    status: int | None


def is_allowed(url: str) -> bool:
    """https to anywhere, plain http to this machine only."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host or "")))


class Hooks:
    """Sends in the background, in order; `done` hears of each notification that was taken."""

    def __init__(self, retry_seconds: float, done: Callable[[str], None]) -> None:
        self.deliveries: deque[Delivery] = deque(maxlen=LOG_SIZE)
        self._retry, self._done = retry_seconds, done
        self._queue: list[tuple[float, int, int, str, dict[str, Any]]] = []
        self._numbers = count()
        self._changed = threading.Condition()
        self._busy = self._stopped = False
        self._thread: threading.Thread | None = None

    def send(self, url: str, notification: dict[str, Any]) -> None:
        self._push(0, 1, url, notification)

    def wait(self, seconds: float) -> bool:
        """Wait until everything is delivered or given up; False when that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._queue and not self._busy, seconds)

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._queue.clear()
            self._changed.notify_all()

    def _push(self, delay: float, attempt: int, url: str, notification: dict[str, Any]) -> None:
        with self._changed:
            if self._stopped:
                return
            heapq.heappush(self._queue, (time.monotonic() + delay, next(self._numbers), attempt, url, notification))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="sandbox webhooks", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._stopped or bool(self._queue))
                if self._stopped:
                    return
                left = self._queue[0][0] - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                    continue
                _, _, attempt, url, notification = heapq.heappop(self._queue)
                self._busy = True
            self._try(attempt, url, notification)

    def _try(self, attempt: int, url: str, notification: dict[str, Any]) -> None:
        name = str(notification["notificationId"])
        status = post(url, dumps(notification))
        self.deliveries.append(Delivery(name, attempt, status))
        if status == 200:
            self._done(name)
        elif attempt < ATTEMPTS:
            self._push(self._retry, attempt + 1, url, notification)


def post(url: str, body: bytes) -> int | None:
    """The status of the answer; None without one. Redirects and proxies are not followed."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT)
    try:
        connection.request("POST", target, body, {"Content-Type": "application/json", "Connection": "close"})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
