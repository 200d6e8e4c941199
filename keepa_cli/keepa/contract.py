"""Whether a body has the structure that Keepa documents, and which fields nobody has described yet.

The schemas beside this module are JSON Schema 2020-12, limited to the few keywords of KEYWORDS, so that the hot path
needs no validator: a small walker gives the same verdict as jsonschema.

Structure is what code walks through: the members of an answer, objects, lists of objects, packed arrays, identities.
An optional plain field of an object is none: Keepa has turned such fields from text to list and back within days, so
another type there is a warning. Enumerations are open: a value that KNOWN does not list is a warning as well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from keepa_cli.core.errors import invalid
from keepa_cli.keepa.csvtypes import CSV_TYPES
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
KNOWN = "x-known-values"
NOTES = frozenset({"$schema", "title", "description", KNOWN})
ENVELOPE = ("timestamp", "tokensLeft", "refillIn", "refillRate", "tokenFlowReduction", "tokensConsumed")
MAX_WARNINGS = 20
MAX_UNKNOWN = 50
OBJECT = "_object"
_FOLDER = Path(__file__).with_name("schemas")  # importlib.resources costs a cold start 10 ms


@dataclass
class Verdict:
    """`errors` break the contract; `warnings` are sentences; `unknown_fields` counts undescribed fields by path,
    with [*] for any element and * for any key. `oddities` counts what becomes warnings, with its first place."""

    errors: list[dict[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unknown_fields: dict[str, int] = field(default_factory=dict)
    oddities: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.errors

    @property
    def word(self) -> str:
        """The verdict in one word: error, warning or fine."""
        return "error" if self.errors else "warning" if self.warnings or self.unknown_fields else "fine"

    def odd(self, place: str, what: str, path: str) -> None:
        count, first = self.oddities.get(f"{place} {what}", (0, path))
        self.oddities[f"{place} {what}"] = count + 1, first

    def unknown(self, place: str) -> None:
        self.unknown_fields[place] = self.unknown_fields.get(place, 0) + 1

    def notes(self) -> list[dict[str, Any]]:
        """The warnings of an envelope: one for each sentence, one for all unknown fields with their counts."""
        found: list[dict[str, Any]] = [{"code": "contract", "message": text} for text in self.warnings]
        if self.unknown_fields:
            fields = dict(sorted(self.unknown_fields.items())[:MAX_UNKNOWN])
            some = ", ".join(list(fields)[:3])
            message = f"{len(self.unknown_fields)} fields are not in the known contract, such as {some}."
            found.append({"code": "unknown_fields", "message": message, "fields": fields})
        return found


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
    tolerant: bool = False
    """Whether another type is a warning only."""
    known: frozenset[Any] = frozenset()


MOST_JUDGED = 256
_JUDGED: dict[tuple[str, bytes], Verdict] = {}
"""Verdicts on bodies that came already, as recordings do again and again. Nobody changes them."""


def check(schema_name: str, body: Any, raw_text: str | None = None) -> Verdict:
    """The verdict on a parsed body. Give `raw_text` as well to be warned of object keys that occur twice."""
    verdict = Verdict()
    _walk(compiled(schema_name), body, "$", "$", verdict)
    verdict.warnings += _oddities(verdict)
    if isinstance(body, Mapping):
        verdict.warnings += _content_warnings(body)
        _count_new_slots(body, verdict)
    if raw_text is not None:
        verdict.warnings += _repeated_keys(raw_text)
    return verdict


def check_answer(schema_name: str, data: bytes, body: Any) -> Verdict:
    """The verdict on `body`, which `data` was parsed to. The same bytes are judged once."""
    key = (schema_name, hashlib.sha256(data).digest())
    found = _JUDGED.get(key)
    if found is None:
        if len(_JUDGED) >= MOST_JUDGED:
            _JUDGED.clear()
        found = _JUDGED[key] = check(schema_name, body)
    return found


def validate_with_jsonschema(schema_name: str, body: Any) -> list[dict[str, str]]:
    """The errors that the jsonschema package finds, as `{path, message}`: the slow second opinion at promotion."""
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    registry: Registry[Any] = Registry().with_resources(
        (f"{name}.json", Resource.from_contents(structure(name))) for name in all_schemas()
    )
    validator = Draft202012Validator(structure(schema_name), registry=registry)
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
def structure(name: str) -> dict[str, Any]:
    """A schema as far as it is structure: where another type is a warning only, any type passes."""
    raw = schema(name)
    found: dict[str, Any] = _strict_part(raw) if name.endswith(OBJECT) else raw
    return found


def _strict_part(raw: Mapping[str, Any]) -> dict[str, Any]:
    if is_tolerant(raw):
        return {k: v for k, v in raw.items() if k in NOTES}
    found = dict(raw)
    if "properties" in raw:
        found["properties"] = {k: _strict_part(v) for k, v in raw["properties"].items()}
    return found | {k: _strict_part(raw[k]) for k in ("items", "additionalProperties") if k in raw}


def is_tolerant(raw: Mapping[str, Any]) -> bool:
    """Whether a part of an object schema describes an optional plain value, or a list of such."""
    types = _types(raw)
    if "null" not in types or "$ref" in raw or "object" in types:
        return False
    return "array" not in types or is_tolerant(raw.get("items", {}))


def _types(raw: Mapping[str, Any]) -> frozenset[str]:
    types = raw.get("type", [])
    return frozenset([types] if isinstance(types, str) else types)


@cache
def compiled(name: str) -> Node:
    return _compile(schema(name), name.endswith(OBJECT))


def known_fields(name: str) -> frozenset[str]:
    """The properties that a schema describes at its top, those of its reference included."""
    return frozenset(compiled(name).properties)


def _compile(raw: Mapping[str, Any], loose: bool) -> Node:
    base = compiled(raw["$ref"].removesuffix(".json")) if "$ref" in raw else None
    allowed = _types(raw)
    properties = {k: _compile(v, loose) for k, v in raw.get("properties", {}).items()}
    items = _compile(raw["items"], loose) if "items" in raw else None
    values = _compile(raw["additionalProperties"], loose) if "additionalProperties" in raw else None
    if base:
        allowed = (allowed & base.types) if allowed and base.types else allowed or base.types
        properties = {**base.properties, **properties}
        items, values = items or base.items, values or base.values
    required = (*(base.required if base else ()), *raw.get("required", []))
    closed, tolerant = bool(properties) and values is None, loose and is_tolerant(raw)
    return Node(allowed, required, properties, items, values, closed, tolerant, frozenset(raw.get(KNOWN, ())))


def _walk(node: Node, value: Any, path: str, general: str, verdict: Verdict) -> None:
    """Check `value`; `path` is where it stands, `general` the same with every index and key of a map left open."""
    if node.types and not _fits(value, node.types):
        _mismatch(node, value, path, general, verdict)
    elif node.known and isinstance(value, str | int) and value not in node.known:
        verdict.odd(general, f"holds {_shown(value)}, which is no known value", path)
    if isinstance(value, dict):
        verdict.errors += [
            {"path": path + _step(name), "message": "is missing"} for name in node.required if name not in value
        ]
        _walk_object(node, value, path, general, verdict)
    elif isinstance(value, list) and node.items:
        for i, item in enumerate(value):
            _walk(node.items, item, f"{path}[{i}]", f"{general}[*]", verdict)


def _mismatch(node: Node, value: Any, path: str, general: str, verdict: Verdict) -> None:
    if node.tolerant:
        wanted = " or ".join(sorted(node.types - {"null"}))
        verdict.odd(general, f"is {json_type(value)} where {wanted} is documented", path)
    else:
        wanted = " or ".join(sorted(node.types))
        verdict.errors.append({"path": path, "message": f"must be {wanted}, not {json_type(value)}"})


def _walk_object(node: Node, value: dict[str, Any], path: str, general: str, verdict: Verdict) -> None:
    for name, inner in value.items():
        described = node.properties.get(name)
        if described:
            _walk(described, inner, path + _step(name), general + _step(name), verdict)
        elif node.values:
            _walk(node.values, inner, path + _step(name), f"{general}.*", verdict)
        elif node.closed:
            verdict.unknown(general + _step(name))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


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


def _oddities(verdict: Verdict) -> list[str]:
    found = [
        f"{what}." if count == 1 and "*" not in what else f"{what} ({count} times, first at {path})."
        for what, (count, path) in sorted(verdict.oddities.items())
    ]
    rest = len(found) - MAX_WARNINGS
    return found[:MAX_WARNINGS] + ([f"{rest} more places differ from the documents."] if rest > 0 else [])


def _count_new_slots(body: Mapping[str, Any], verdict: Verdict) -> None:
    """Slots of csv beyond the known price types are fields that nobody has described yet."""
    products = body.get("products")
    for product in products if isinstance(products, list) else []:
        csv = product.get("csv") if isinstance(product, Mapping) else None
        for i in range(len(CSV_TYPES), len(csv) if isinstance(csv, list) else 0):
            verdict.unknown(f"$.products[*].csv[{i}]")


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
