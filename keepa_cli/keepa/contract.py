"""Whether a body has the structure that Keepa documents, and which fields nobody has described yet.

The schemas beside this module are JSON Schema 2020-12, limited to the few keywords of KEYWORDS, so that the hot path
needs no validator: a small walker gives the same verdict as jsonschema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from keepa_cli.core.errors import invalid
from keepa_cli.keepa.decode import product_problems

SCHEMAS = (
    "bestsellers",
    "category",
    "deals",
    "finder",
    "lightningdeal",
    "product",
    "search_category",
    "search_product",
    "sellerquery",
    "sellers",
    "token",
    "topseller",
    "tracking",
)
"""Answers of whole endpoints. Their parts have files of their own: *_object.json and envelope.json."""

KEYWORDS = frozenset({"type", "required", "properties", "items", "additionalProperties", "$ref"})
NOTES = frozenset({"$schema", "title", "description"})
ENVELOPE = ("timestamp", "tokensLeft", "refillIn", "refillRate", "tokenFlowReduction", "tokensConsumed")
MAX_WARNINGS = 20
_FOLDER = Path(__file__).with_name("schemas")  # importlib.resources costs a cold start 10 ms


@dataclass
class Verdict:
    """`errors` break the contract; `warnings` are sentences; `unknown_fields` counts undescribed fields by path,
    with [*] for any element and * for any key."""

    errors: list[dict[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unknown_fields: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.errors


@dataclass(frozen=True)
class Node:
    """A schema ready to walk: references merged in. `types` empty means any."""

    types: frozenset[str]
    required: tuple[str, ...]
    properties: Mapping[str, Node]
    items: Node | None
    values: Node | None
    closed: bool
    """Whether an undescribed property is worth counting: the schema lists some and says nothing of others."""


def check(schema_name: str, body: Any, raw_text: str | None = None) -> Verdict:
    """The verdict on a parsed body. Give `raw_text` as well to be warned of object keys that occur twice."""
    verdict = Verdict()
    _walk(compiled(schema_name), body, "$", "$", verdict)
    if isinstance(body, Mapping):
        verdict.warnings += _content_warnings(body)
    if raw_text is not None:
        verdict.warnings += _repeated_keys(raw_text)
    return verdict


def validate_with_jsonschema(schema_name: str, body: Any) -> list[dict[str, str]]:
    """The errors that the jsonschema package finds, as `{path, message}`: the slow second opinion at promotion."""
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    registry: Registry[Any] = Registry().with_resources(
        (f"{name}.json", Resource.from_contents(schema(name))) for name in all_schemas()
    )
    validator = Draft202012Validator(schema(schema_name), registry=registry)
    return [{"path": e.json_path, "message": e.message[:300]} for e in validator.iter_errors(body)]


@cache
def schema(name: str) -> dict[str, Any]:
    """A schema file as data. Do not change it."""
    if name not in all_schemas():
        raise invalid(f"There is no schema {name!r}.", field="schema", value=name, allowed=list(SCHEMAS))
    loaded: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


@cache
def all_schemas() -> tuple[str, ...]:
    """The names of every schema file, parts included."""
    return tuple(sorted(f.stem for f in _FOLDER.glob("*.json")))


@cache
def compiled(name: str) -> Node:
    return _compile(schema(name))


def known_fields(name: str) -> frozenset[str]:
    """The properties that a schema describes at its top, those of its reference included."""
    return frozenset(compiled(name).properties)


def _compile(raw: Mapping[str, Any]) -> Node:
    base = compiled(raw["$ref"].removesuffix(".json")) if "$ref" in raw else None
    types = raw.get("type", [])
    allowed = frozenset([types] if isinstance(types, str) else types)
    properties = {k: _compile(v) for k, v in raw.get("properties", {}).items()}
    items = _compile(raw["items"]) if "items" in raw else None
    values = _compile(raw["additionalProperties"]) if "additionalProperties" in raw else None
    if base:
        allowed = (allowed & base.types) if allowed and base.types else allowed or base.types
        properties = {**base.properties, **properties}
        items, values = items or base.items, values or base.values
    required = (*(base.required if base else ()), *raw.get("required", []))
    return Node(allowed, required, properties, items, values, bool(properties) and values is None)


def _walk(node: Node, value: Any, path: str, general: str, verdict: Verdict) -> None:
    """Check `value`; `path` is where it stands, `general` the same with every index and key of a map left open."""
    if node.types and not _fits(value, node.types):
        wanted = " or ".join(sorted(node.types))
        verdict.errors.append({"path": path, "message": f"must be {wanted}, not {json_type(value)}"})
    if isinstance(value, dict):
        verdict.errors += [
            {"path": path + _step(name), "message": "is missing"} for name in node.required if name not in value
        ]
        _walk_object(node, value, path, general, verdict)
    elif isinstance(value, list) and node.items:
        for i, item in enumerate(value):
            _walk(node.items, item, f"{path}[{i}]", f"{general}[*]", verdict)


def _walk_object(node: Node, value: dict[str, Any], path: str, general: str, verdict: Verdict) -> None:
    for name, inner in value.items():
        described = node.properties.get(name)
        if described:
            _walk(described, inner, path + _step(name), general + _step(name), verdict)
        elif node.values:
            _walk(node.values, inner, path + _step(name), f"{general}.*", verdict)
        elif node.closed:
            place = general + _step(name)
            verdict.unknown_fields[place] = verdict.unknown_fields.get(place, 0) + 1


def _step(name: str) -> str:
    return f".{name}" if name.isidentifier() else f"[{name!r}]"


def json_type(value: Any) -> str:
    """The JSON Schema type of a value, "integer" for whole numbers that are written as integers."""
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), type(value).__name__)


def _fits(value: Any, types: frozenset[str]) -> bool:
    found = json_type(value)
    if found in types or (found == "integer" and "number" in types):
        return True
    return found == "number" and "integer" in types and value.is_integer()


def _content_warnings(body: Mapping[str, Any]) -> list[str]:
    absent = [name for name in ENVELOPE if name not in body]
    warnings = [f"The answer lacks {', '.join(absent)}."] if absent else []
    products = body.get("products")
    for i, product in enumerate(products if isinstance(products, list) else []):
        found = product_problems(product, f"$.products[{i}]")
        warnings += [f"{f['path']} {f['message']}." for f in found[: MAX_WARNINGS - len(warnings)]]
    return warnings


def _repeated_keys(text: str) -> list[str]:
    repeated: dict[str, int] = {}

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            for name in _twice(pairs):
                repeated[name] = repeated.get(name, 0) + 1
        return found

    try:
        json.loads(text, object_pairs_hook=note)
    except (ValueError, RecursionError):
        return ["The text of the answer is no JSON."]
    return [f"The key {name!r} occurs twice in one object ({count} times)." for name, count in sorted(repeated.items())]


def _twice(pairs: list[tuple[str, Any]]) -> Iterator[str]:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            yield name
        seen.add(name)
