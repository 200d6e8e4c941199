from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from keepa_cli.agent.profiles import ALL, PROFILES, TOOLSETS
from keepa_cli.agent.tools import LONG, STARTERS, TABLE, of_toolset, tools

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
    assert len(json.dumps(listed, ensure_ascii=False)) < 60_000


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
    assert set(TABLE) >= LONG
