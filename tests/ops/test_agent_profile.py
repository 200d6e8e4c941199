from __future__ import annotations

import json
import os
import stat
import tomllib
from difflib import ndiff
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.agent.profiles import PROFILES, TOOLSETS
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.registry import OPERATIONS
from keepa_cli.core.schema import bind
from keepa_cli.engine import Options, run
from keepa_cli.ops import find
from keepa_cli.ops._agent_clients import CLIENTS, Server

KEY = "k" * 64
JSON_CLIENTS = [name for name, c in CLIENTS.items() if not c.toml]
OTHER = {"command": "other", "args": ["--x"], "env": {"OTHER_API_KEY": "sk-other-secret"}}


@pytest.fixture
def ctx(clean_env: dict[str, str], home: Path) -> Context:
    env = clean_env | {"KEEPA_API_KEY": KEY, "PATH": "", "XDG_CONFIG_HOME": ""}
    env.pop("CODEX_HOME", None)
    return Context(env=env, cwd=home / "work")


def profile(ctx: Context, **params: Any) -> dict[str, Any]:
    return dict(run(find("business.agent-profile"), params, ctx, Options()))


def install(ctx: Context, client: str, **params: Any) -> dict[str, Any]:
    found = profile(ctx, install=client, yes=True, **params)
    assert found["ok"], found
    done: dict[str, Any] = found["data"]["install"]
    return done


def file_of(ctx: Context, client: str) -> Path:
    return Path(CLIENTS[client].path(ctx.env, str(ctx.cwd), "linux"))


def entries(path: Path, client: str) -> dict[str, Any]:
    text = path.read_text("utf-8")
    held = tomllib.loads(text) if CLIENTS[client].toml else json.loads(text)
    found: dict[str, Any] = held[CLIENTS[client].container]
    return found


def test_every_client_gets_a_snippet_that_says_how_to_start_the_server(ctx: Context) -> None:
    found = profile(ctx, profile="offline_fixture_only", toolset="business", env=["KEEPA_API_KEY"])
    data = found["data"]
    assert data["server"]["alias"] == "keepa"
    assert data["server"]["args"][-6:] == ["mcp", "serve", "--toolset", "business", "--profile", "offline_fixture_only"]
    assert list(data["clients"]) == list(CLIENTS)
    for name, row in data["clients"].items():
        held = tomllib.loads(row["snippet"]) if row["format"] == "toml" else json.loads(row["snippet"])
        entry = held[CLIENTS[name].container]["keepa"]
        assert [entry["command"], entry["args"]] == [data["server"]["command"], data["server"]["args"]]
    assert KEY not in json.dumps(found)


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("claude-desktop", None), ("claude-code", "${KEEPA_API_KEY:-}"), ("cursor", "${env:KEEPA_API_KEY}"),
        ("vscode", "${env:KEEPA_API_KEY}"), ("codex", ["KEEPA_API_KEY"]), ("gemini-cli", "$KEEPA_API_KEY"),
    ],
)  # fmt: skip
def test_variables_are_named_and_never_written_out(client: str, expected: Any) -> None:
    entry = CLIENTS[client].entry(Server("kc", ("mcp",), ("KEEPA_API_KEY",)))
    found = entry.get("env_vars") or entry.get("env", {}).get("KEEPA_API_KEY")
    assert found == expected


@pytest.mark.parametrize("client", list(CLIENTS))
def test_a_missing_file_is_made_and_a_second_time_changes_nothing(ctx: Context, client: str) -> None:
    path = file_of(ctx, client)
    first = install(ctx, client, toolset="audit")
    assert first | {"written": True, "created": True, "backup": None, "path": str(path)} == first
    assert entries(path, client)["keepa"]["args"][-4:] == ["--toolset", "audit", "--profile", "live_read_allowed"]
    before = path.read_bytes()
    assert install(ctx, client, toolset="audit")["changed"] is False
    assert path.read_bytes() == before
    assert list(path.parent.glob("*.bak")) == []


def test_changes_of_one_second_leave_a_copy_each(ctx: Context) -> None:
    path = file_of(ctx, "cursor")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"mine": 1}', "utf-8")
    still = ctx.now()
    ctx.now = lambda: still  # type: ignore[method-assign]
    copies = [Path(install(ctx, "cursor", toolset=name)["backup"]) for name in ("audit", "business", "reports")]
    assert len(set(copies)) == 3
    assert copies[0].read_text("utf-8") == '{"mine": 1}'
    assert "audit" in copies[1].read_text("utf-8") and "business" in copies[2].read_text("utf-8")


