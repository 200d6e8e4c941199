"""business.agent-profile: how MCP hosts are told about this server."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from keepa_cli import ops
from keepa_cli.core.commandline import command_line
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.registry import Param, operation
from keepa_cli.ops._names import AGENT_PROFILE
from keepa_cli.ops._toolsets import ALL, DEFAULT_PROFILE, DEFAULT_TOOLSET, PROFILES, TOOLSETS

if TYPE_CHECKING:
    from keepa_cli.ops._agent_clients import Client, Server

Clients = Literal["claude-desktop", "claude-code", "cursor", "vscode", "codex", "gemini-cli"]
VARIABLES = {
    "KEEPA_API_KEY": "Needed by a server that was started with --live only; kc config set-token stores it as well.",
    "KEEPA_CLI_MCP_ROOTS": "Folders whose files tools may use; left out, the folder where the server starts.",
    "KEEPA_CLI_CASSETTES": "More folders with recordings.",
}


@operation(
    AGENT_PROFILE,
    toolset="business",
    tool="agent_profile_generate",
    effect="write_local",
    examples=(
        "kc business agent-profile --profile offline_fixture_only --toolset business",
        "kc business agent-profile --install cursor --dry-run",
        "kc business agent-profile --install codex --env KEEPA_API_KEY --yes",
    ),
)
def agent_profile(
    ctx: Context,
    toolset: Annotated[str, Param("Which tools are listed.", pattern="|".join(TOOLSETS))] = DEFAULT_TOOLSET,
    profile: Annotated[str, Param("What they may do.", pattern="|".join(PROFILES))] = DEFAULT_PROFILE,
    client: Annotated[Clients | None, Param("Only the snippet of this client.")] = None,
    env: Annotated[
        list[str],
        Param("A variable that the client hands over, by name; never its value.", metavar="NAME", pattern=r"[A-Z_]\w*"),
    ] = [],  # noqa: B006
    root: Annotated[list[str], Param("A folder whose files tools may use.", metavar="DIR", whole=True)] = [],  # noqa: B006
    install: Annotated[Clients | None, Param("Write the entry into the configuration of this client.")] = None,
    config: Annotated[str | None, Param("Its file, where it is not the usual one.", metavar="FILE")] = None,
    dry_run: Annotated[bool, Param("Show what --install would change; write nothing.")] = False,
    yes: Annotated[bool, Param("Consent to the change of the file.")] = False,
) -> dict[str, Any]:
    """Show how to register this server with MCP clients, or write it into the configuration of one.

    Snippets name the command, the toolset and the profile; keys never stand in them. --install shows the difference
    first, keeps everything else in the file, and leaves a copy of it.
    """
    from keepa_cli.ops._agent_clients import ALIAS, CLIENTS, Server

    _check(toolset, profile, install, config, dry_run)
    command, before = _command(ctx)
    args = (*before, "mcp", "serve", "--toolset", toolset, "--profile", profile)
    server = Server(command, args, tuple(dict.fromkeys(env)), _roots(ctx, root))
    data: dict[str, Any] = {
        "view": "agent_profile",
        "server": {"alias": ALIAS, "name": "keepa_mcp", "command": command, "args": list(args)},
        "toolset": {"name": toolset, "summary": TOOLSETS[toolset]},
        "profile": {"name": profile, "summary": PROFILES[profile].summary, "groups": sorted(PROFILES[profile].groups)},
        "environment": [{"name": n, "use": use, "handed_over": n in server.names} for n, use in VARIABLES.items()],
        "guide": "keepa://guides/agent-profile",
    }
    if install:
        given = {"toolset": toolset, "profile": profile, "env": env, "root": root, "install": install}
        again = command_line(ops.find(AGENT_PROFILE), given | ({"config": config} if config else {}), ["--yes"])
        return data | {"install": _installed(ctx, CLIENTS[install], server, config, dry_run, yes, again)}
    chosen = [CLIENTS[client]] if client else list(CLIENTS.values())
    return data | {"clients": {c.name: _described(ctx, c, server) for c in chosen}}


def _check(toolset: str, profile: str, install: str | None, config: str | None, dry_run: bool) -> None:
    if toolset != ALL and toolset not in PROFILES[profile].groups:
        groups = ", ".join(sorted(PROFILES[profile].groups))
        raise invalid(f"The profile {profile} allows the toolsets {groups} only.", field="profile", value=profile)
    for name, given in (("config", config), ("dry_run", dry_run)):
        if given and not install:
            raise invalid(f"--{name.replace('_', '-')} goes with --install CLIENT.", field=name, value=given)


def _command(ctx: Context) -> tuple[str, tuple[str, ...]]:
    """How this program is started: the `kc` beside this Python, that of PATH, else the module."""
    places = (str(Path(sys.executable).parent), ctx.env.get("PATH", ""))
    found = next((f for place in places if (f := shutil.which("kc", path=place))), None)
    return (found, ()) if found else (sys.executable, ("-m", "keepa_cli"))


def _roots(ctx: Context, roots: list[str]) -> str | None:
    folders = [str(_place(ctx, r, "root")) for r in roots]
    lacking = next((f for f in folders if not Path(f).is_dir()), None)
    if lacking:
        raise invalid(f"{lacking} is no folder.", field="root", value=lacking)
    return os.pathsep.join(folders) or None


def _place(ctx: Context, text: str, field: str) -> Path:
    try:
        return ctx.cwd / Path(text).expanduser()
    except RuntimeError:
        raise invalid(f"The home that {text[:80]} names is unknown.", field=field, value=text) from None


def _described(ctx: Context, client: Client, server: Server) -> dict[str, Any]:
    try:
        path: str | None = client.path(ctx.env, str(ctx.cwd), sys.platform)
    except KeepaCliError:
        path = None
    return {
        "title": client.title,
        "path": path,
        "format": "toml" if client.toml else "json",
        "snippet": client.snippet(server),
        "note": client.note,
        "install": f"kc business agent-profile --install {client.name}",
    }


def _installed(
    ctx: Context, client: Client, server: Server, config: str | None, dry_run: bool, yes: bool, again: str
) -> dict[str, Any]:
    from keepa_cli.ops._agent_install import planned

    if server.names and client.reference is None:
        raise invalid(
            f"{client.title} cannot name a variable without its value. {client.note}",
            field="env",
            value=server.names[0],
        )
    usual = None if config else client.path(ctx.env, str(ctx.cwd), sys.platform)
    path = _place(ctx, config, "config") if config else Path(str(usual))
    change = planned(client, server, path)
    data = {"client": client.name, "path": str(path), "created": not change.exists, "diff": change.diff}
    if path.is_symlink():
        data["target"] = str(change.target)
    if not change.changed or dry_run:
        return data | {"changed": change.changed, "written": False, "backup": None, "note": client.note}
    if not (yes or (ctx.agree is not None and ctx.agree(f"{change.diff}\nWrite this to {path}?"))):
        raise KeepaCliError(
            Kind.CONFIRMATION_REQUIRED,
            f"Nothing was written to {path}: the change needs consent.",
            details=data,
            next_actions=[again],
        )
    return data | {"changed": True, "written": True, "backup": change.write(ctx), "note": client.note}
