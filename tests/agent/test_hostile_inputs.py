"""What clients send by mistake or in bad faith: it is refused in words, and never repeated at length."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from keepa_cli.agent import prompts
from keepa_cli.agent.arguments import split
from keepa_cli.agent.cursors import Pager
from keepa_cli.agent.portable import TEXT_OR_LIST
from keepa_cli.agent.problems import ProtocolError, bad_params
from keepa_cli.agent.session import AgentSession
from keepa_cli.agent.surface import Surface
from keepa_cli.agent.tools import tools
from keepa_cli.core.context import Context
from keepa_cli.interfaces.jsonl import answer
from tests.support.tool_arguments import CALLS


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


CASSETTE = """interactions:
- request: {body: null, headers: {}, method: GET, uri: 'https://api.keepa.com/token'}
  response: {body: {string: '{"tokensLeft": 1}'}, headers: {}, status: {code: 200, message: OK}}
version: 1
"""


@pytest.mark.parametrize(
    "name", ["{}", "..%2Foutside.yaml", "link%2Foutside.yaml", "~root", "~", "%00", "a%5Cb", "a/b"]
)
def test_a_cassette_is_read_by_its_name_never_by_a_path(tmp_path: Path, name: str) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "outside.yaml").write_text(CASSETTE)
    (tmp_path / "work" / "inside.yaml").write_text(CASSETTE)
    (tmp_path / "work" / "link").symlink_to(tmp_path)
    env = {"KEEPA_CLI_STATE_DIR": str(tmp_path / "state")}
    session = AgentSession(Context(env=env, cwd=tmp_path / "work"))
    assert "interactions" in Surface().read("keepa://cassettes/inside.yaml", session)[0]["text"]
    outside = quote(str(tmp_path / "outside.yaml"), safe="")
    with pytest.raises(ProtocolError, match="Resource not found"):
        Surface().read("keepa://cassettes/" + name.format(outside), session)


def test_a_cassette_in_the_working_folder_is_read_inside_the_roots_only(tmp_path: Path) -> None:
    (tmp_path / "inside.yaml").write_text(CASSETTE)
    env = {"KEEPA_CLI_STATE_DIR": str(tmp_path / "state"), "KEEPA_CLI_MCP_ROOTS": str(tmp_path / "elsewhere")}
    with pytest.raises(ProtocolError) as caught:
        Surface().read("keepa://cassettes/inside.yaml", AgentSession(Context(env=env, cwd=tmp_path)))
    assert "outside the folders" in caught.value.data["reason"]


def test_parts_of_an_answer_have_no_parts_of_their_own(session: AgentSession) -> None:
    key = session.call_tool("products_get", {"asin": "B0PPJ248DY"})["cache_key"]
    assert Surface().read(f"keepa://research/{key}/brief", session)
    for part in ("brief/x", "graph/x"):
        with pytest.raises(ProtocolError):
            Surface().read(f"keepa://research/{key}/{part}", session)


@pytest.mark.parametrize("word", ["null", " null "])
@pytest.mark.parametrize("name", list(CALLS))
def test_the_word_null_stands_for_nothing_where_no_text_is_taken(session: AgentSession, name: str, word: str) -> None:
    tool = tools()[name]
    own = {a.name: a for a in tool.op.args}
    schema = tool.input_schema["properties"]
    free = {n for n, s in schema.items() if s.get("type") == "string" and not (n in own and own[n].choices)}
    free |= TEXT_OR_LIST
    enumerated = set() if "profile" in own else {"profile"}
    given = dict.fromkeys((set(schema) - free | enumerated) - set(CALLS[name]), word)
    asked = split(tool.op, {**CALLS[name], **given}, runtime=tool.takes_runtime)
    plain = split(tool.op, CALLS[name], runtime=tool.takes_runtime)
    assert asked == plain


def test_the_word_null_is_a_text_where_texts_are_taken(session: AgentSession) -> None:
    found = session.call_tool("resolve_research_target", {"text": "null"})
    assert found["ok"] and found["data"]["candidates"][0]["kind"] == "keyword"