@pytest.mark.parametrize("client", JSON_CLIENTS)
def test_other_servers_stay_character_by_character(ctx: Context, client: str) -> None:
    path = file_of(ctx, client)
    path.parent.mkdir(parents=True, exist_ok=True)
    held = {"zeta": 1.50, CLIENTS[client].container: {"other": OTHER}, "alpha": {"x": [1, 2]}}
    text = json.dumps(held, indent=4) + "\n"
    path.write_text(text, "utf-8")
    os.chmod(path, 0o640)
    done = install(ctx, client)
    new = json.loads(path.read_text("utf-8"))
    assert list(new) == list(held)
    assert new[CLIENTS[client].container].pop("keepa")
    assert new == held
    gone = [row[2:] for row in ndiff(text.splitlines(), path.read_text("utf-8").splitlines()) if row[0] == "-"]
    assert gone == []
    assert Path(done["backup"]).read_text("utf-8") == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert "sk-other-secret" not in json.dumps(done)


def test_comments_of_a_toml_file_stay(ctx: Context) -> None:
    path = file_of(ctx, "codex")
    path.parent.mkdir(parents=True)
    text = '# mine\nmodel = "o"  # why\n\n[mcp_servers.other]\ncommand = "x" # keep\n\n[tail]\nlast = 1\n'
    path.write_text(text, "utf-8")
    install(ctx, "codex", env=["KEEPA_API_KEY"])
    new = path.read_text("utf-8")
    assert [line for line in new.splitlines() if line in text.splitlines() and line] == [
        line for line in text.splitlines() if line
    ]
    assert entries(path, "codex")["keepa"]["env_vars"] == ["KEEPA_API_KEY"]
    assert tomllib.loads(new)["tail"] == {"last": 1}


def test_an_entry_of_ours_is_updated_and_what_its_owner_added_stays(ctx: Context) -> None:
    path = file_of(ctx, "vscode")
    path.parent.mkdir(parents=True)
    path.write_text(
        '{\n  // mine\n  "servers": {"keepa": {"command": "old", "disabled": true, "env": {"A": "secret-a"}}},\n}\n',
        "utf-8",
    )
    done = install(ctx, "vscode", env=["KEEPA_API_KEY"])
    new = path.read_text("utf-8")
    assert "// mine" in new
    assert '"A": "secret-a"' in new
    assert '"disabled": true' in new
    assert "${env:KEEPA_API_KEY}" in new
    assert '"old"' not in new
    assert '-  "command": "old"' in done["diff"]
    assert "secret-a" not in done["diff"]


def test_a_dry_run_and_a_missing_consent_write_nothing(ctx: Context) -> None:
    path = file_of(ctx, "cursor")
    shown = profile(ctx, install="cursor", dry_run=True)["data"]["install"]
    assert shown["changed"] and not shown["written"]
    assert "+++ " in shown["diff"]
    refused = profile(ctx, install="cursor", toolset="audit")
    assert refused["error"]["kind"] == "confirmation_required"
    assert refused["error"]["details"]["diff"].count("+") > 5
    (again,) = refused["error"]["next_actions"]
    assert again.endswith("--install cursor --yes") and "--toolset audit" in again
    assert not path.parent.exists()


def test_a_terminal_is_asked_after_the_difference_was_shown(ctx: Context) -> None:
    asked: list[str] = []
    ctx.agree = lambda question: bool(asked.append(question)) or len(asked) > 1
    assert profile(ctx, install="cursor")["error"]["kind"] == "confirmation_required"
    assert profile(ctx, install="cursor")["data"]["install"]["written"] is True
    assert "+{" in asked[0] and str(file_of(ctx, "cursor")) in asked[0]


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("cursor", '{"mcpServers": '), ("cursor", '{"mcpServers": []}'), ("cursor", '{"mcpServers": {"keepa": 5}}'),
        ("cursor", "[1]"), ("cursor", '{"a": 1, "mcpServers": {}, "mcpServers": {"b": {}}}'), ("codex", "[mcp_servers"),
        ("codex", "mcp_servers = 3"), ("codex", "a = 1\na = 2"),
    ],
)  # fmt: skip
def test_broken_files_are_refused_and_stay(ctx: Context, client: str, text: str) -> None:
    path = file_of(ctx, client)
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    found = profile(ctx, install=client, yes=True)
    assert found["error"]["kind"] == "config_error"
    assert str(path) in found["error"]["message"]
    assert path.read_text("utf-8") == text
    assert list(path.parent.iterdir()) == [path]


def test_bytes_that_are_no_text_are_refused(ctx: Context, home: Path) -> None:
    path = home / "x.json"
    path.write_bytes(b'{"a": "\xff"}')
    assert profile(ctx, install="cursor", config=str(path), yes=True)["error"]["kind"] == "config_error"


