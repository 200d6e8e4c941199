"""Long calls as tasks of the 2025-11-25 protocol: started, looked at, waited for, cancelled. The SDK has the types
only."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from keepa_cli.agent.problems import INVALID_PARAMS, METHOD_NOT_FOUND
from keepa_cli.agent.tools import LONG
from keepa_cli.interfaces.mcp.core import Core

LONGEST_TTL, USUAL_TTL = 24 * 3_600_000, 3_600_000
POLL_MS = 500
MOST = 50
"""Tasks of one session: that many run at once and that many are kept, an ended one giving way to a new one."""
RELATED = "io.modelcontextprotocol/related-task"
FINAL = frozenset({"completed", "failed", "cancelled"})


@dataclass
class Task:
    """One call that runs on its own."""

    ident: str
    ttl: int
    created: datetime
    updated: datetime
    status: str = "working"
    message: str = ""
    result: dict[str, Any] | None = None
    work: asyncio.Task[None] | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def as_dict(self) -> dict[str, Any]:
        found = {
            "taskId": self.ident, "status": self.status, "createdAt": self.created.isoformat(),
            "lastUpdatedAt": self.updated.isoformat(), "ttl": self.ttl, "pollInterval": POLL_MS,
        }  # fmt: skip
        return found | ({"statusMessage": self.message} if self.message else {})


class Tasks:
    """The tasks of all sessions; each sees its own."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._held: dict[str, dict[str, Task]] = {}

    def start(self, session: str, name: str, arguments: Mapping[str, Any], asked: Mapping[str, Any]) -> Task:
        """Begin a call and return at once. Raises for tools that are no tasks, and where too many wait already."""
        if name not in LONG:
            raise MCPError(METHOD_NOT_FOUND, f"{name[:100]} does not run as a task", {"tool": name[:100]})
        self._make_room(session)
        ttl = asked.get("ttl")
        wanted = ttl if type(ttl) is int and ttl > 0 else USUAL_TTL
        now = self._core.ctx.now()
        task = Task(uuid.uuid4().hex, min(wanted, LONGEST_TTL), now, now)
        self._held.setdefault(session, {})[task.ident] = task
        task.work = asyncio.create_task(self._run(session, task, name, arguments))
        return task

    def _make_room(self, session: str) -> None:
        mine = self._mine(session)
        if len(mine) >= MOST:
            oldest = next((t.ident for t in mine.values() if t.status in FINAL), None)
            if oldest is None:
                raise MCPError(INVALID_PARAMS, f"At most {MOST} tasks of a session run at once")
            self._forget(session, oldest)

    async def _run(self, session: str, task: Task, name: str, arguments: Mapping[str, Any]) -> None:
        def note(done: float, total: float | None, text: str) -> None:
            task.message, task.updated = text[:500], self._core.ctx.now()

        try:
            found = await self._core.call(session, name, arguments, progress=note)
            found["_meta"] = {RELATED: {"taskId": task.ident}}
            task.result = found
            held = self._core.sessions.get(session)
            if held is not None:
                held.agent.task_results[task.ident] = found["structuredContent"]
            self._close(task, "failed" if found["isError"] else "completed")
        except asyncio.CancelledError:
            self._close(task, "cancelled")
        except Exception as error:  # noqa: BLE001 - a task ends in a state, whatever happened
            task.message = type(error).__name__
            self._close(task, "failed")

    def _close(self, task: Task, status: str) -> None:
        task.status, task.updated = status, self._core.ctx.now()
        if status == "completed":
            task.message = ""  # what it did last says nothing any more
        task.done.set()

    def get(self, session: str, ident: Any) -> Task:
        """Raises for a task that is not there or not of this session."""
        found = self._mine(session).get(ident) if isinstance(ident, str) else None
        if found is None:
            raise MCPError(INVALID_PARAMS, "Unknown task", {"taskId": str(ident)[:100]})
        return found

    async def result(self, session: str, ident: Any) -> dict[str, Any]:
        """Waits for the end of a task."""
        task = self.get(session, ident)
        await task.done.wait()
        if task.result is None:
            raise MCPError(INVALID_PARAMS, f"The task was {task.status}", {"taskId": task.ident})
        return task.result

    def cancel(self, session: str, ident: Any) -> Task:
        task = self.get(session, ident)
        if task.status in FINAL:
            raise MCPError(INVALID_PARAMS, f"The task is {task.status} already", {"taskId": task.ident})
        self._stop(task)
        return task

    def _stop(self, task: Task) -> None:
        self._close(task, "cancelled")
        if task.work is not None:
            task.work.cancel()

    def end(self, session: str) -> None:
        """A session is over, and so are its tasks: nobody can ask for them any more."""
        for task in self._held.pop(session, {}).values():
            if task.status not in FINAL:
                self._stop(task)

    def listed(self, session: str) -> list[dict[str, Any]]:
        return [task.as_dict() for task in self._mine(session).values()]

    def _mine(self, session: str) -> dict[str, Task]:
        """The tasks of a session that are not past their time."""
        mine, now = self._held.get(session, {}), self._core.ctx.now()
        for ident, task in list(mine.items()):
            if task.status in FINAL and (now - task.created).total_seconds() * 1000 > task.ttl:
                self._forget(session, ident)
        return mine

    def _forget(self, session: str, ident: str) -> None:
        del self._held[session][ident]
        if not self._held[session]:
            del self._held[session]
        held = self._core.sessions.get(session)
        if held is not None:
            held.agent.task_results.pop(ident, None)


