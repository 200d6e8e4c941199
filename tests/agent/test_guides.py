from __future__ import annotations

import json
import re
from typing import Any

import pytest

from keepa_cli.agent.profiles import ALL, PROFILES, TOOLSETS
from keepa_cli.agent.resources.reference import GUIDES
from keepa_cli.agent.tools import EVERY_CALL, LONG, REMOTE_CALL, RUNTIME, TABLE
from keepa_cli.keepa.domains import BR_MISSING, DOMAINS
from keepa_cli.ops._agent_clients import CLIENTS
from keepa_cli.ops.docs import docs_root


def page(name: str) -> str:
    return (docs_root() / f"{name}.md").read_text("utf-8")


def rows(text: str) -> list[list[str]]:
    found = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return [row for row in found if not set("".join(row)) <= {"-"}]


def test_the_table_of_marketplaces_is_the_one_in_use() -> None:
    wanted = [[str(d.id), f"`{d.code}`", d.host, d.currency, str(d.digits), d.time_zone] for d in DOMAINS.values()]
    assert rows(page("guides/marketplaces"))[1:] == wanted
    assert len(BR_MISSING) == 9


def test_clients_of_the_guide_are_those_of_the_command() -> None:
    text = page("guides/agent-profile")
    found = {row[0].strip("`"): row[2] for row in rows(text) if row[0].startswith("`")}
    assert list(found) == list(CLIENTS)
    for name, client in CLIENTS.items():
        if client.reference and not client.toml:
            assert f"`{client.reference}`" == found[name]
    pairs = [row for row in rows(text) if row[-1].strip("`") in PROFILES]
    assert len(pairs) == len(PROFILES)
    for row in pairs:
        for toolset in re.findall(r"`([\w-]+)`", row[1]):
            assert toolset in PROFILES[row[2].strip("`")].groups


def test_toolsets_and_profiles_are_told_as_they_are() -> None:
    found = {row[0].strip("`"): row for row in rows(page("agents")) if row[0].startswith("`")}
    for name, summary in TOOLSETS.items():
        count = sum(1 for _, groups in TABLE.values() if name in groups) if name != ALL else len(TABLE)
        assert found[name][1:] == [str(count), summary]
    for name, profile in PROFILES.items():
        assert found[name][1] == ", ".join(sorted(profile.groups))
        assert found[name][2] == ("yes" if profile.safe else "no")


@pytest.mark.parametrize("name", [*GUIDES.values(), "agents"])
def test_pages_name_tools_and_resources_that_exist(name: str) -> None:
    from keepa_cli.agent.resources.table import _FAMILIES

    text = page(name)
    for family in re.findall(r"keepa://([a-z-]+)", text):
        assert family in _FAMILIES or family in {"context", "schema"}, family


def test_the_lines_of_the_page_work_as_printed(kc: Any) -> None:
    """JSON lines and the first frame: what follows the prompt is what comes."""
    text = page("agents")
    lines = re.search(r"\$ echo '(\{\"id\".*)' \| kc --stdio\n((?:\{.*\n)+)", text)
    assert lines
    events = [json.loads(line) for line in kc("--stdio", stdin=lines[1] + "\n").stdout.splitlines()]
    shown = lines[2].splitlines()
    assert [e["event"] for e in events] == re.findall(r'"event":"(\w+)"', lines[2])
    assert json.loads(shown[0]) == events[0]
    assert str(events[2]["payload"]["cache_key"]) in shown[2]
    frame = re.search(r"\$ echo '(\{\"jsonrpc.*)' \| kc --mcp", text)
    assert frame
    answer = json.loads(kc("--mcp", stdin=frame[1] + "\n").stdout)
    assert len(answer["result"]["tools"]) == answer["result"]["_meta"]["total_count"] >= 23
    assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))) < 57_000


def test_arguments_that_the_page_names_are_taken() -> None:
    text = page("agents")
    line = re.search(r"parameters with (.*?) beside them", text, re.DOTALL)
    assert line
    assert set(re.findall(r"`(\w+)`", line[1])) == {*EVERY_CALL, *REMOTE_CALL}
    for name in RUNTIME:
        assert f"`{name}`" in text
    for name in LONG:
        assert f"`{name}`" in text
