"""What clients send by mistake or in bad faith: it is refused in words, and never repeated at length."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.agent import prompts
from keepa_cli.agent.cursors import Pager
from keepa_cli.agent.problems import ProtocolError, bad_params
from keepa_cli.agent.session import AgentSession
from keepa_cli.core.context import Context
from keepa_cli.interfaces.jsonl import answer


@pytest.fixture
def session(tmp_path: Path) -> AgentSession:
    return AgentSession(Context(env={"KEEPA_CLI_STATE_DIR": str(tmp_path / "state")}, cwd=tmp_path))


@pytest.mark.parametrize("edit", ["{}=", "{}\n", "{} ", "!{}", "{}*", "{}===="])
def test_a_cursor_with_anything_added_is_an_edited_one(edit: str) -> None:
    pager = Pager(b"key")
    cursor = pager.page("tools", [1, 2, 3], {"limit": 1}, {})["nextCursor"]
    assert pager.page("tools", [1, 2, 3], {"cursor": cursor}, {})["tools"] == [2, 3]
    with pytest.raises(ProtocolError):
        pager.page("tools", [1, 2, 3], {"cursor": edit.format(cursor)}, {})


def test_the_value_of_one_argument_is_not_read_for_another() -> None:
    found = prompts.render("deal_compare", {"asins": "{domain} {asins}", "domain": "{asins}"})
    assert "Compare {domain} {asins} on {asins}: " in found["messages"][0]["content"]["text"]


@pytest.mark.parametrize("steps", [5, True, 1.5, "steps", ""])
@pytest.mark.parametrize("container", ["steps", "outputs", "results", "step_outputs", "previous_outputs"])
def test_a_container_of_the_wrong_kind_holds_nothing(session: AgentSession, container: str, steps: Any) -> None:
    found = session.call_tool("products_get", {"workflow_context": {container: steps}})
    assert found["error"]["kind"] == "missing_inputs", found["error"]


def test_references_that_are_no_list_are_followed_or_named(session: AgentSession) -> None:
    found = session.call_tool("products_get", {"resource_uris": "keepa://research/none", "artifacts": 5})
    assert [row["source"] for row in found["error"]["details"]["unresolved"]] == ["resource_uris", "artifacts"]


def test_a_failure_of_the_protocol_is_bounded() -> None:
    large = "x" * 100_000
    found = bad_params(large, name=large, wrong=[large] * 1000, limit=5)
    assert len(json.dumps([found.message, found.data, str(found)])) < 20_000
    assert found.data["limit"] == 5


@pytest.mark.parametrize("ident", [True, False, [], {}])
def test_the_id_of_a_line_is_a_text_a_number_or_null(session: AgentSession, ident: Any) -> None:
    [event] = answer(session, json.dumps({"id": ident, "method": "doctor"}).encode())
    assert (event["event"], event["id"]) == ("error", None)
