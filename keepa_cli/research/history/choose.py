"""Which tracks a caller means, and which of their points."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from keepa_cli.core.errors import KeepaCliError, invalid
from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.research.history.downsample import keep
from keepa_cli.research.history.tracks import Track
from keepa_cli.research.names import NAMES, name_of, series_named

OTHERS = (
    "monthly_sold", "sales_rank_reference", "coupon_one_time", "coupon_subscribe", "reviews_rating_count",
    "reviews_review_count", "buy_box_seller", "buy_box_used_seller", "buy_box_used_condition", "buy_box_used_is_fba",
    "parent_asin",
)  # fmt: skip
"""The histories outside of `csv` that have a fixed name."""
ORDERED = frozenset({"monthly_sold", "reviews_rating_count", "reviews_review_count"})
"""Those of them whose values are more or less."""
REFRESHES = BY_NAME["EXTRA_INFO_UPDATES"].index
OPEN = ("sales_rank:", "offer:")
"""How names begin that only a product can complete."""


def canonical(text: str) -> str:
    """The name of a series however it is written; patterns with * and names with an open end stay as they are.

    Raises `invalid_arguments` with the nearest name.
    """
    low = text.strip().lower()
    if "*" in low or low.startswith(OPEN):
        return low
    base, colon, part = low.partition(":")
    base = base.replace("-", "_")
    if base in OTHERS and not colon:
        return base
    try:
        t = series_named(base)
    except KeepaCliError:
        raise _unknown(text) from None
    if colon and (t.stride != 3 or part not in {"price", "shipping"}):
        raise _unknown(text)
    return name_of(t) + colon + part


def _unknown(text: str, known: Iterable[str] = (*NAMES, *OTHERS)) -> KeepaCliError:
    import difflib

    names = list(known)
    close = difflib.get_close_matches(text.strip().lower().replace("-", "_"), names, n=1)
    hint = f"; the nearest is {close[0]}" if close else ""
    return invalid(f"There is no series {text[:60]!r}{hint}.", field="series", value=text[:60], allowed=names)


def has_trend(name: str) -> bool:
    """Whether the values of a series can be compared; of a pattern and an offer that is seen later."""
    return "*" in name or name in ORDERED or name not in {*OTHERS, NAMES[REFRESHES]}


def chosen(tracks: Mapping[str, Track], asked: Sequence[str]) -> tuple[list[Track], list[Track]]:
    """The tracks that were asked for: those with data, and the empty ones. Nothing asked is everything.

    A name with an open end that the product does not have is an empty track as well.
    """
    names = dict.fromkeys(n for want in asked for n in _matching(tracks, want)) if asked else dict.fromkeys(tracks)
    found = [tracks[n] for n in names]
    return [t for t in found if len(t)], [t for t in found if not len(t)]


def lacking(tracks: Mapping[str, Track], asked: Sequence[str]) -> list[str]:
    """What was asked for and names nothing that this product has: a category, an offer, a pattern."""
    return [want for want in asked if not _matching(tracks, want)]


def _matching(tracks: Mapping[str, Track], want: str) -> list[str]:
    if want in tracks:
        return [want]
    return [n for n in tracks if fnmatchcase(n, want)] if "*" in want else []


@dataclass(frozen=True)
class Span:
    """A stretch of time in Keepa minutes, open where None, and the most points to keep of a track."""

    since: int | None = None
    until: int | None = None
    most: int | None = None

    def of(self, track: Track) -> tuple[list[int], list[Any]]:
        """The points inside, and the one in force at the start: the step function is whole from `since` on."""
        times, raws = track.times, track.raws
        first, end = 0, len(times)
        if self.since is not None:
            first = bisect_left(times, self.since) if track.until else max(bisect_right(times, self.since) - 1, 0)
        if self.until is not None:
            end = bisect_right(times, self.until)
            if track.until:
                end = min(end + 1, len(times))
        times, raws = times[first:end], raws[first:end]
        if self.most is None or not track.unit.ordered or len(times) <= self.most:
            return times, raws
        places = keep(times, [r for r in raws if isinstance(r, int)], self.most)
        return [times[i] for i in places], [raws[i] for i in places]
