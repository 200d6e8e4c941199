from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from keepa_cli.agent.profiles import ALL, PROFILES, TOOLSETS
from keepa_cli.agent.tools import KINDS, LONG, STARTERS, TABLE, of_toolset, tools

FOUND = tools()
ANY = PROFILES["live_read_allowed"]


def parts(schema: Any, depth: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    if isinstance(schema, dict):
        yield depth, schema
        for name, inner in schema.items():
            if name in {"items"}:
                yield from parts(inner, depth + 1)
            elif name == "properties":
                for one in inner.values():
                    yield from parts(one, depth + 1)
            elif name == "anyOf":
                for one in inner:
                    yield from parts(one, depth + 1)


@pytest.mark.parametrize("name", list(FOUND))
def test_schemas_keep_to_what_every_host_takes(name: str) -> None:
    listed = FOUND[name].listed(ANY)
    for schema in (listed["inputSchema"], listed["outputSchema"]):
        assert schema["type"] == "object"
        assert not {"oneOf", "anyOf", "allOf", "enum", "not", "$ref", "$defs"} & set(schema)
        for depth, part in parts(schema):
            assert depth <= 4
            assert part.get("type") in {"object", "array", "string", "integer", "number", "boolean"} or "anyOf" in part
            assert part.get("type") != "array" or isinstance(part.get("items"), dict)
            assert "format" not in part and "$ref" not in part
            assert isinstance(part.get("additionalProperties", True), bool)
    assert listed["inputSchema"]["additionalProperties"] is False


def test_names_fit_into_the_limits_of_hosts() -> None:
    assert all(re.fullmatch(r"[a-z0-9_]{1,30}", name) for name in TABLE)


def test_the_default_toolset_is_one_page_that_hosts_can_hold() -> None:
    listed = [tool.listed(ANY) for tool in of_toolset(FOUND, "research")]
    assert len(listed) <= 25
    assert len(json.dumps(listed, ensure_ascii=False, separators=(",", ":"))) < 57_000


@pytest.mark.parametrize("name", list(FOUND))
def test_texts_are_short_and_speak_of_arguments(name: str) -> None:
    listed = FOUND[name].listed(ANY)
    texts = [listed["description"]]
    texts += [p.get("description", "") for p in listed["inputSchema"]["properties"].values()]
    assert 0 < len(listed["description"]) <= 200
    for found in texts:
        assert not re.search(r"(^|\s)--[a-z]", found)
        assert found.count("(") == found.count(")")
    for own in FOUND[name].op.args:
        if own.name not in FOUND[name].withheld:
            assert 0 < len(listed["inputSchema"]["properties"][own.name]["description"]) <= 72


@pytest.mark.parametrize("name", list(FOUND))
def test_texts_speak_of_tools_and_not_of_commands(name: str) -> None:
    listed = FOUND[name].listed(ANY)
    texts = [listed["description"], *(p.get("description", "") for p in listed["inputSchema"]["properties"].values())]
    assert not [text for text in texts if re.search(r"\bkc\b|`", text)]


def test_what_costs_much_says_so() -> None:
    told = {name: FOUND[name].listed(ANY)["description"] for name in FOUND}
    for name in ("bestsellers_get", "topsellers_list", "categories_products"):
        assert "Costs 50 tokens" in told[name]
    for name in ("products_get", "products_compare"):
        assert "Costs 1 token per product, more with" in told[name]


def test_x_keepa_stands_at_both_places_whole() -> None:
    for tool in FOUND.values():
        listed = tool.listed(ANY)
        assert listed["x-keepa"] == listed["_meta"]["x-keepa"]
        assert set(listed["x-keepa"]) == {
            "service_command", "groups", "category", "returns", "active", "inactive_reason", "workflow_runtime",
        }  # fmt: skip


def test_an_agent_can_plan_by_category_and_returns() -> None:
    assert {name for named in KINDS.values() for name in named} == set(TABLE)
    assert sum(map(len, KINDS.values())) == len(TABLE)
    for tool in FOUND.values():
        told = tool.x_keepa(ANY)
        assert told["category"] in {"DATA", "COMPUTE", "FILTER", "OUTPUT"}
        assert told["returns"] not in {tool.name, tool.op.name} and len(told["returns"]) <= 30


def test_everything_an_operation_takes_can_be_given_to_its_tool() -> None:
    for tool in FOUND.values():
        shown = set(tool.input_schema["properties"])
        assert {a.name for a in tool.op.args if not a.spec.hidden} - tool.withheld <= shown
        assert not tool.withheld & shown


def test_an_asin_may_be_one_text_or_a_list() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = FOUND["products_get"].input_schema
    for asin in ("B001GZ6QEC", ["B001GZ6QEC", "B0PPJ248DY"]):
        jsonschema.validate({"asin": asin, "view": "summary"}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"asin": 5}, schema)


@pytest.mark.parametrize("name", list(FOUND))
def test_tools_give_views_unless_told_otherwise(name: str) -> None:
    choices = next((a.choices for a in FOUND[name].op.args if a.name == "view"), None)
    if choices:
        assert FOUND[name].view in choices
        assert FOUND[name].view != "raw"


def test_every_toolset_has_tools_and_all_starts_with_the_starters() -> None:
    for name in TOOLSETS:
        assert list(of_toolset(FOUND, name))
    names = [tool.name for tool in of_toolset(FOUND, ALL)]
    assert sorted(names) == sorted(FOUND)
    there = [n for n in STARTERS if n in FOUND]
    assert names[: len(there)] == there


def test_a_profile_turns_tools_off_with_a_reason() -> None:
    curation = PROFILES["fixture_curation"]
    assert FOUND["products_get"].x_keepa(curation)["active"] is False
    assert "fixture_curation" in FOUND["products_get"].x_keepa(curation)["inactive_reason"]
    assert FOUND["cassettes_promote"].x_keepa(curation) | {"active": True, "inactive_reason": None} == FOUND[
        "cassettes_promote"
    ].x_keepa(curation)


def test_hints_say_what_a_tool_does_to_the_world() -> None:
    assert FOUND["products_get"].annotations["openWorldHint"] is True
    assert FOUND["products_get"].annotations["readOnlyHint"] is True
    assert FOUND["cassettes_promote"].annotations["destructiveHint"] is True
    for tool in FOUND.values():
        hints = tool.annotations
        assert hints["destructiveHint"] is not hints["readOnlyHint"]
        assert hints["openWorldHint"] is (tool.op.remote or tool.op.passes_mode)
        assert hints["readOnlyHint"] is (tool.op.effect == "read" or tool.name == "agent_profile_generate")
        assert tool.listed(ANY)["execution"]["taskSupport"] == ("optional" if tool.name in LONG else "forbidden")
    assert set(TABLE) >= LONG
