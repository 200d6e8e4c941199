from __future__ import annotations

from pathlib import Path

import pytest

from keepa_cli.agent.problems import ProtocolError
from keepa_cli.agent.profiles import DEFAULT_PROFILE, PROFILES, narrowed
from keepa_cli.agent.session import AgentSession
from keepa_cli.agent.surface import Surface
from keepa_cli.core.context import Context
from tests.support.sandbox import KEY, running_sandbox


@pytest.mark.parametrize("server", list(PROFILES))
@pytest.mark.parametrize("asked", [None, *PROFILES])
def test_a_request_narrows_the_profile_of_the_server_and_never_widens_it(asked: str | None, server: str) -> None:
    found, own = narrowed(asked, PROFILES[server]), PROFILES[server]
    assert found.name == (asked or server)
    if server == DEFAULT_PROFILE:
        assert found == PROFILES[asked or server]
    else:
        assert found.groups <= own.groups
        assert found.safe or not own.safe


def test_unknown_names_are_told() -> None:
    with pytest.raises(ProtocolError):
        narrowed("root", PROFILES[DEFAULT_PROFILE])


def test_a_live_server_with_a_safe_profile_stays_offline(clean_env: dict[str, str], home: Path) -> None:
    """The test suite has no network: a call that tried it would fail otherwise than this."""
    env = clean_env | {"KEEPA_API_KEY": "k" * 64, "KEEPA_BASE_URL": "http://127.0.0.1:9"}
    session = AgentSession(Context(env=env, cwd=home / "work"), live=True, profile="offline_fixture_only")
    for profile in (None, "live_read_allowed", "dry_run_default"):
        given = {"asin": "B000000404"} | ({"profile": profile} if profile else {})
        found = session.call_tool("products_get", given)
        assert found["error"]["kind"] == "profile_requires_fixture_or_dry_run"
        assert "start the server" in found["error"]["next_actions"][0]
    refused = session.call_tool("tracking_list", {"profile": "tracking_readonly"})
    assert refused["error"]["kind"] == "inactive_tool"


def test_what_is_listed_as_active_is_what_can_be_called(clean_env: dict[str, str], home: Path) -> None:
    session = AgentSession(Context(env=clean_env, cwd=home / "work"), profile="tracking_readonly")
    surface = Surface("all", "tracking_readonly")
    for asked in (None, "live_read_allowed", "fixture_curation"):
        params = {"limit": 100} | ({"profile": asked} if asked else {})
        for tool in surface.tools_list(params)["tools"]:
            found = session.call_tool(tool["name"], {"profile": asked} if asked else {})
            kind = found["ok"] or found["error"]["kind"]
            assert (kind == "inactive_tool") is not tool["x-keepa"]["active"], tool["name"]


@pytest.mark.parametrize("asked", ["tracking_readonly", "live_read_allowed", None])
@pytest.mark.parametrize("whole", [False, True], ids=["session", "call"])
def test_commands_keep_to_a_profile_that_goes_live(
    clean_env: dict[str, str], home: Path, asked: str | None, whole: bool
) -> None:
    """Lines name commands, not tools: also there nothing is changed at Keepa by who may only look."""
    profile = "tracking_readonly"
    with running_sandbox() as sandbox:
        live = Context(env={**clean_env, "KEEPA_BASE_URL": sandbox.base_url, "KEEPA_API_KEY": KEY}, cwd=home / "work")
        session = AgentSession(live, live=True, anywhere=True, profile=None if whole else profile)
        given = {"profile": profile if whole else asked}
        for command, params in (
            ("tracking.remove-all", {"yes": True}),
            ("tracking.add", {"tracking": {"asin": "B09YNQCQKR", "domain": 1}, "yes": True}),
            ("products.get", {"asin": "B0PPJ248DY"}),
            ("lightningdeals.list", {"yes": True}),
        ):
            assert session.call(command, {**params, **given})["error"]["kind"] == "inactive_tool", command
        consuming = session.call("tracking.notifications", {"mark_read": True, **given})
        assert consuming["error"]["details"]["field"] == "mark_read"
        assert not sandbox.log
        assert session.call("tracking.list", given)["provenance"]["mode"] == "live"
        assert session.call("tokens.status", given)["ok"] and session.call("domains.list", given)["ok"]
