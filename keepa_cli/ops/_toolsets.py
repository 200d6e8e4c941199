"""What agents are shown and what they may do: toolsets and profiles (contract §6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ALL = "all"
TOOLSETS: Mapping[str, str] = {
    "research": "Find, compare and judge products; plan, merge and report. The default.",
    "audit": "What things cost, where data came from, what is recorded.",
    "reports": "Figures, briefs, reports and a site from saved answers.",
    "business": "Fast movers, stock risk and opportunities from saved answers.",
    "tracking-readonly": "Read trackings and their notifications; nothing is changed.",
    "curation": "Turn recordings into fixtures with evidence.",
    ALL: "Every tool.",
}
DEFAULT_TOOLSET = "research"


@dataclass(frozen=True)
class Profile:
    """`groups` are the toolsets whose tools it allows. With `safe` a tool that could reach Keepa answers only from a
    fixture, a recording, or as a dry run."""

    name: str
    summary: str
    groups: frozenset[str]
    safe: bool


def _profile(name: str, summary: str, *groups: str, safe: bool = True) -> Profile:
    return Profile(name, summary, frozenset(groups), safe)


_WORK = ("research", "audit", "reports", "business")
PROFILES: Mapping[str, Profile] = {
    p.name: p
    for p in (
        _profile(
            "live_read_allowed",
            "Real research: live reads where the server was started with --live, with budget and consent.",
            *(*_WORK, "tracking-readonly"),
            safe=False,
        ),
        _profile("dry_run_default", "Plan and price: nothing reaches Keepa.", *_WORK, "tracking-readonly"),
        _profile("offline_fixture_only", "Tests and regression: fixtures and recordings only.", *_WORK),
        _profile("tracking_readonly", "Look at trackings, change nothing.", "tracking-readonly", safe=False),
        _profile("fixture_curation", "Sanitize and promote recordings.", "curation", "audit"),
    )
}
DEFAULT_PROFILE = "live_read_allowed"
