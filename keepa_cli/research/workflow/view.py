"""The parts of a plan's view that follow from its steps."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli.core.errors import Kind
from keepa_cli.research.workflow.model import Plan, Step

ACCEPTED: Mapping[str, str] = {
    "term": "--term WORDS",
    "asin": "--asin ASIN, again for more",
    "category": "--category ID, from categories search or from the tree",
    "seller": "--seller ID",
    "input": "--input FILE, again for more: answers of Keepa, saved output of kc --json, or graphs",
}
Described = Mapping[str, Any]


def encoded(data: Any) -> str:
    """Text or JSON as a part of a resource address: base64url without padding."""
    text = (
        data if isinstance(data, str) else json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    )
    return base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode().rstrip("=")


def totals(steps: Sequence[Described], steps_needed: Sequence[Described]) -> dict[str, Any]:
    """What the plan costs: the steps that must run, and all of them at their worst."""
    return {
        "steps": len(steps),
        "executable_now": sum(s["execution"]["executable"] for s in steps),
        "estimated_tokens": sum(s["estimated_tokens"] for s in steps_needed),
        "estimated_tokens_with_optional": sum(s["estimated_tokens"] for s in steps),
        "worst_case_tokens": sum(s["worst_case_tokens"] for s in steps),
        "steps_that_ask": [s["id"] for s in steps if s["requires_confirmation"]],
    }


def workflow_inputs(
    plan: Plan, given: Mapping[str, Any], defaulted: Mapping[str, Any], steps: Sequence[Described]
) -> dict[str, Any]:
    """Where every value comes from: the caller, a default, an earlier step, or nowhere yet."""
    produced = [
        {"step": step["id"], **{k: v for k, v in ref.items() if k != "step"}, "from": ref["step"]}
        for step in steps
        for ref in step["input_refs"]
    ]
    unresolved = [
        {"inputs": list(group), "accepted_sources": [ACCEPTED[name] for name in group]} for group in plan.missing(given)
    ]
    return {"given": dict(given), "defaulted": dict(defaulted), "produced": produced, "unresolved": unresolved}


def artifacts(steps: Sequence[Step], folder: str) -> list[dict[str, Any]]:
    """Every file that a run leaves, by the step that writes it."""
    found: list[dict[str, Any]] = []
    for step in steps:
        files = [(step.artifact, step.kind)] + ([(step.body, "keepa_body")] if step.keeps_body else [])
        for name, kind in files:
            path = f"{folder}/{name}"
            found.append(
                {
                    "id": name,
                    "kind": kind,
                    "producer": step.id,
                    "path": path,
                    "resource": f"keepa://output/{encoded(path)}",
                }
            )
    return found


def resource_templates(plan: Plan, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The addresses under which a client reads the plan and what comes of it."""
    policy = f"keepa://workflow/{encoded({'name': plan.name} | dict(params))}/policy"
    return [
        {
            "template": "keepa://workflow/{encoded_params}/policy",
            "uri": policy,
            "holds": "policy and totals of this plan",
        },
        {"template": "keepa://research/{cache_key}", "holds": "a result of this session"},
        {"template": "keepa://graphs/{root}", "holds": "where a graph came from"},
        {"template": "keepa://output/{encoded_path}", "holds": "an artifact"},
    ]


def brief(plan: Plan, total: Mapping[str, Any], unresolved: Sequence[Mapping[str, Any]], groups: int) -> dict[str, Any]:
    asks = total["steps_that_ask"]
    lacks = " or ".join(name for group in unresolved for name in group["inputs"])
    start = f"It lacks {lacks}." if lacks else f"{total['executable_now']} of them can run now."
    tokens = total["estimated_tokens"]
    cost = f"{tokens} token{'' if tokens == 1 else 's'}, {total['worst_case_tokens']} at worst"
    return {
        "read_order": ["workflow_policy", "totals", "workflow_inputs", "steps", "artifacts"],
        "one_line": f"{plan.name}: {total['steps']} steps in {groups} groups, {cost}. {start}",
        "key_facts": {
            "purpose": plan.purpose,
            "estimated_tokens": total["estimated_tokens"],
            "worst_case_tokens": total["worst_case_tokens"],
            "steps_that_ask": list(asks),
        },
        "decision_context": f"Ask before {', '.join(asks)}." if asks else "No step asks for consent.",
    }


def data_quality(steps: Sequence[Described], unresolved: Sequence[Any]) -> dict[str, Any]:
    waiting = [s["id"] for s in steps if s["input_refs"]]
    return {
        "status": "incomplete" if unresolved else "complete",
        "notes": [
            "Prices come from the cost functions of the operations themselves.",
            *(
                ["Steps that wait for others are priced for as many items as they will take at most."]
                if waiting
                else []
            ),
        ],
        "waiting_steps": waiting,
        Kind.MISSING_INPUTS.value: [name for group in unresolved for name in group["inputs"]],
    }


def evidence_index() -> list[dict[str, str]]:
    return [
        {"fact": "price of the whole", "path": "$.totals"},
        {"fact": "what must be confirmed", "path": "$.workflow_policy.confirmation_policy"},
        {"fact": "what steps wait for", "path": "$.workflow_inputs.produced"},
    ]