def test_a_mark_of_byte_order_and_line_ends_stay(ctx: Context, home: Path) -> None:
    path = home / "x.json"
    path.write_bytes(b'\xef\xbb\xbf{\r\n  "a": 1\r\n}\r\n')
    install(ctx, "cursor", config=str(path))
    raw = path.read_bytes()
    assert raw.startswith(b'\xef\xbb\xbf{\r\n  "a": 1,\r\n  "mcpServers"')
    assert b"\n" not in raw.replace(b"\r\n", b"")


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_stays_a_link_and_its_target_is_written(ctx: Context, home: Path) -> None:
    target, link = home / "dotfiles.json", home / "link.json"
    target.write_text("{}", "utf-8")
    link.symlink_to(target)
    done = install(ctx, "cursor", config=str(link))
    assert link.is_symlink()
    assert done["target"] == str(target)
    assert "keepa" in entries(target, "cursor")
    target.unlink()
    assert profile(ctx, install="cursor", config=str(link), yes=True)["error"]["kind"] == "io_error"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="rights do not bind here")
def test_a_folder_that_cannot_be_written_is_named(ctx: Context, home: Path) -> None:
    (home / "shut").mkdir(mode=0o500)
    found = profile(ctx, install="cursor", config=str(home / "shut" / "mcp.json"), yes=True)
    assert found["error"]["kind"] == "io_error"


def test_a_place_that_cannot_be_a_file_is_named(ctx: Context, home: Path) -> None:
    (home / "file").write_text("x", "utf-8")
    for config in (str(home), str(home / "file" / "mcp.json")):
        found = profile(ctx, install="cursor", config=config, yes=True)
        assert found["error"]["kind"] == "io_error"
        assert str(home) in found["error"]["message"]


@pytest.mark.parametrize(
    ("client", "platform", "expected"),
    [
        ("claude-desktop", "win32", r"C:\h\a\AppData\Roaming\Claude\claude_desktop_config.json"),
        ("claude-desktop", "darwin", "/h/a/Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", "/h/a/.config/Claude/claude_desktop_config.json"),
        ("vscode", "win32", r"C:\h\a\AppData\Roaming\Code\User\mcp.json"),
        ("vscode", "darwin", "/h/a/Library/Application Support/Code/User/mcp.json"),
        ("cursor", "win32", r"C:\h\a\.cursor\mcp.json"), ("codex", "win32", r"C:\h\a\.codex\config.toml"),
        ("gemini-cli", "darwin", "/h/a/.gemini/settings.json"), ("claude-code", "win32", r"D:\w\.mcp.json"),
        ("claude-code", "linux", "/w/.mcp.json"),
    ],
)  # fmt: skip
def test_files_stand_where_each_system_keeps_them(client: str, platform: str, expected: str) -> None:
    env = {"USERPROFILE": r"C:\h\a", "HOME": "/h/a"}
    cwd = r"D:\w" if platform == "win32" else "/w"
    assert CLIENTS[client].path(env, cwd, platform) == expected
    if client != "claude-code":
        with pytest.raises(KeepaCliError, match="--config"):
            CLIENTS[client].path({}, cwd, platform)


def test_folders_of_the_environment_come_first() -> None:
    found = CLIENTS["codex"].path({"HOME": "/h", "CODEX_HOME": "/c"}, "/w", "linux")
    assert found == "/c/config.toml"
    assert CLIENTS["vscode"].path({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/w", "linux") == "/x/Code/User/mcp.json"


def test_roots_are_folders_and_stand_in_the_entry(ctx: Context, home: Path) -> None:
    install(ctx, "claude-desktop", root=["."])
    held = entries(file_of(ctx, "claude-desktop"), "claude-desktop")["keepa"]
    assert held["env"] == {"KEEPA_CLI_MCP_ROOTS": str(home / "work")}
    for lacking in ("missing", "~nobody-of-that-name/x"):
        assert profile(ctx, root=[lacking])["error"]["kind"] == "invalid_arguments"


@pytest.mark.parametrize(
    "params",
    [
        {"toolset": "curation"}, {"profile": "root"}, {"toolset": "none"}, {"client": "emacs"}, {"env": ["A=b"]},
        {"config": "x.json"}, {"dry_run": True}, {"install": "claude-desktop", "env": ["KEEPA_API_KEY"], "yes": True},
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(ctx: Context, params: dict[str, Any]) -> None:
    assert profile(ctx, **params)["error"]["kind"] == "invalid_arguments"


def test_every_profile_and_toolset_can_be_chosen() -> None:
    op = OPERATIONS["business.agent-profile"]
    for name in TOOLSETS:
        bind(op, {"toolset": name})
    for name in PROFILES:
        bind(op, {"profile": name})


def test_a_command_line_installs(kc: Any, home: Path) -> None:
    done = kc("--json", "business", "agent-profile", "--install", "cursor", "--yes")
    assert done.returncode == 0, done.stderr
    assert "keepa" in entries(home / ".cursor" / "mcp.json", "cursor")
