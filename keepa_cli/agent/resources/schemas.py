"""Schemas of what views say, made from the tables that the views are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT, NUMBER, OBJECT = {"type": "string"}, {"type": "number"}, {"type": "object"}
TEXTS = {"type": "array", "items": TEXT}
LISTS = frozenset({"next_actions", "evidence_index"})
RISK_TAXONOMY, PRODUCTS_VIEW = "risk-taxonomy", "products-agent-view"


def risk_taxonomy() -> dict[str, Any]:
    """`risk_taxonomy` of a view, with the limit of every code."""
    from keepa_cli.research.risks import CODES, SEVERITIES, THRESHOLDS

    code = {"type": "string", "enum": list(CODES)}
    metric = _object({"name": TEXT, "value": {}, "unit": TEXT, "threshold": NUMBER}, ("name", "value"))
    item = _object(
        {
            "code": code,
            "severity": {"type": "string", "enum": list(SEVERITIES)},
            "reason": TEXT,
            "evidence_path": {"anyOf": [TEXT, TEXTS]},
            "metric": metric,
            "follow_up": OBJECT,
        },
        ("code", "severity", "reason", "evidence_path"),
    )
    limits = [
        {
            "code": risk.value, "figure": t.figure, "unit": t.unit, "medium": t.medium, "high": t.high,
            "falling": t.falling, "why": t.why,
        }
        for risk, t in THRESHOLDS.items()
    ]  # fmt: skip
    members = {
        "known_codes": {"type": "array", "items": code, "description": "Every code that there is."},
        "codes": {"type": "array", "items": code, "description": "Those of this product, the gravest first."},
        "items": {"type": "array", "items": item},
    }
    return _head(RISK_TAXONOMY, "Risks of a product") | _object(members, ("codes", "items")) | {"x-thresholds": limits}


def products_agent_view() -> dict[str, Any]:
    """The data of `products_get` with a view."""
    from keepa_cli.research.facts import Confidence, Reason
    from keepa_cli.research.product.profiles import LIMITS, PROFILES, SECTIONS, Profile

    absent = {"type": "object", "additionalProperties": {"type": "string", "enum": [r.value for r in Reason]}}
    sections: dict[str, Any] = {name: _section(name) for name in SECTIONS}
    product = _object(sections | {"truncated": {"anyOf": [TEXTS, OBJECT]}}, ())
    profiles = [
        {"profile": p.value, "sections": list(PROFILES[p]), "limit_bytes": LIMITS.get(p)}
        for p in Profile
        if p in PROFILES
    ]
    members = {
        "view": TEXT,
        "profile": {"type": "string", "enum": [p.value for p in Profile if p is not Profile.RAW]},
        "count": {"type": "integer"},
        "products": {"type": "array", "items": {"$ref": "#/$defs/product"}},
    }
    return (
        _head(PRODUCTS_VIEW, "Products as agents read them")
        | _object(members, ("view", "profile", "products"))
        | {
            "$defs": {
                "product": product,
                "section": _object({"absent": {"$ref": "#/$defs/absent"}}, ()),
                "absent": absent
                | {"description": "Why a member is null. Not requested, not collected, none and zero differ."},
                "confidence": {"type": "string", "enum": [c.value for c in Confidence]},
                "risk_taxonomy": {k: v for k, v in risk_taxonomy().items() if not k.startswith("$")},
            },
            "x-profiles": profiles,
        }
    )


def _section(name: str) -> dict[str, Any]:
    if name in LISTS:
        return {"type": "array", "items": OBJECT}
    return {"$ref": "#/$defs/risk_taxonomy" if name == "risk_taxonomy" else "#/$defs/section"}


def _head(name: str, title: str) -> dict[str, Any]:
    return {"$schema": DIALECT, "$id": f"keepa://schema/{name}", "title": title}


def _object(members: Mapping[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": dict(members)}
    return found | ({"required": list(required)} if required else {})


GENERATED: Mapping[str, Callable[[], dict[str, Any]]] = {
    RISK_TAXONOMY: risk_taxonomy,
    PRODUCTS_VIEW: products_agent_view,
}
"""Schemas that stand in no file."""
