"""Tools that need more from the client before they answer: a result says what, the client calls again with it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError

from keepa_cli.agent.problems import INVALID_PARAMS

SECRET = os.urandom(32)
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
NEEDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


def form(question: str, field: str, kind: str = "string") -> dict[str, Any]:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return {"method": "elicitation/create", "params": {"message": question, "requestedSchema": schema}}


def sample(question: str, most: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": {"type": "text", "text": question}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": most}}


ROOTS: dict[str, Any] = {"method": "roots/list", "params": {}}
Round = dict[str, dict[str, Any]]
ROUNDS: dict[str, list[Round]] = {
    "test_input_required_result_elicitation": [{"user_name": form("What is your name?", "name")}],
    "test_input_required_result_sampling": [{"capital_question": sample("What is the capital of France?", 100)}],
    "test_input_required_result_list_roots": [{"client_roots": ROOTS}],
    "test_input_required_result_request_state": [{"confirm": form("Please confirm", "ok", "boolean")}],
    "test_input_required_result_tampered_state": [{"confirm": form("Please confirm", "ok", "boolean")}],
    "test_input_required_result_capabilities": [
        {"user_name": form("What is your name?", "name"), "greeting": sample("Generate a greeting", 50)}
    ],
    "test_input_required_result_multiple_inputs": [
        {
            "user_name": form("What is your name?", "name"),
            "greeting": sample("Generate a greeting", 50),
            "client_roots": ROOTS,
        }
    ],
    "test_input_required_result_multi_round": [
        {"step1": form("Step 1: What is your name?", "name")},
        {"step2": form("Step 2: What is your favorite color?", "color")},
    ],
    "test_input_required_result_prompt": [{"user_context": form("What context should the prompt use?", "context")}],
}
"""What each of them asks for, round by round."""
WITHOUT_STATE = {
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_prompt",
    "test_input_required_result_capabilities",
}


def asks(name: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
    """The result that asks for what lacks; None once all of it is there. Raises for a state that is not ours."""
    rounds = ROUNDS[name]
    at = 0 if name in WITHOUT_STATE else _opened(name, params.get("requestState"))
    given = params.get("inputResponses")
    answers = given if isinstance(given, Mapping) else {}
    if all(isinstance(answers.get(key), Mapping) for key in rounds[at]):
        at += 1
    if at == len(rounds):
        return None
    offered = (params.get("_meta") or {}).get(CAPABILITIES) or {}
    wanted = {key: asked for key, asked in rounds[at].items() if NEEDS[asked["method"]] in offered}
    found: dict[str, Any] = {"resultType": "input_required", "inputRequests": wanted}
    return found if name in WITHOUT_STATE else found | {"requestState": _sealed(name, at)}


def _sealed(name: str, at: int) -> str:
    body = base64.urlsafe_b64encode(json.dumps([name, at]).encode()).decode()
    return f"{body}.{hmac.new(SECRET, body.encode(), hashlib.sha256).hexdigest()}"


def _opened(name: str, state: Any) -> int:
    """The round that a state stands for; the first without one."""
    if state is None:
        return 0
    body, _, mac = str(state).partition(".")
    known = hmac.new(SECRET, body.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(mac.encode("utf-8", "replace"), known.encode()):
        raise MCPError(INVALID_PARAMS, "requestState was changed on its way")
    of, at = json.loads(base64.urlsafe_b64decode(body))
    if of != name:
        raise MCPError(INVALID_PARAMS, "requestState belongs to another call")
    return int(at)
