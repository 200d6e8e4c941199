"""What the schemas of all views share: one definition each of amounts, facts, derived figures, actions, graphs."""

from __future__ import annotations

from typing import Any

from keepa_cli.keepa.series import BASES
from keepa_cli.research.facts import Confidence
from keepa_cli.research.graph.model import EdgeType, NodeType
from keepa_cli.research.needs import Need
from keepa_cli.research.risks import CODES, SEVERITIES
from keepa_cli.research.schemas.build import (
    ANY,
    COUNT,
    CURRENCY,
    FLAG,
    NUMBER,
    OPEN,
    PATH,
    SHA256,
    TEXT,
    TIME,
    WHOLE,
    Schema,
    closed,
    either,
    listed,
    maybe,
    one_of,
    ref,
)

MONEY, PRICE, COUPON, PATHS = ref("money"), ref("price"), ref("coupon"), ref("evidence_path")
ACTION, ACTIONS, GRAPH, TAXONOMY = ref("next_action"), ref("next_actions"), ref("research_graph"), ref("risk_taxonomy")
CONFIDENCE, ITEMS, OUTPUT, INPUT = ref("confidence"), ref("items"), ref("output"), ref("input")
NEED: Schema = one_of(Need)
STATUSES = ("found", "not_found", "invalid", "ambiguous")
WORD: Schema = {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"}
COMMANDS = listed(ref("command"))
"""Next steps that operations suggest beyond the needs of views."""
RISK_CODES = listed(one_of(CODES))
AMOUNT: dict[str, Schema] = {
    "raw": {**WHOLE, "description": "Whole units of the smallest coin; negative for a loss or a fall."},
    "amount": {"type": ["string", "null"], "pattern": r"^-?\d+(\.\d+)?$", "description": "Exact decimal text."},
    "currency": CURRENCY,
    "formatted": {"type": ["string", "null"], "description": "For people."},
}


def _amount(**more: Schema) -> Schema:
    found = closed({}, more)
    return found | {"required": list(AMOUNT), "properties": {**AMOUNT, **found["properties"]}}


def with_amount(more: dict[str, Schema]) -> Schema:
    """An amount with further members."""
    return _amount(**more)


def derived(value: Schema, **more: Schema) -> Schema:
    """A figure that Keepa does not send."""
    return closed(
        {"value": value, "method": TEXT, "inputs": ref("inputs"), "confidence": CONFIDENCE, "evidence_path": PATHS},
        more,
    )


def basis_of(**more: Schema) -> Schema:
    """How a group of figures was made, without a value of its own."""
    return closed({"method": TEXT, "inputs": ref("inputs"), "confidence": CONFIDENCE, "evidence_path": PATHS}, more)


def fact(value: Schema, **more: Schema) -> Schema:
    """A value of Keepa with its place in the answer, and its time where that is shown."""
    return closed({"value": value, "evidence_path": PATHS}, {"at": maybe(TIME), **more})


def counted(item: Schema) -> Schema:
    """A list that is shown in part."""
    return closed({"count": COUNT, "shown": listed(item)}, {})


def call(action: Schema, **more: Schema) -> Schema:
    """An operation that can be run as it stands: no placeholders."""
    needed = {
        "action": action, "reason": TEXT, "command": TEXT, "tool": TEXT, "params": OPEN, "cli": TEXT,
        "estimated_tokens": COUNT, "worst_case_tokens": COUNT, "requires_confirmation": FLAG,
    }  # fmt: skip
    return {**closed(needed, more), "description": "An operation that can be run as it stands."}


def _graph() -> Schema:
    node = {
        "type": "object",
        "required": ["id", "type", "label"],
        "properties": {"id": TEXT, "type": one_of(NodeType), "label": TEXT},
    }
    edge = {
        "type": "object",
        "required": ["type", "source", "target"],
        "properties": {"type": one_of(EdgeType), "source": TEXT, "target": TEXT},
    }
    return closed({"root": maybe(TEXT), "nodes": listed(node), "edges": listed(edge)})


def risk_taxonomy() -> Schema:
    return closed({"codes": RISK_CODES, "items": listed(ref("risk"))}, {"known_codes": RISK_CODES})


def risk() -> Schema:
    metric = closed({"name": TEXT, "value": NUMBER, "unit": TEXT, "threshold": NUMBER})
    pointer = closed({"action": NEED, "cli": TEXT})
    return closed(
        {"code": one_of(CODES), "severity": one_of(SEVERITIES), "reason": TEXT, "evidence_path": PATHS},
        {"metric": metric, "follow_up": pointer},
    )


def _coupon() -> Schema:
    percent = closed({"kind": {"const": "percent"}, "percent": WHOLE})
    return either(percent, with_amount({"kind": {"const": "amount"}}))


def definitions() -> dict[str, Schema]:
    """Every shared definition by its name."""
    scalar: Schema = {"type": ["string", "number", "boolean"]}
    return {
        "money": {**_amount(), "description": "An amount. Never a floating-point number."},
        "price": _amount(
            at=maybe(TIME), evidence_path=PATHS, basis=one_of(BASES), item_price=MONEY, shipping=maybe(MONEY)
        ),
        "coupon": _coupon(),
        "evidence_path": either(PATH, listed(PATH)),
        "confidence": one_of(Confidence),
        "inputs": {
            "type": "object",
            "additionalProperties": either(scalar, MONEY, listed(ANY), closed({"value": ANY}, {})),
            "description": "What the figure was made from; what is absent is left out.",
        },
        "next_action": call(NEED),
        "command": call(WORD, fixture=TEXT),
        "next_actions": listed(ACTION),
        "research_graph": _graph(),
        "risk": risk(),
        "risk_taxonomy": risk_taxonomy(),
        "items": listed(
            closed({"asked": TEXT, "status": one_of(STATUSES), "asins": listed(TEXT)}, {"title": maybe(TEXT)}),
            description="The ASINs or codes asked for, in order, each with its status.",
        ),
        "output": closed(
            {"path": TEXT, "format": TEXT, "size_bytes": COUNT, "result_count": maybe(COUNT), "sha256": SHA256}
        ),
        "input": closed({"name": TEXT, "source": TEXT, "sha256": SHA256}, {"products": COUNT}),
    }


def used(schema: Any, known: dict[str, Schema]) -> set[str]:
    """The names of the definitions that a schema refers to, directly or not."""
    found: set[str] = set()
    if isinstance(schema, dict):
        target = schema.get("$ref")
        if isinstance(target, str) and (name := target.rpartition("/")[2]) in known:
            found |= {name} | used(known[name], {k: v for k, v in known.items() if k != name})
        for inner in schema.values():
            found |= used(inner, known)
    elif isinstance(schema, list):
        for inner in schema:
            found |= used(inner, known)
    return found
