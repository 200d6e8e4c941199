"""Toolsets and profiles by name."""

from __future__ import annotations

from dataclasses import replace

from keepa_cli.agent.problems import bad_params
from keepa_cli.ops._toolsets import ALL, DEFAULT_PROFILE, DEFAULT_TOOLSET, PROFILES, TOOLSETS, Profile

__all__ = [
    "ALL",
    "DEFAULT_PROFILE",
    "DEFAULT_TOOLSET",
    "PROFILES",
    "TOOLSETS",
    "Profile",
    "narrowed",
    "profile",
    "toolset",
]


def profile(name: str | None) -> Profile:
    """The profile of that name, the default without one. Raises a ProtocolError that lists the names."""
    found = PROFILES.get(name or DEFAULT_PROFILE)
    if found is None:
        raise bad_params(f"There is no profile {str(name)[:100]!r}.", profile=str(name)[:100], allowed=list(PROFILES))
    return found


def narrowed(asked: str | None, server: Profile) -> Profile:
    """The profile that counts for a request to a server with a profile of its own: what both allow. The default one is
    no restriction. Raises a ProtocolError for an unknown name."""
    found = profile(asked or server.name)
    if server.name in (DEFAULT_PROFILE, found.name):
        return found
    return replace(found, groups=found.groups & server.groups, safe=found.safe or server.safe)


def toolset(name: str | None) -> str:
    """The name of a toolset, the default without one. Raises a ProtocolError that lists the names."""
    found = name or DEFAULT_TOOLSET
    if found not in TOOLSETS:
        raise bad_params(f"There is no toolset {found[:100]!r}.", toolset=found[:100], allowed=list(TOOLSETS))
    return found
