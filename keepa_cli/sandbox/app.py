"""What the sandbox answers, apart from HTTP: keys, admission, endpoints, faults."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from keepa_cli.core.errors import KeepaCliError, invalid
from keepa_cli.keepa.csvtypes import CSV_TYPES, META
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.sandbox import spoil
from keepa_cli.sandbox.bodies import Body
from keepa_cli.sandbox.bucket import UNKNOWN, Bucket, BucketState
from keepa_cli.sandbox.catalogue.traits import INVALID, UNACCESSIBLE, product_type
from keepa_cli.sandbox.config import SandboxConfig
from keepa_cli.sandbox.endpoints import ENDPOINTS
from keepa_cli.sandbox.faults import Fault, Faults
from keepa_cli.sandbox.messages import Call, Refusal, Reply, dumps, envelope, invalid_parameter
from keepa_cli.sandbox.recordings import Recordings
from keepa_cli.sandbox.shop import Answer, Shop

KEY_SHAPE = re.compile(r"[A-Za-z0-9]{64}")
PRICE_PATH = "/sandbox/price"
PRICED = frozenset(t.index for t in CSV_TYPES if t.kind is not META)
METHODS = frozenset({"GET", "POST", "HEAD"})


class App:
    """Answers calls. One instance serves all threads."""

    def __init__(self, config: SandboxConfig) -> None:
        self.config = config
        self.bucket = Bucket(config.rate, config.capacity, config.tokens, config.now)
        self.faults = Faults(config.faults, config.seed)
        self.stopping = threading.Event()
        self.recordings = Recordings(config.roots) if config.roots is not None else None
        self.shop = Shop(config, self.bucket.reduce)

    def answer(self, call: Call) -> Reply:
        """Never raises: what the sandbox itself gets wrong becomes a 500."""
        taken = self.faults.take(call.path)
        try:
            reply = self._faulty(call, taken)
        except Refusal as refusal:
            reply = self._refused(refusal, time.perf_counter())
        except Exception as error:  # noqa: BLE001 - a defect must reach the client as an answer
            reply = spoil.server_error(f"defect in the sandbox: {type(error).__name__}: {error}", self.now_ms())
        return replace(reply, notes=(*reply.notes, *(f.name for f in taken))) if taken else reply

    def now_ms(self) -> int:
        return int(self.config.now() * 1000)

    def _faulty(self, call: Call, taken: Sequence[Fault]) -> Reply:
        for fault in taken:
            if fault.stage == "delay":
                self.stopping.wait(2.0 if fault.value is None else fault.value)
        for fault in taken:
            if fault.stage == "instead":
                return spoil.instead(fault, self.bucket.state(), self.now_ms())
        reply = self._executed(call, [f.name for f in taken if f.stage == "content"])
        for fault in taken:
            if fault.stage == "ending":
                reply = replace(reply, cut=spoil.ENDINGS[fault.name])
        return reply

    def _executed(self, call: Call, spoiled: Sequence[str]) -> Reply:
        if self.recordings is not None:
            return self.recordings.play(call, self.now_ms())
        started = time.perf_counter()
        if call.method not in METHODS:
            raise Refusal(405, "methodNotAllowed", f"The sandbox answers GET and POST, not {call.method}.")
        if call.path == PRICE_PATH and call.method == "POST":
            return self._price(call)
        self._check_key(call.key)
        endpoint = ENDPOINTS.get(call.path)
        if endpoint is None:
            known = ", ".join(ENDPOINTS)
            raise Refusal(404, "notFound", f"The sandbox has no {call.path}; it imitates {known}.")
        self.shop.desk.settle()
        if not endpoint.free(call) and not self.bucket.admit():
            raise Refusal(429, "notEnoughToken", "You have no API tokens available.")
        answer = self.shop.answer(endpoint, call, self.now_ms(), spoiled)
        return self._charged(answer, started)

    def change_price(self, asin: str, slot: int, value: int, domain: int) -> list[dict[str, Any]]:
        """The notifications that follow. Raises `invalid_arguments` for what no product has."""
        if domain not in DOMAINS:
            raise invalid("There is no such marketplace.", field="domain", value=domain, allowed=list(DOMAINS))
        if product_type(asin) in {UNACCESSIBLE, INVALID}:
            raise invalid(f"{asin[:20]!r} is no product of the sandbox.", field="asin", value=asin[:20])
        if slot not in PRICED:
            raise invalid("That price type cannot be set.", field="csvType", value=slot, allowed=sorted(PRICED))
        if not -1 <= value < 2**31:
            raise invalid("A price is -1 (no offer) or more.", field="value", value=value, allowed="-1 to 2147483647")
        return self.shop.desk.change_price(asin, slot, value, domain)

    def _price(self, call: Call) -> Reply:
        """The one path that Keepa does not have: it sets a price from outside, without key and tokens."""
        try:
            given = {"domain": "1", **call.params}
            slot, value, domain = (int(given.get(name, "")) for name in ("csvType", "value", "domain"))
            found = self.change_price(given.get("asin", ""), slot, value, domain)
        except (ValueError, KeepaCliError) as error:
            said = error.message if isinstance(error, KeepaCliError) else "csvType, value and domain are whole numbers."
            raise Refusal(400, "invalidParameter", said) from None
        return Reply(200, Body((dumps({"notifications": found}),)))

    def _check_key(self, key: str | None) -> None:
        if not key or not (self.config.any_key or KEY_SHAPE.fullmatch(key)):
            raise invalid_parameter(real_bucket=False)
        if key in self.config.deny_keys:
            raise Refusal(402, "unauthorized", "Your API key has no access.")

    def _charged(self, answer: Answer, started: float) -> Reply:
        bucket = self.bucket.charge(answer.tokens)
        if answer.body is not None:
            return Reply(200, Body((answer.body,)), answer.headers, tokens=answer.tokens)
        took = int((time.perf_counter() - started) * 1000)
        body = envelope(answer.payload, bucket, self.now_ms(), answer.tokens, took)
        return Reply(200, body, tokens=answer.tokens)

    def _refused(self, refusal: Refusal, started: float) -> Reply:
        bucket: BucketState = self.bucket.state() if refusal.real_bucket else UNKNOWN
        took = int((time.perf_counter() - started) * 1000)
        return Reply(refusal.status, envelope({"error": refusal.error}, bucket, self.now_ms(), 0, took))
