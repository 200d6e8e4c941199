"""Every JSON Schema that this program keeps to, as documents by path: each is complete in itself.

response/NAME.json   what an endpoint of Keepa answers
view/NAME.json       what stands in `data` where `data.view` is NAME
products-agent-view.json, risk-taxonomy.json
                     the view of products and its risks, under names that stay
input/OPERATION.json what an operation takes
envelope.json        what every command prints with --json
error.json           what a failure holds
index.json           the list of all
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from keepa_cli import ops
from keepa_cli.core.errors import ERRORS, Kind
from keepa_cli.core.registry import Operation
from keepa_cli.core.schema import input_schema
from keepa_cli.core.settings import Mode
from keepa_cli.keepa import contract
from keepa_cli.research import schemas as views

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NAMESPACE = "keepa://schema/"
TEXT, WHOLE, NUMBER, FLAG = ({"type": t} for t in ("string", "integer", "number", "boolean"))
MAYBE_TEXT, MAYBE_WHOLE = {"type": ["string", "null"]}, {"type": ["integer", "null"]}
OBJECT, OBJECTS, TEXTS = (
    {"type": "object"},
    {"type": "array", "items": {"type": "object"}},
    {"type": "array", "items": TEXT},
)

DETAILS: Mapping[str, Any] = {
    "allowed": {"description": "What the field takes."},
    "answered": {**OBJECT, "description": "How many requests of a batch were answered before the failure."},
    "attempts": MAYBE_WHOLE,
    "charged": {"enum": ["no", "yes", "unknown"], "description": "Whether tokens were spent on the failed request."},
    "errors": {
        **OBJECTS,
        "type": ["array", "integer"],
        "description": "Problems by `field` of the parameters or by JSON `path` of the answer; of evals their number.",
    },
    "error_type": {**MAYBE_TEXT, "description": "The type of the error as Keepa or the transport names it."},
    "estimated_tokens": WHOLE,
    "field": {**TEXT, "description": "The parameter that was refused."},
    "http_status": MAYBE_WHOLE,
    "kept_at": {**TEXT, "description": "The file that holds the sanitized body of an answer that could not be used."},
    "ledger": {"type": "object", "properties": {"id": WHOLE, "state": TEXT}},
    "limit": NUMBER,
    "missing_inputs": TEXTS,
    "quote_token": {**TEXT, "description": "Binds a consent to exactly this call."},
    "record_command": {**TEXT, "description": "The command that would record the missing answer."},
    "resume_with": TEXT,
    "retry_after_ms": MAYBE_WHOLE,
    "retry_after_seconds": MAYBE_WHOLE,
    "token_refill_guidance": OBJECT,
    "value": {"description": "The value that was refused; never that of a secret."},
    "worst_case_tokens": WHOLE,
}
"""Members of `error.details` that keep their name and type; there can be more."""
ALWAYS: Mapping[Kind, tuple[str, ...]] = {
    Kind.CONFIRMATION_REQUIRED: (
        *("resume_with", "estimated_tokens", "worst_case_tokens", "quote_token"),
        *("token_refill_guidance", "next_actions"),
    ),
    Kind.NOT_ENOUGH_TOKEN: ("retry_after_ms", "retry_after_seconds", "token_refill_guidance"),
    Kind.RATE_LIMITED: ("retry_after_ms", "retry_after_seconds", "token_refill_guidance"),
    Kind.MISSING_INPUTS: (Kind.MISSING_INPUTS.value,),
    Kind.INTERNAL_ERROR: ("exception", "where"),
}
"""The details that every failure of a kind has."""


def documents() -> dict[str, dict[str, Any]]:
    """Every schema by its path."""
    found = {f"response/{name}.json": _response(name) for name in contract.SCHEMAS}
    found |= {f"input/{op.name}.json": _input(op) for op in ops.load_all()}
    found |= {f"{name}.json": _head(name, title) | raw for name, (title, raw) in views.documents().items()}
    found |= {"envelope.json": _envelope(), "error.json": _head("error", "Failure of a command") | _error()}
    rows = [{"path": path, "id": raw["$id"], "title": raw["title"]} for path, raw in sorted(found.items())]
    return found | {"index.json": {"schemas": rows}}


def texts() -> dict[str, str]:
    """Every schema as the text of its file: the same on every machine."""
    return {path: json.dumps(raw, indent=2, ensure_ascii=False) + "\n" for path, raw in sorted(documents().items())}


def _head(name: str, title: str) -> dict[str, Any]:
    return {"$schema": DIALECT, "$id": NAMESPACE + name, "title": title}


def _response(name: str) -> dict[str, Any]:
    """The schema of an answer with the parts that it refers to in $defs."""
    raw = contract.schema(name)
    parts = {part: _body(contract.schema(part)) for part in sorted(_parts(raw))}
    return _head(f"response/{name}", raw["title"]) | _body(raw) | {"$defs": parts}


def _body(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _pointed(v) for k, v in raw.items() if k != "$schema"} | (
        {"$ref": _pointer(raw["$ref"])} if "$ref" in raw else {}
    )


def _pointed(raw: Any) -> Any:
    """A part of a schema whose references to files point into $defs."""
    if isinstance(raw, list):
        return [_pointed(item) for item in raw]
    if not isinstance(raw, dict):
        return raw
    return {k: _pointer(v) if k == "$ref" and isinstance(v, str) else _pointed(v) for k, v in raw.items()}


def _pointer(file: str) -> str:
    return "#/$defs/" + file.removesuffix(".json")


def _parts(raw: Any) -> set[str]:
    """The names of all schemas that `raw` refers to, directly or not."""
    direct = set(_references(raw))
    return direct.union(*(_parts(contract.schema(name)) for name in direct))


def _references(raw: Any) -> Iterator[str]:
    if isinstance(raw, dict):
        if isinstance(raw.get("$ref"), str):
            yield raw["$ref"].removesuffix(".json")
        for inner in raw.values():
            yield from _references(inner)


def _input(op: Operation) -> dict[str, Any]:
    notes = {"service_command": op.name, "toolset": op.toolset, "effect": op.effect, "spends_tokens": op.remote}
    if op.returns:
        notes["returns"] = f"{NAMESPACE}response/{op.returns}"
    head = _head(f"input/{op.name}", f"Parameters of {op.name}") | {"description": op.summary}
    return head | input_schema(op) | {"x-keepa": notes}


def _error() -> dict[str, Any]:
    """`error` of a failed envelope. Kinds and their exit codes are those of the error table."""
    meanings = {kind.value: row.meaning for kind, row in ERRORS.items()}
    extra = {"exception": TEXT, "where": TEXT, "next_actions": {"type": "array"}}
    return {
        "type": "object",
        "required": ["kind", "message", "retryable", "details", "next_actions"],
        "properties": {
            "kind": {"enum": list(meanings), "x-meanings": meanings},
            "message": {**TEXT, "description": "A sentence for people."},
            "retryable": {**FLAG, "description": "Whether the same call can succeed later."},
            "details": {"type": "object", "properties": {**DETAILS}},
            "next_actions": {**TEXTS, "description": "Commands to paste, or sentences where there is no command."},
        },
        "additionalProperties": False,
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": kind.value}}},
                "then": {"properties": {"details": {"required": list(names), "properties": _known(names, extra)}}},
            }
            for kind, names in ALWAYS.items()
        ],
    }


def _known(names: tuple[str, ...], extra: Mapping[str, Any]) -> dict[str, Any]:
    return {name: extra[name] for name in names if name in extra}


def _envelope() -> dict[str, Any]:
    success = {
        "ok": {"const": True},
        "command": TEXT,
        "request": OBJECT,
        "token_bucket": _ref("token_bucket"),
        "data": {},
        "warnings": {"type": "array", "items": _ref("warning")},
        "provenance": _ref("provenance"),
    }
    failure = {"ok": {"const": False}, "command": TEXT, "error": _ref("error"), "token_bucket": _ref("token_bucket")}
    defs = {
        "success": _closed(success),
        "failure": _closed(failure),
        "error": _error(),
        "warning": {"type": "object", "required": ["code", "message"], "properties": {"code": TEXT, "message": TEXT}},
        "token_bucket": {"type": "object", "properties": _bucket()},
        "provenance": {"type": "object", "properties": _provenance()},
    }
    head = _head("envelope", "What every command prints with --json")
    return head | {"type": "object", "oneOf": [_ref("success"), _ref("failure")], "$defs": defs}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object of exactly these members."""
    return {"type": "object", "required": list(properties), "properties": properties, "additionalProperties": False}


def _bucket() -> dict[str, Any]:
    component = {"name": TEXT, "tokens": WHOLE, "worst_case_tokens": WHOLE, "note": TEXT}
    estimated = {
        "estimated_tokens": WHOLE, "worst_case_tokens": WHOLE, "requires_confirmation": FLAG,
        "components": {"type": "array", "items": _closed(component)}, "notes": TEXTS,
    }  # fmt: skip
    figures = ("tokens_left", "tokens_consumed", "refill_rate", "refill_in_ms", "token_flow_reduction")
    charged = {**MAYBE_WHOLE, "description": "What this call cost; null where the answer does not say."}
    return dict.fromkeys(figures, NUMBER) | {"charged": charged, "estimated": _closed(estimated)}


def _provenance() -> dict[str, Any]:
    return {
        "mode": {"enum": [mode.value for mode in Mode]},
        "source": TEXT,
        "origin": TEXT,
        "fingerprint": TEXT,
        "recorded_at": MAYBE_TEXT,
        "age_s": MAYBE_WHOLE,
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "sources": TEXTS,
        "ledger": {"type": "array", "items": WHOLE},
    }
