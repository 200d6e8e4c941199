"""Small builders of JSON Schema (2020-12). Objects are closed: a member that no schema names is a fault.

A member that can be null is marked with `maybe`; the object then takes `absent`, which gives the reason of each null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from keepa_cli.research.facts import ABSENT, Reason

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
ANY: Schema = {}
OPEN: Schema = {"type": "object"}
NULL: Schema = {"type": "null"}
TIME: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}
SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
PATH: Schema = {"type": "string", "pattern": r"^\$", "description": "A JSON path."}
CURRENCY: Schema = {"type": "string", "pattern": "^[A-Z]{3}$"}
REASON: Schema = {"enum": [reason.value for reason in Reason]}


def maybe(schema: Schema) -> Schema:
    """The value or null."""
    if set(schema) == {"type"} and isinstance(schema["type"], str):
        return {"type": [schema["type"], "null"]}
    return {"anyOf": [schema, NULL]}


def either(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def listed(item: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": item, **more}


def one_of(words: Iterable[str]) -> Schema:
    """One of the names that the code knows, in their order; a set has none and is sorted."""
    named = [str(word) for word in words]
    return {"enum": sorted(named) if isinstance(words, Set) else list(dict.fromkeys(named))}


def const(value: str) -> Schema:
    return {"const": value}


def ref(name: str) -> Schema:
    """One of the definitions that all views share."""
    return {"$ref": f"#/$defs/{name}"}


def closed(needed: Mapping[str, Schema], more: Mapping[str, Schema] | None = None) -> Schema:
    """An object with every member of `needed`, perhaps those of `more`, and no other."""
    members = {**needed, **(more or {})}
    found: Schema = {"type": "object"} | ({"required": list(needed)} if needed else {})
    return found | {"properties": members | _reasons(members), "additionalProperties": False}


def optional(**members: Schema) -> Schema:
    """An object of which a profile shows some members, and no other."""
    return closed({}, members)


def table(item: Schema, *, names: str = "") -> Schema:
    """An object whose members have names from the data (`names`: a pattern), all of one shape."""
    found: Schema = {"type": "object"}
    reasons = {ABSENT: {"type": "object", "additionalProperties": REASON}} if nullable(item) else {}
    if reasons:
        found["properties"] = reasons
    if names:
        return found | {"patternProperties": {names: item}, "additionalProperties": False}
    return found | {"additionalProperties": item}


DAYS = "^[0-9]{1,4}$"
"""Names of windows."""


def nullable(schema: Schema) -> bool:
    if "anyOf" in schema:
        return any(nullable(inner) for inner in schema["anyOf"])
    kind = schema.get("type")
    return kind == "null" or (isinstance(kind, list) and "null" in kind)


def _reasons(members: Mapping[str, Schema]) -> dict[str, Schema]:
    names = [name for name, schema in members.items() if nullable(schema)]
    if not names or ABSENT in members:
        return {}
    return {ABSENT: {"type": "object", "propertyNames": {"enum": names}, "additionalProperties": REASON}}


def merged(*schemas: Schema) -> Schema:
    """One closed object with the members of several; a later one wins."""
    members: dict[str, Schema] = {}
    needed: list[str] = []
    for schema in schemas:
        members |= {name: s for name, s in schema["properties"].items() if name != ABSENT}
        needed += schema.get("required", [])
    return closed({n: members[n] for n in needed}, {n: s for n, s in members.items() if n not in needed})
