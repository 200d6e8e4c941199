"""MCP as Streamable HTTP: the SDK's application behind our guard."""

from __future__ import annotations

import gc
import ipaddress
import logging
from typing import TYPE_CHECKING, Any

import anyio

from keepa_cli.core.context import Context
from keepa_cli.core.errors import ExitCode, KeepaCliError, Kind, invalid
from keepa_cli.interfaces.mcp.core import Core
from keepa_cli.interfaces.mcp.guard import PATH, USUAL, Guard, Rules
from keepa_cli.interfaces.mcp.replies import TIMED_OUT_KEY, TIMEOUT_KEY
from keepa_cli.interfaces.mcp.rooms import Rooms
from keepa_cli.interfaces.mcp.server import build_server
from keepa_cli.interfaces.mcp.tasks import end_tasks

if TYPE_CHECKING:
    import uvicorn

TIMEOUT_ERROR = -32003
HTTP_PORT = 80
USUAL_PORTS = {"http": ":80", "https": ":443"}
"""Browsers leave them out of an origin."""
SETTLE_SECONDS = 2.0
AT_ONCE, QUEUED = 128, 2048
"""Connections taken at once, before any of them is read: few enough that none of them has to give way to the rest; and
those that the system keeps meanwhile."""
SPARE = 16
"""Sessions beyond our cap that the SDK may hold for a moment while one gives way."""


def build_app(core: Core, rules: Rules, *, sse: bool, rooms: Rooms | None = None) -> Guard:
    """The ASGI application of one server."""
    held = Rooms() if rooms is None else rooms
    server = build_server(core)

    def left(ident: str) -> None:
        end_tasks(server, ident)
        core.drop(ident)

    held.on_left = left
    server.middleware.insert(1, _cleared(held))
    return guarded(server, rules, sse=sse, rooms=held)


def _cleared(rooms: Rooms) -> Any:
    """What a request makes of a session that ended meanwhile goes, too."""

    async def middleware(ctx: Any, call_next: Any) -> Any:
        try:
            return await call_next(ctx)
        finally:
            ident = None if ctx.request is None else ctx.request.headers.get("mcp-session-id")
            if ident is not None and ident not in rooms:
                rooms.on_left(ident)

    return middleware