class TaskServer(Server[Any]):
    """A server that says that it has tasks, to clients of the protocol that knows them."""

    tasks: Tasks | None = None

    def get_capabilities(self, *args: Any, **kwargs: Any) -> types.ServerCapabilities:
        found = super().get_capabilities(*args, **kwargs)
        if kwargs.get("protocol_version") not in (None, "2025-11-25"):
            return found
        calls = types.ServerTasksRequestsCapability(tools=types.TasksToolsCapability(call=types.TasksCallCapability()))
        tasks = types.ServerTasksCapability(
            list=types.TasksListCapability(), cancel=types.TasksCancelCapability(), requests=calls
        )
        return found.model_copy(update={"tasks": tasks})


class TaskParams(types.RequestParams):
    """Parameters of the tasks methods."""

    task_id: str | None = None
    cursor: str | None = None


def end_tasks(server: Server[Any], session: str) -> None:
    """A session of this server is over."""
    if isinstance(server, TaskServer) and server.tasks is not None:
        server.tasks.end(session)


def add_tasks(server: Server[Any], core: Core, ident_of: Callable[[Any], str]) -> None:
    """Give a server the four methods, and tools/call with `task`."""
    tasks = Tasks(core)
    if isinstance(server, TaskServer):
        server.tasks = tasks

    async def get(ctx: Any, params: Any) -> dict[str, Any]:
        return tasks.get(ident_of(ctx), params.task_id).as_dict()

    async def result(ctx: Any, params: Any) -> dict[str, Any]:
        return await tasks.result(ident_of(ctx), params.task_id)

    async def cancel(ctx: Any, params: Any) -> dict[str, Any]:
        return tasks.cancel(ident_of(ctx), params.task_id).as_dict()

    async def listing(ctx: Any, params: Any) -> dict[str, Any]:
        found = tasks.listed(ident_of(ctx))
        given = {"cursor": params.cursor} if params.cursor is not None else {}
        return core.surface.page("tasks", found, given)

    for method, handler in (("get", get), ("result", result), ("cancel", cancel), ("list", listing)):
        server.add_request_handler(f"tasks/{method}", TaskParams, handler)

    async def started(ctx: Any, call_next: Any) -> Any:
        params = ctx.params or {}
        asked = params.get("task")
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            if ctx.method.startswith("tasks/"):
                raise MCPError(METHOD_NOT_FOUND, "Method not found")
            return await call_next(ctx)
        if ctx.method != "tools/call" or asked is None:
            return await call_next(ctx)
        name, arguments = params.get("name"), {} if params.get("arguments") is None else params["arguments"]
        if not isinstance(asked, Mapping) or not isinstance(name, str) or not isinstance(arguments, Mapping):
            raise MCPError(INVALID_PARAMS, "task is an object beside a name and an object of arguments")
        return {"task": tasks.start(ident_of(ctx), name, dict(arguments), asked).as_dict()}

    server.middleware.append(started)
