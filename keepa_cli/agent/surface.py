"""What a server offers: lists in pages, resources to read, prompts to get. Plain data in, plain data out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from keepa_cli.agent import profiles, prompts
from keepa_cli.agent.cursors import Pager
from keepa_cli.agent.problems import bad_params
from keepa_cli.agent.resources import table
from keepa_cli.agent.resources.model import Reading
from keepa_cli.agent.tools import STARTERS, Tool, of_toolset, tools
from keepa_cli.agent.uris import parse_uri

if TYPE_CHECKING:
    from keepa_cli.agent.session import AgentSession


class Surface:
    """One per server. `toolset` and `profile` are what a list shows when the request names none."""

    def __init__(self, toolset: str | None = None, profile: str | None = None) -> None:
        self.toolset = profiles.toolset(toolset)
        self.profile = profiles.profile(profile)
        self._pager = Pager(os.urandom(32))

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        return tools()

    def tools_list(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The tools of a toolset under a profile; `allow_tools` and `exclude_tools` narrow it."""
        toolset = profiles.toolset(_text(params, "toolset") or self.toolset)
        profile = profiles.narrowed(_text(params, "profile"), self.profile)
        allowed, excluded = _names(params, "allow_tools"), _names(params, "exclude_tools") or []
        chosen = [
            tool
            for tool in of_toolset(self.tools, toolset)
            if (allowed is None or tool.name in allowed) and tool.name not in excluded
        ]
        filters = {"toolset": toolset, "profile": profile.name, "allow": allowed, "exclude": excluded}
        first = len(STARTERS) if toolset == profiles.ALL else None
        found = self._pager.page("tools", chosen, params, filters, first)
        found["tools"] = [tool.listed(profile) for tool in found["tools"]]
        return found | {"toolset": toolset, "profile": profile.name}

    def schema_of(self, name: str) -> dict[str, Any] | None:
        """What the arguments of a tool look like."""
        found = self.tools.get(name)
        return found.input_schema if found else None

    def resources_list(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return self._pager.page("resources", [r.listed() for r in table.RESOURCES], params, {})

    def templates_list(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return self._pager.page("resourceTemplates", [t.listed() for t in table.TEMPLATES], params, {})

    def prompts_list(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return self._pager.page("prompts", [p.listed() for p in prompts.PROMPTS.values()], params, {})

    def page(self, collection: str, items: list[dict[str, Any]], params: Mapping[str, Any]) -> dict[str, Any]:
        """Any other list in pages."""
        return self._pager.page(collection, items, params, {})

    def read(self, uri: str, session: AgentSession) -> list[dict[str, Any]]:
        """The contents of a resource: `[{uri, mimeType, text}]`. Raises a ProtocolError for one that is not there."""
        parsed = parse_uri(uri)
        if parsed is None:
            raise bad_params("Resource not found", uri=uri[:500])
        return [table.read(Reading(parsed, uri, session, self)).as_dict(uri)]

    def prompt(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """`{description, messages}`. Raises a ProtocolError for an unknown name and for arguments that lack."""
        return prompts.render(name, arguments)


def _text(params: Mapping[str, Any], name: str) -> str | None:
    value = params.get(name)
    if value is not None and not isinstance(value, str):
        raise bad_params(f"{name} is a text.", field=name)
    return value


def _names(params: Mapping[str, Any], name: str) -> list[str] | None:
    """A list of names, also as one text with commas; None when it was not given."""
    value = params.get(name)
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if value is not None and not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
        raise bad_params(f"{name} is a list of names.", field=name)
    return value
