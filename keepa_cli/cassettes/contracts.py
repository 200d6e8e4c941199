"""The contract check of recorded exchanges: which schema an endpoint answers to, and whether a recording keeps it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.cassettes.fingerprint import query_pairs, request_path
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.parts import Part, parts
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.keepa import graph
from keepa_cli.keepa.wire import Source, WireResponse

PASS, NO_SCHEMA, ERROR_ANSWER, BINARY = "pass", "no_schema", "error_answer", "binary"
_BY_PATH = {
    "/bestsellers": "bestsellers",
    "/category": "category",
    "/deal": "deals",
    "/lightningdeal": "lightningdeal",
    "/product": "product",
    "/query": "finder",
    "/seller": "sellers",
    "/sellerquery": "sellerquery",
    "/token": "token",
    "/topseller": "topseller",
    "/tracking": "tracking",
}
_PICTURES = ("image/",)
_MOST_WARNINGS = 20


@dataclass
class Verdict:
    """What the check of one exchange found. `body` is the shortened JSON, None where there is none."""

    verdict: str
    schema: str | None = None
    body: Any = None
    warnings: list[str] = field(default_factory=list)
    unknown_fields: dict[str, int] = field(default_factory=dict)


def schema_name(exchange: Exchange) -> str | None:
    """The name of the schema that the answer of this request must keep, None where there is no schema."""
    path = request_path(exchange.url)
    if path == "/search":
        kinds = [value for name, value in query_pairs(exchange.url) if name == "type"]
        return "search_category" if kinds == ["category"] else "search_product"
    return _BY_PATH.get(path)


def schema_sha256(name: str | None) -> str | None:
    """The hash of a schema, by which evidence says against what a body was checked."""
    from keepa_cli.keepa import contract

    if name is None:
        return None
    text = json.dumps(contract.schema(name), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def check_exchange(exchange: Exchange, where: str) -> Verdict:
    """Judge one answer. Raises `contract_error` with the JSON path where required structure is missing."""
    if exchange.status == 200 and (graph.is_png(exchange.body) or _content_type(exchange).startswith(_PICTURES)):
        if "png" in _content_type(exchange) and not graph.is_png(exchange.body):
            raise _breach(where, "$", "the body is announced as a PNG picture and is none", None)
        return Verdict(BINARY)
    found: Verdict | None = None
    try:
        for part in parts(exchange.body):
            verdict = _judged(exchange, part, where)
            found = verdict if found is None else _joined(found, verdict)
    except ValueError as error:
        if exchange.status != 200:
            return Verdict(ERROR_ANSWER)
        raise _breach(where, "$", f"the body is {error}", None) from None
    return found or Verdict(ERROR_ANSWER)


def _judged(exchange: Exchange, part: Part, where: str) -> Verdict:
    if _is_error(exchange, part.body):
        return Verdict(ERROR_ANSWER, body=part.body)
    return _against_schema(exchange, part, where)


def _joined(first: Verdict, more: Verdict) -> Verdict:
    """The verdict on two parts of one body."""
    first.warnings += [w for w in more.warnings if w not in first.warnings][: _MOST_WARNINGS - len(first.warnings)]
    for path, count in more.unknown_fields.items():
        first.unknown_fields[path] = first.unknown_fields.get(path, 0) + count
    return first


def _against_schema(exchange: Exchange, part: Part, where: str) -> Verdict:
    from keepa_cli.keepa import answer, contract, doubts

    name, body = schema_name(exchange), part.body
    if not isinstance(body, dict):
        raise _breach(where, "$", "the body is not a JSON object", name)
    if "tokensLeft" not in body and not answer.has_payload(body):
        raise _breach(where, "$.tokensLeft", "neither a result nor a token figure is there", name)
    if name is None:
        return Verdict(NO_SCHEMA, body=body)
    found = contract.check(name, body)
    errors = found.errors or contract.validate_with_jsonschema(name, body)
    if errors:
        placed = [{**e, "path": _placed(e["path"], part)} for e in errors]
        raise _breach(where, placed[0]["path"], placed[0]["message"], name, placed)
    judge = doubts.doubts if part.member is None else doubts.of_products
    suspicious = judge(request_path(exchange.url), dict(query_pairs(exchange.url)), body)
    warnings = [*(_placed(w, part) for w in found.warnings), *suspicious]
    return Verdict(PASS, name, body, warnings, dict(found.unknown_fields))


def _placed(text: str, part: Part) -> str:
    """A text that starts with a path in a part, with the path in the whole body."""
    head = f"$.{part.member}["
    number, bracket, rest = text.removeprefix(head).partition("]")
    if part.member is None or not text.startswith(head) or not number.isdigit():
        return text
    return f"{head}{int(number) + part.offset}{bracket}{rest}"


def _is_error(exchange: Exchange, body: Any) -> bool:
    from keepa_cli.keepa import answer

    if not isinstance(body, dict):
        return exchange.status != 200
    headers = {name.lower(): tuple(values) for name, values in exchange.headers.items()}
    response = WireResponse(exchange.status, exchange.reason, headers, exchange.body, Source("cassette"))
    return answer.error_of(response, body) is not None


def _content_type(exchange: Exchange) -> str:
    values = next((v for k, v in exchange.headers.items() if k.lower() == "content-type"), [])
    return values[0].lower() if values else ""


def _breach(
    where: str, path: str, message: str, schema: str | None, errors: Sequence[Mapping[str, Any]] | None = None
) -> KeepaCliError:
    details: Mapping[str, Any] = {"where": where, "path": path, "schema": schema, "errors": list(errors or ())[:20]}
    contract = f"the {schema} contract" if schema else "the contract"
    return KeepaCliError(
        Kind.CONTRACT_ERROR, f"{where} breaks {contract} at {path}: {message}.", details=details, next_actions=[]
    )
