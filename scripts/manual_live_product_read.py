"""Read one product from Keepa by hand and show that the whole live path works.

A dry run unless KEEPA_API_KEY is set and --yes-live is given. Prints the token status before and after, what the call
was estimated to cost and did cost, its rows in the ledger, where the answer came from, and a summary; never the key
and never the body. The response cache is not asked: the point is a live answer.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.engine import Flags, Options, run

MAX_TOKENS = 2


def main(argv: Sequence[str] | None = None, ctx: Context | None = None) -> int:
    asked = _arguments(argv)
    context = ctx or Context()
    live = bool(asked.yes_live and context.env.get("KEEPA_API_KEY", "").strip())
    found, code = _read(asked, context) if live else _price(asked, context)
    clean = context.redactor.data(found)
    print(json.dumps(clean, ensure_ascii=False) if asked.json else "\n".join(_lines(clean)), file=context.stdout)
    return code


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--asin", required=True)
    parser.add_argument("--domain", default="US")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--yes-live", action="store_true", help="really ask Keepa, with the key in KEEPA_API_KEY")
    parser.add_argument(
        "--max-tokens", type=int, default=MAX_TOKENS, help=f"refuse a higher cost (default {MAX_TOKENS})"
    )
    return parser.parse_args(argv)


def _price(asked: argparse.Namespace, ctx: Context) -> tuple[dict[str, Any], int]:
    priced = _product(asked, ctx, Options(flags=Flags(dry_run=True)))
    if not priced["ok"]:
        return _failed(priced), int(priced.exit_code)
    return {
        "ok": True,
        "mode": "dry-run",
        "request": priced["request"],
        "estimated": priced["token_bucket"]["estimated"],
        "to_go_live": "set KEEPA_API_KEY and add --yes-live",
    }, 0


def _read(asked: argparse.Namespace, ctx: Context) -> tuple[dict[str, Any], int]:
    before = _status(ctx)
    answer = before if not before["ok"] else _product(asked, ctx, _live(asked.max_tokens))
    if not answer["ok"]:
        return _failed(answer), int(answer.exit_code)
    return {
        "ok": True,
        "mode": "live",
        "tokens_before": _tokens(before),
        "product": _summary(answer["data"]["body"]),
        "items": [{k: row[k] for k in ("asked", "status")} for row in answer["data"]["items"]],
        "provenance": answer["provenance"],
        "cache": {"used": False},
        "ledger": [_row(number, ctx) for number in answer["provenance"].get("ledger", [])],
        "estimated": answer["token_bucket"]["estimated"],
        "charged": answer["token_bucket"].get("charged"),
        "warnings": answer["warnings"],
        "tokens_after": _tokens(_status(ctx)),
    }, 0


def _live(max_tokens: int) -> Options:
    return Options(flags=Flags(live=True), max_tokens=max_tokens, transport="script", no_cache=True)


def _status(ctx: Context) -> Envelope:
    return run(ops.find("tokens.status"), {}, ctx, _live(0))


def _product(asked: argparse.Namespace, ctx: Context, options: Options) -> Envelope:
    return run(ops.find("products.get"), {"asin": asked.asin, "domain": asked.domain}, ctx, options)


def _row(number: int, ctx: Context) -> dict[str, Any]:
    """What the ledger says about one request."""
    found = run(ops.find("ledger.show"), {"number": number}, ctx)
    if not found["ok"]:
        return _failed(found)
    names = ("id", "state", "operation", "estimated", "worst", "consumed", "origin")
    return {name: found["data"]["row"][name] for name in names}


def _tokens(status: Mapping[str, Any]) -> dict[str, Any]:
    if not status["ok"]:
        return _failed(status)
    return {k: v for k, v in status["data"].items() if k != "body"}


def _summary(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was answered, without the body: enough to see that it is the product that was asked for."""
    return [
        {
            "asin": p.get("asin"),
            "domain_id": p.get("domainId"),
            "title_length": len(p.get("title") or ""),
            "last_update": p.get("lastUpdate"),
            "fields": len(p),
            "price_series": sum(bool(series) for series in p.get("csv") or []),
        }
        for p in body.get("products") or []
    ]


def _failed(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {"ok": False, "error": answer["error"]}


def _lines(found: Mapping[str, Any]) -> list[str]:
    return [f"{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in found.items()]


if __name__ == "__main__":
    sys.exit(main())