def guarded(server: Any, rules: Rules, *, sse: bool, rooms: Rooms | None = None) -> Guard:
    """A server of the SDK behind the guard."""
    from mcp.server.transport_security import TransportSecuritySettings

    held = Rooms() if rooms is None else rooms
    server.middleware.insert(1, _timed)
    app = server.streamable_http_app(
        json_response=not sse,
        session_idle_timeout=rules.idle,
        max_sessions=held.cap + SPARE,
        max_request_body_size=2 * rules.body_limit,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Guard(app, rules, held)


async def _timed(ctx: Any, call_next: Any) -> Any:
    """End a request that takes longer than it may; its work is told to stop."""
    request = ctx.request
    if request is None or ctx.request_id is None or ctx.method == "initialize":
        return await call_next(ctx)
    from mcp.shared.exceptions import MCPError

    limit = request.scope.get(TIMEOUT_KEY, USUAL)
    with anyio.move_on_after(limit / 1000):
        return await call_next(ctx)
    request.scope[TIMED_OUT_KEY] = True
    raise MCPError(TIMEOUT_ERROR, "Request timeout", {"timeout_ms": limit})


def rules_for(host: str, port: int, *, token: str | None, origins: tuple[str, ...], dual: bool) -> Rules:
    """Who may call a server that listens at this address. Raises where a token is needed and there is none."""
    allowed = frozenset(_origin(origin) for origin in origins)
    if not _is_loopback(host):
        if not token:
            raise invalid(
                f"Listening on {host}, which other machines reach, needs a bearer token: --token-env NAME.",
                field="host",
                value=host,
            )
        return Rules(allowed, None, token, dual)
    names = ("127.0.0.1", "localhost", "[::1]", _shown(host))
    hosts = frozenset(f"{name}:{port}" for name in names) | (frozenset(names) if port == HTTP_PORT else frozenset())
    own = frozenset(f"http://{name}" for name in hosts)
    return Rules(own | allowed, hosts, token, dual)


def _origin(text: str) -> str:
    """An origin as browsers send it. Raises for what no browser sends: such a rule would let nobody in."""
    from urllib.parse import urlsplit

    parts = urlsplit(text.strip())
    odd = parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc
    if odd or not parts.scheme or not parts.netloc or not text.isascii():
        raise invalid(
            "--allow-origin takes an origin such as https://app.example.com.", field="allow_origin", value=text
        )
    origin = f"{parts.scheme}://{parts.netloc}".lower()
    return origin.removesuffix(USUAL_PORTS.get(parts.scheme.lower(), " "))


def _shown(host: str) -> str:
    """A host as it stands in addresses."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host.lower()


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def serve(
    ctx: Context,
    *,
    live: bool,
    host: str,
    port: int,
    sse: bool = False,
    token_env: str | None = None,
    allow_origin: tuple[str, ...] = (),
    toolset: str | None = None,
    profile: str | None = None,
    dual: bool = True,
) -> int:
    """Serve until Ctrl-C; the exit code. Raises where the address cannot be listened at."""
    token = ctx.env.get(token_env, "").strip() if token_env else None
    if token_env and not token:
        raise invalid(f"The environment variable {token_env} holds no token.", field="token_env", value=token_env)
    if token:
        ctx.redactor.add_secret(token)
    listening = listen(host, port)
    bound = int(listening.getsockname()[1])
    rules = rules_for(host, bound, token=token, origins=allow_origin, dual=dual)
    core = Core(ctx, live=live, toolset=toolset, profile=profile)
    app = build_app(core, rules, sse=sse)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # the SDK reports every session that ends under a request
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    config = settings(app)
    ctx.stderr.write(
        f"MCP at http://{_shown(host)}:{bound}{PATH} ({'live' if live else 'recordings only'}). Ctrl-C ends it.\n"
    )
    ctx.stderr.flush()
    try:
        server(config, core).run(sockets=[listening])
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    finally:
        core.close(SETTLE_SECONDS)
    return int(ExitCode.OK)


def settings(app: Guard) -> uvicorn.Config:
    """How uvicorn serves: connections that bring no request in time end, and nothing of a request is logged."""
    import uvicorn

    from keepa_cli.interfaces.mcp.door import MOST_CONNECTIONS, Door

    return uvicorn.Config(
        app, http=Door, ws="none", lifespan="on", log_level="critical", access_log=False, timeout_keep_alive=75,
        limit_concurrency=2 * MOST_CONNECTIONS, timeout_graceful_shutdown=3, server_header=False, date_header=False,
        h11_max_incomplete_event_size=64 << 10, backlog=AT_ONCE,
    )  # fmt: skip


def server(config: uvicorn.Config, core: Core | None = None) -> uvicorn.Server:
    """A server whose queue of connections is longer than what it takes at once; asyncio makes them the same. When it
    ends, so do calls that wait for Keepa: their clients still get an answer."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[Any] | None = None) -> None:
            await super().startup(sockets)
            for listening in sockets or ():
                listening.listen(QUEUED)

        async def shutdown(self, sockets: list[Any] | None = None) -> None:
            if core is not None:
                core.hang_up()
            await super().shutdown(sockets)

    return Server(config)


def listen(host: str, port: int) -> Any:
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(
        family, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )  # asyncio sends at once where it says TCP only
    try:
        # Windows lets two programs listen at one address unless one of them forbids it; the others need the opposite
        found.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR), 1)
        found.bind((host.strip("[]"), port))
        found.listen(QUEUED)
    except OSError as error:
        found.close()
        raise KeepaCliError(
            Kind.IO_ERROR,
            f"Cannot listen on {host}:{port}: {error.strerror or type(error).__name__}.",
            details={"host": host, "port": port},
            next_actions=["kc mcp serve --http --port 0"],
        ) from None
    return found
