"""One look at a product: the subject, how much of it is wanted, and the sections built so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.research.needs import Planner
from keepa_cli.research.subject import Subject

WINDOWS = (7, 30, 90, 180, 365)
HISTORY_LIMIT = 10


@dataclass
class Look:
    """Sections may read each other through `section`: each is built once, when first asked for.

    `windows` are the days of the temporal features, `history_limit` how many of the newest points of a series a
    history section shows, `plan` turns a need into an entry of `next_actions`. `whole` sections shorten no text and
    no list beyond what is sane; those of a profile are made to fit. `shown` holds the members that are shown of a
    section, where that is not all: the others need not be made.
    """

    subject: Subject
    plan: Planner
    profile: str
    windows: tuple[int, ...] = WINDOWS
    history_limit: int = HISTORY_LIMIT
    whole: bool = False
    shown: Mapping[str, Any] = field(default_factory=dict, repr=False)
    _built: dict[str, Any] = field(default_factory=dict, repr=False)

    def section(self, name: str) -> Any:
        """The section `name`, made by `section(look)` of the module of that name."""
        if name not in self._built:
            from keepa_cli.research.product.sections import BUILDERS

            self._built[name] = BUILDERS[name](self)
        return self._built[name]

    def wants(self, section: str) -> Callable[[str], bool]:
        """Tells of a member of that section whether anything shows it."""
        shown = self.shown.get(section, True)
        return _always if shown is True else shown.__contains__


def _always(_: str) -> bool:
    return True
