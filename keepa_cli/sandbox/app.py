"""What the sandbox answers, apart from HTTP: keys, admission, endpoints, faults."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from dataclasses import replace

from keepa_cli.sandbox import spoil
from keepa_cli.sandbox.bodies import Body
from keepa_cli.sandbox.bucket import UNKNOWN, Bucket, BucketState
from keepa_cli.sandbox.config import SandboxConfig
from keepa_cli.sandbox.endpoints import ENDPOINTS, FREE, Answer, Shop
from keepa_cli.sandbox.faults import Fault, Faults
from keepa_cli.sandbox.messages import Call, Refusal, Reply, envelope, invalid_parameter
from keepa_cli.sandbox.recordings import Recordings

KEY_SHAPE = re.compile(r"[A-Za-z0-9]{64}")
METHODS = frozenset({"GET", "POST", "HEAD"})


class App:
    """Answers calls. One instance serves all threads."""

    def __init__(self, config: SandboxConfig) -> None:
        self.config = config
        self.bucket = Bucket(config.rate, config.capacity, config.tokens, config.now)
        self.faults = Faults(config.faults, config.seed)
        self.stopping = threading.Event()
        self.recordings = Recordings(config.roots) if config.roots is not None else None
        self.shop = Shop(config)

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
        self._check_key(call.key)
        endpoint = ENDPOINTS.get(call.path)
        if endpoint is None:
            known = ", ".join(ENDPOINTS)
            raise Refusal(404, "notFound", f"The sandbox has no {call.path}; it imitates {known}.")
        if call.path not in FREE and not self.bucket.admit():
            raise Refusal(429, "notEnoughToken", "You have no API tokens available.")
        answer = self.shop.answer(endpoint, call, self.now_ms(), spoiled)
        return self._charged(answer, started)

    def _check_key(self, key: str | None) -> None:
        if not key or not (self.config.any_key or KEY_SHAPE.fullmatch(key)):
            raise invalid_parameter(real_bucket=False)
        if key in self.config.deny_keys:
            raise Refusal(402, "unauthorized", "Your API key has no access.")

    def _charged(self, answer: Answer, started: float) -> Reply:
        bucket = self.bucket.charge(answer.tokens)
        if answer.body is not None:
            return Reply(200, Body((answer.body,)), tokens=answer.tokens)
        took = int((time.perf_counter() - started) * 1000)
        body = envelope(answer.payload, bucket, self.now_ms(), answer.tokens, took)
        return Reply(200, body, tokens=answer.tokens)

    def _refused(self, refusal: Refusal, started: float) -> Reply:
        bucket: BucketState = self.bucket.state() if refusal.real_bucket else UNKNOWN
        took = int((time.perf_counter() - started) * 1000)
        return Reply(refusal.status, envelope({"error": refusal.error}, bucket, self.now_ms(), 0, took))
