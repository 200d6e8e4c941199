"""MCP hosts: where each keeps its servers, in which form, and how an entry gets into the file."""

from __future__ import annotations

import json
import ntpath
import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepa_cli.core.errors import KeepaCliError, Kind

ALIAS = "keepa"


@dataclass(frozen=True)
class Server:
    """How the server is started. `names` are environment variables that the host hands over, `roots` folders whose
    files tools may use."""

    command: str
    args: tuple[str, ...]
    names: tuple[str, ...] = ()
    roots: str | None = None


@dataclass(frozen=True)
class Client:
    """One host. `reference` is how its file names a variable without its value; None where it has no way to."""

    name: str
    title: str
    container: str
    places: Mapping[str, str]
    note: str
    reference: str | None = None
    typed: bool = False
    toml: bool = False

    def path(self, env: Mapping[str, str], cwd: str, platform: str) -> str:
        """The file of this host on `platform` (as `sys.platform` names it). Raises where a folder is unknown."""
        windows = platform == "win32"
        pattern = self.places.get(platform) or self.places["linux"]
        join: Callable[..., str] = ntpath.join if windows else posixpath.join
        first, *rest = pattern.split("/")
        return join(_folder(first, env, cwd, windows), *rest)

    def entry(self, server: Server) -> dict[str, Any]:
        found: dict[str, Any] = {"type": "stdio"} if self.typed else {}
        found |= {"command": server.command, "args": list(server.args)}
        values = {"KEEPA_CLI_MCP_ROOTS": server.roots} if server.roots else {}
        if self.toml and server.names:
            found["env_vars"] = list(server.names)
        elif self.reference:
            values |= {name: self.reference.replace("NAME", name) for name in server.names}
        return found | ({"env": values} if values else {})

    def snippet(self, server: Server) -> str:
        """The text to paste."""
        if self.toml:
            return put_toml("", (self.container, ALIAS), self.entry(server))
        return json.dumps({self.container: {ALIAS: self.entry(server)}}, ensure_ascii=False, indent=2) + "\n"

    def load(self, text: str) -> Any:
        """The data of its file. Raises ValueError with the reason."""
        if self.toml:
            import tomlkit

            return tomlkit.parse(text).unwrap()
        from keepa_cli.ops._jsonc import load

        return load(text) if text.strip() else {}

    def put(self, text: str, path: Sequence[str], value: Any) -> str:
        from keepa_cli.ops._jsonc import put

        return put_toml(text, path, value) if self.toml else put(text, path, value)


CLIENTS: Mapping[str, Client] = {
    c.name: c
    for c in (
        Client(
            "claude-desktop",
            "Claude Desktop",
            "mcpServers",
            {
                "linux": "CONFIG/Claude/claude_desktop_config.json",
                "darwin": "HOME/Library/Application Support/Claude/claude_desktop_config.json",
                "win32": "APPDATA/Claude/claude_desktop_config.json",
            },
            "Starts servers without the variables of a shell: store the key with kc config set-token, not here. "
            "Quit and open it again.",
        ),
        Client(
            "claude-code",
            "Claude Code",
            "mcpServers",
            {"linux": "CWD/.mcp.json"},
            "The project's file, to be shared with it; for all projects: --config ~/.claude.json. Asks for approval "
            "when it starts.",
            reference="${NAME:-}",
            typed=True,
        ),
        Client(
            "cursor",
            "Cursor",
            "mcpServers",
            {"linux": "HOME/.cursor/mcp.json"},
            "For all projects; for one: --config .cursor/mcp.json. Turn the server on under Settings, MCP.",
            reference="${env:NAME}",
        ),
        Client(
            "vscode",
            "Visual Studio Code",
            "servers",
            {
                "linux": "CONFIG/Code/User/mcp.json",
                "darwin": "HOME/Library/Application Support/Code/User/mcp.json",
                "win32": "APPDATA/Code/User/mcp.json",
            },
            "For all workspaces; for one: --config .vscode/mcp.json. Start it with MCP: List Servers.",
            reference="${env:NAME}",
            typed=True,
        ),
        Client(
            "codex",
            "Codex",
            "mcp_servers",
            {"linux": "CODEX_HOME/config.toml"},
            "Read when a session starts.",
            reference="NAME",
            toml=True,
        ),
        Client(
            "gemini-cli",
            "Gemini CLI",
            "mcpServers",
            {"linux": "HOME/.gemini/settings.json"},
            "For all projects; for one: --config .gemini/settings.json.",
            reference="$NAME",
        ),
    )
}


def put_toml(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` at `path`, comments and order kept. Raises ValueError with the reason."""
    import tomlkit

    document = tomlkit.parse(text)
    place: Any = document
    for depth, name in enumerate(path[:-1]):
        if name not in place:
            place[name] = tomlkit.table(is_super_table=depth == 0)
        place = place[name]
        if not isinstance(place, Mapping):
            raise ValueError(f"{name} is no table")  # noqa: TRY004 - data of a file
    place[path[-1]] = value
    return tomlkit.dumps(document)


def _folder(name: str, env: Mapping[str, str], cwd: str, windows: bool) -> str:
    if name == "CWD":
        return cwd
    home = env.get("USERPROFILE" if windows else "HOME", "")
    if name == "CONFIG":
        given = env.get("XDG_CONFIG_HOME", "")
    elif name == "HOME":
        given = home
    else:
        given = env.get(name, "")
    if given:
        return given
    if not home:
        lacking = name if windows else "HOME"
        raise KeepaCliError(
            Kind.CONFIG_ERROR,
            f"The folder of this client is unknown: {lacking} is not set. Name its file with --config.",
            details={"field": "config"},
        )
    join = ntpath.join if windows else posixpath.join
    return join(home, *{"CONFIG": (".config",), "APPDATA": ("AppData", "Roaming"), "CODEX_HOME": (".codex",)}[name])
