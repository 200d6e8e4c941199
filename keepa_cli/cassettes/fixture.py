"""A fixture on its way into the library: its exchanges, the facts that outlive them, and its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from keepa_cli.cassettes import fingerprint, names
from keepa_cli.cassettes.contracts import ERROR_ANSWER, Verdict, schema_sha256
from keepa_cli.cassettes.evidence import SCHEMA_VERSION
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.stored import Stored, stored
from keepa_cli.keepa.wire import HOST

_BUCKET = (
    ("tokens_left", "tokensLeft"),
    ("tokens_consumed", "tokensConsumed"),
    ("refill_rate", "refillRate"),
    ("refill_in_ms", "refillIn"),
)


@dataclass
class Fixture:
    """One fingerprint's recorded answers under one name. `exchanges` is emptied once the file is written."""

    name: str
    endpoint: str
    fingerprint: str
    exchanges: list[Exchange] = field(default_factory=list)
    facts: list[dict[str, Any]] = field(default_factory=list)
    tokens: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    verdict: str = ""
    schema: str | None = None
    warnings: list[dict[str, Any]] = field(default_factory=list)
    sha256: str = ""
    size: int = 0

    @property
    def relative(self) -> str:
        return f"{self.endpoint}/{names.file_name(self.name, self.fingerprint)}"

    @property
    def tokens_consumed(self) -> int | None:
        known = [v for v in self.tokens.get("consumed", []) if v is not None]
        return sum(known) if known else None

    @property
    def recorded_at(self) -> str | None:
        return self.facts[-1]["recorded_at"] if self.facts else None

    def add(self, exchange: Exchange, verdict: Verdict, moment: str | None, duration_ms: float | None) -> None:
        """Take one sanitized and checked exchange."""
        kept = stored(exchange)
        self.facts.append(_fact(len(self.facts), kept, verdict, moment, duration_ms))
        self.exchanges.append(kept.exchange)
        self.verdict, self.schema = verdict.verdict, verdict.schema
        body = verdict.body if isinstance(verdict.body, dict) else {}
        for name, wire in _BUCKET:
            self.tokens[name] = _whole(body.get(wire))
        self.tokens.setdefault("consumed", []).append(_whole(body.get("tokensConsumed")))
        self.warnings += [{"code": "contract", "message": f"{self.name}: {text}"} for text in verdict.warnings]
        if verdict.unknown_fields:
            fields = dict(sorted(verdict.unknown_fields.items())[:50])
            message = f"{self.name}: {len(verdict.unknown_fields)} fields are not in the known contract."
            self.warnings.append({"code": "unknown_fields", "message": message, "fields": fields})

    @property
    def ends_in_error(self) -> bool:
        return self.verdict == ERROR_ANSWER

    def request_line(self) -> str:
        """Method, path and query of the request, as titles show it."""
        fact = self.facts[0]
        return f"{fact['method']} {fact['path']}" + (f"?{fact['query']}" if fact["query"] else "")


def endpoint_of(exchange: Exchange) -> str:
    """The folder of the library that the exchange belongs to: the segments of its path."""
    path = fingerprint.request_path(exchange.url).strip("/")
    return names.safe_name(path.replace("/", "-")) if path else "root"


def _fact(
    ordinal: int, kept: Stored, verdict: Verdict, moment: str | None, duration_ms: float | None
) -> dict[str, Any]:
    exchange = kept.exchange
    parts = urlsplit(exchange.url)
    return {
        "ordinal": ordinal,
        "fingerprint": fingerprint.fingerprint(exchange.method, exchange.url, exchange.request_body),
        "fingerprint_version": fingerprint.VERSION,
        "method": exchange.method,
        "host": HOST,
        "path": parts.path,
        "query": parts.query,
        "param_names": sorted({name for name, _ in fingerprint.query_pairs(exchange.url)}),
        "status": exchange.status,
        "body_sha256": kept.sha256,
        "body_bytes": kept.size,
        "verdict": verdict.verdict,
        "recorded_at": moment,
        "duration_ms": duration_ms,
    }


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def sidecar(fixture: Fixture, library: str, circumstances: Mapping[str, Any]) -> dict[str, Any]:
    """The evidence of one fixture. `library` is the folder name of the library; no value is an absolute path."""
    tokens = {k: v for k, v in fixture.tokens.items() if k != "consumed"}
    left, used = tokens.get("tokens_left"), tokens.get("tokens_consumed")
    meta = circumstances["meta"]
    return {
        "schema_version": SCHEMA_VERSION,
        "identity": {
            "name": fixture.name,
            "cassette": f"{library}/{fixture.relative}",
            "sha256": fixture.sha256,
            "bytes": fixture.size,
            "interaction_count": len(fixture.facts),
            "parent_manifest_sha256": circumstances["parent_manifest_sha256"],
        },
        "interactions": fixture.facts,
        "consumption": {
            **tokens,
            "tokens_left_before": left + used if left is not None and used is not None else None,
            "run_total": fixture.tokens_consumed,
            "budget": meta.get("budget"),
            "expected_cost": meta.get("expected_cost"),
        },
        "tools": circumstances["tools"],
        "redaction": circumstances["redaction"] | {"counts": dict(sorted(fixture.counts.items())), "hits": 0},
        "contract": {
            "schema": fixture.schema,
            "schema_sha256": schema_sha256(fixture.schema),
            "verdict": fixture.verdict,
        },
        "verification": circumstances["verification"],
        "promotion": circumstances["promotion"],
    }


def library_file(root: Path, fixture: Fixture) -> Path:
    return root / fixture.endpoint / names.file_name(fixture.name, fixture.fingerprint)
