"""Verbs of batches and of the token bucket."""

from __future__ import annotations

from typing import Any

from keepa_cli import ops
from keepa_cli.core.registry import Batch, Request
from keepa_cli.core.schema import bind
from keepa_cli.keepa import answer, pacing
from keepa_cli.keepa.wire import encode
from keepa_cli.ops._batches import chunks, merge_products
from tests.cases_adapters import verb

NEUTRAL = {"ambiguous": "found"}
"""A case groups several products of one code under "found"; ours says that somebody has to choose."""
DECISIONS = {"send": "send", "wait": "wait", "refuse": "refuse_now"}


@verb("batch.plan")
def plan(given: dict[str, Any]) -> dict[str, Any]:
    asked = given.get("asked") or [given["rule"]["format"] % n for n in range(given["rule"]["count"])]
    by = given.get("by", "asin")
    sent = [request.asked for request in requests({by: asked, "offers": given.get("offers")})]
    return {
        "requests": len(sent),
        "sizes": [len(ids) for ids in sent],
        "first_id_of_each": [ids[0] for ids in sent],
        "last_id_of_each": [ids[-1] for ids in sent],
        "ids_sent": [item for ids in sent for item in ids],
    }


@verb("batch.merge")
def merge(given: dict[str, Any]) -> dict[str, Any]:
    by, asked = given.get("by", "asin"), given["asked"]
    op = ops.find("products.get")
    bodies = [body(response) for response in given["responses"]]
    merged = bodies[0] if len(bodies) == 1 else merge_products(bodies)
    assert op.view
    rows = [
        row | {"status": NEUTRAL.get(row["status"], row["status"])} for row in op.view(merged, {by: asked})["items"]
    ]
    found: dict[str, Any] = {"rows": rows, "ids_sent": [item for part in chunks(asked, 100) for item in part]}
    if by == "code":
        [capped] = requests({"code": asked, "code_limit": 10})
        found["request_with_cap"] = dict(encode(capped).query)
    return found


@verb("batch.merge_robust")
def merge_robust(given: dict[str, Any]) -> dict[str, Any]:
    """As `batch.merge`, with bodies that lack what they should hold."""
    return merge(given)


@verb("token.wait")
def token_wait(given: dict[str, Any]) -> dict[str, Any]:
    bucket = pacing.read(answer.bucket_of(given["state"], given.get("status", 200)))
    decision = pacing.decide(bucket)
    return {"wait_ms": decision.wait_ms, "may_send_now": decision.action == "send"}


@verb("token.decide")
def token_decide(given: dict[str, Any]) -> dict[str, Any]:
    bucket = pacing.read(answer.bucket_of(given["state"], given.get("status", 200)))
    decision = pacing.decide(bucket, given["estimated_cost"])
    never = f"wait_for_{given['estimated_cost']}" if decision.action != "wait" else None
    return {"decision": DECISIONS[decision.action], "wait_ms": decision.wait_ms, "never": never}


def requests(params: dict[str, Any]) -> tuple[Request, ...]:
    op = ops.find("products.get")
    planned = op.run(**bind(op, params))
    return planned.requests if isinstance(planned, Batch) else (planned,)


def body(response: Any) -> dict[str, Any]:
    """A case gives a list of products, or a whole body, or nothing."""
    return response if isinstance(response, dict) else {"products": response}
