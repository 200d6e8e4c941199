"""The trackings of all lists, their notifications and the webhook. Every method is safe to call from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from keepa_cli.keepa.clock import even_minute
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.tracking import VIA_API, flow
from keepa_cli.sandbox.catalogue.catalogue import Catalogue
from keepa_cli.sandbox.catalogue.market import Change
from keepa_cli.sandbox.config import SandboxConfig
from keepa_cli.sandbox.trackings.hooks import Hooks
from keepa_cli.sandbox.trackings.tracked import Tracked, made
from keepa_cli.sandbox.trackings.watch import EXPIRED, Event, check

NOTIFIED_MINUTES = 24 * 60
MOST_NOTIFICATIONS = 2000
MOST_LISTS = 100_000
ListName = str | None


@dataclass
class Note:
    """A notification and whether it was read."""

    data: dict[str, Any]
    list_name: ListName
    read: bool = False


class Desk:
    """`on_flow` hears by how much trackings lower the refill, in whole tokens per minute."""

    def __init__(self, catalogue: Catalogue, config: SandboxConfig, on_flow: Callable[[int], None]) -> None:
        self._catalogue, self._rate, self._now, self._on_flow = catalogue, config.rate, config.now, on_flow
        self._lock = threading.RLock()
        self._lists: dict[ListName, dict[str, Tracked]] = {None: {}}
        self._notes: list[Note] = []
        self._told = 0
        self._settled = -1
        self._flow = 0.0
        self._url: str | None = None
        self.hooks = Hooks(config.webhook_retry, self._delivered)

    def minute(self) -> int:
        return even_minute(int(self._now() * 1000))

    def add(self, items: Iterable[Any], list_name: ListName) -> tuple[list[dict[str, Any]], list[str]]:
        """(the trackings made, the ASINs that failed). The same ASIN of a list is overwritten."""
        with self._lock:
            now = self.settle()
            found, failed = [], list[str]()
            for given in items:
                tracked = self._add(given, list_name, now)
                if tracked is None:
                    asin = given.get("asin") if isinstance(given, dict) else None
                    failed.append(str(asin)[:20] if asin else "?")
                else:
                    found.append(tracked)
            self._flowed()
            self._look(found, now)
            return [tracked.shown() for tracked in found], failed

    def _add(self, given: Any, list_name: ListName, now: int) -> Tracked | None:
        known = self._lists.get(list_name, {})
        before = known.get(given["asin"]) if isinstance(given, dict) and isinstance(given.get("asin"), str) else None
        tracked = made(given, list_name, before, now)
        if tracked is None or (list_name not in self._lists and len(self._lists) > MOST_LISTS):
            return None
        total = self._flow + flow(tracked.item) - (flow(before.item) if before else 0.0)
        if _whole(total) > self._rate:
            return None
        self._flow = total
        self._lists.setdefault(list_name, {})[tracked.asin] = tracked
        return tracked

    def get(self, asin: str, list_name: ListName) -> dict[str, Any] | None:
        with self._lock:
            self.settle()
            found = self._lists.get(list_name, {}).get(asin)
            return found.shown() if found else None

    def listed(self, list_name: ListName) -> list[dict[str, Any]]:
        with self._lock:
            self.settle()
            return [tracked.shown() for tracked in self._lists.get(list_name, {}).values()]

    def asins(self, list_name: ListName) -> list[str]:
        with self._lock:
            self.settle()
            return list(self._lists.get(list_name, {}))

    def names(self) -> list[str]:
        with self._lock:
            return sorted(name for name in self._lists if name is not None)

    def remove(self, asin: str, list_name: ListName) -> bool:
        """Whether it was there."""
        with self._lock:
            self.settle()
            found = self._lists.get(list_name, {}).pop(asin, None)
            self._flow -= flow(found.item) if found else 0.0
            self._flowed()
            return found is not None

    def remove_all(self, list_name: ListName) -> None:
        """Empty the list; a named one is gone then."""
        with self._lock:
            gone = self._lists.pop(list_name, {})
            self._lists.setdefault(None, {})
            self._flow -= sum(flow(tracked.item) for tracked in gone.values())
            self._flowed()

    def notifications(
        self, *, since: int, list_name: ListName, revise: bool, every: bool, read_only: bool
    ) -> list[dict[str, Any]]:
        """The newest first. They are read by this, and then shown only when revised, unless `read_only`."""
        with self._lock:
            self.settle()
            found = [
                note
                for note in reversed(self._notes)
                if note.data["createDate"] >= since
                and (revise or not note.read)
                and (list_name is None or note.list_name == list_name)
            ]
            shown = found if every else found[:MOST_NOTIFICATIONS]
            for note in () if read_only else shown:
                note.read = True
            return [note.data for note in shown]

    def set_webhook(self, url: str) -> None:
        with self._lock:
            self._url = url

    def change_price(self, asin: str, slot: int, value: int, domain: int) -> list[dict[str, Any]]:
        """Let a price change now, and look at once at what tracks the product. The notifications that follow."""
        with self._lock:
            now = self.settle()
            before = self._told
            self._catalogue.change_price(Change(asin, domain, slot, now, value))
            watched = [t for known in self._lists.values() for t in known.values() if t.asin == asin]
            for tracked in watched:
                self._check(tracked, now)
            return [n.data for n in self._notes if int(n.data["notificationId"]) > before]

    def settle(self) -> int:
        """Bring everything up to the minute that the clock shows: checks that are due, what expired. That minute."""
        with self._lock:
            now = self.minute()
            if now == self._settled:
                return now
            self._settled = now
            self._look([t for known in self._lists.values() for t in known.values()], now)
            self._expire(now)
            self._notes = [n for n in self._notes if n.data["createDate"] > now - NOTIFIED_MINUTES]
            return now

    def _look(self, trackings: Iterable[Tracked], now: int) -> None:
        for tracked in trackings:
            until = now if tracked.expires is None else min(now, tracked.expires)
            for minute in tracked.due(until):
                tracked.checked = minute
                self._check(tracked, minute)

    def _check(self, tracked: Tracked, minute: int) -> None:
        for event in check(tracked, minute, lambda domain, slot, at: self._value(tracked.asin, domain, slot, at)):
            self._tell(tracked, event, minute)

    def _expire(self, now: int) -> None:
        for known in self._lists.values():
            for tracked in [t for t in known.values() if t.expires is not None and t.expires <= now]:
                del known[tracked.asin]
                self._flow -= flow(tracked.item)
                if tracked.item["expireNotify"]:
                    self._tell(tracked, (tracked.item["mainDomainId"], 0, EXPIRED), tracked.expires or now)
                self._flowed()

    def _flowed(self) -> None:
        self._on_flow(_whole(self._flow))

    def _value(self, asin: str, domain: int, slot: int, minute: int) -> int:
        market = self._catalogue.market(asin, domain, self.minute())
        return market.series(slot).value_before(minute) if market else -1

    def _tell(self, tracked: Tracked, event: Event, minute: int) -> None:
        domain, kind, cause = event
        self._told += 1
        market = self._catalogue.market(tracked.asin, domain, self.minute())
        prices = None
        if cause != EXPIRED:
            prices = [self._value(tracked.asin, domain, t.index, minute) for t in CSV_TYPES]
        sent = [way == VIA_API for way in range(len(tracked.item["notificationType"]))]
        data = {
            "asin": tracked.asin,
            "createDate": minute,
            "csvType": kind,
            "currentPrices": prices,
            "domainId": tracked.item["mainDomainId"],
            "image": market.fields["images"][0]["m"] if market else None,
            "metaData": tracked.item["metaData"],
            "notificationDomainId": domain,
            "notificationId": str(self._told),
            "sentNotificationVia": sent,
            "title": market.fields["title"] if market else None,
            "trackingListName": tracked.list_name,
            "trackingNotificationCause": cause,
            "ttl": NOTIFIED_MINUTES,
        }
        self._notes.append(Note(data, tracked.list_name))
        if self._url is not None:
            self.hooks.send(self._url, data)

    def _delivered(self, name: str) -> None:
        with self._lock:
            for note in self._notes:
                if note.data["notificationId"] == name:
                    note.read = True


def _whole(tokens: float) -> int:
    """Rounded half up, as Keepa's own examples are."""
    return int(tokens + 0.5)
