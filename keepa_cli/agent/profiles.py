"""Toolsets and profiles by name."""

from __future__ import annotations

from keepa_cli.agent.problems import bad_params
from keepa_cli.ops._toolsets import ALL, DEFAULT_PROFILE, DEFAULT_TOOLSET, PROFILES, TOOLSETS, Profile

__all__ = ["ALL", "DEFAULT_PROFILE", "DEFAULT_TOOLSET", "PROFILES", "TOOLSETS", "Profile", "profile", "toolset"]


def profile(name: str | None) -> Profile:
    """The profile of that name, the default without one. Raises a ProtocolError that lists the names."""
    found = PROFILES.get(name or DEFAULT_PROFILE)
    if found is None:
        raise bad_params(f"There is no profile {name!r}.", profile=name, allowed=list(PROFILES))
    return found


def toolset(name: str | None) -> str:
    """The name of a toolset, the default without one. Raises a ProtocolError that lists the names."""
    found = name or DEFAULT_TOOLSET
    if found not in TOOLSETS:
        raise bad_params(f"There is no toolset {name!r}.", toolset=name, allowed=list(TOOLSETS))
    return found
