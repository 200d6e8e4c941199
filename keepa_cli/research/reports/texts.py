"""Facts of views as one text each. Numbers stay as the view gives them: nothing is rounded here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.domains import DOMAINS, Domain
from keepa_cli.keepa.money import money, tenths
from keepa_cli.research.facts import Confidence, Reason, Section
from keepa_cli.research.figures.text import clean

LONGEST = 2000
"""Characters of a foreign text on a page."""
UNITS = {
    "percent": "%",
    "units_per_month_at_least": "a month",
    "money_per_month_at_least": "a month",
    "points_of_100": "of 100",
}
_SPELLED = {"fba": "FBA", "fbm": "FBM", "roi": "ROI", "asin": "ASIN", "aplus": "A+"}
_SHAPES = {Confidence.LOWER_BOUND.value: "at least {}", Confidence.LOW.value: "{} (estimate)"}
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d)?(?:\.\d+)?(?:Z|\+00:00)")
_HOSTS = "|".join(sorted(re.escape(d.host) for d in DOMAINS.values()))
_ADDRESS = re.compile(rf"https://www\.(?:{_HOSTS})/dp/[0-9A-Z]{{10}}")


def text_of(value: Any) -> str | None:
    """A fact of a view as text: an amount with its currency, a figure with its unit; None for what has no value."""
    if isinstance(value, Mapping):
        return _fact(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return str(value)
    return (clean(value[:LONGEST]) or None) if isinstance(value, str) else None


def _fact(value: Mapping[str, Any]) -> str | None:
    if "formatted" in value:
        return text_of(value["formatted"])
    text = text_of(value.get("value"))
    if text is None:
        return None
    unit = value.get("unit")
    if isinstance(unit, str) and unit not in {"money", "rank", "count"}:
        text = f"{text} {UNITS.get(unit, clean(unit[:60]).replace('_', ' '))}"
    return _SHAPES.get(str(value.get("confidence")), "{}").format(text)


def raw_text(raw: Any, unit: str, domain: Domain) -> str | None:
    """A number of a series in its unit; None where Keepa says that there is none."""
    if isinstance(raw, bool) or not isinstance(raw, int | float) or raw < 0:
        return None
    if unit == "money":
        return money(raw, domain)["formatted"] if isinstance(raw, int) else None
    return tenths(raw) if unit == "stars" else text_of(raw)


def signed(value: Any) -> str | None:
    """A change in percent with its sign."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return f"{'+' if value > 0 else ''}{value} %"


def moment(at: Any) -> str | None:
    """A time as people read it, in UTC."""
    shown = (
        re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d)?(?:\.\d+)?(?:Z|\+00:00)", at)
        if isinstance(at, str)
        else None
    )
    return f"{shown[1]} {shown[2]} UTC" if shown else None


def label(name: Any) -> str:
    """The name of a member as a heading."""
    words = " ".join(_SPELLED.get(word, word) for word in clean(str(name)[:80]).replace("_", " ").split(" "))
    return words[:1].upper() + words[1:]


def why(reason: Any) -> str:
    """The reason why there is no value, in words."""
    return clean(str(reason)[:60]).replace("_", " ") if reason else Reason.NOT_COLLECTED.value.replace("_", " ")


def address(url: Any) -> str | None:
    """The page of a product at a marketplace that Keepa knows; no other address becomes a link."""
    return url if isinstance(url, str) and _ADDRESS.fullmatch(url) else None


def fact(name: str, value: Any, reason: Any = None, note: str | None = None) -> Section:
    """`{label, text, ...}` of a member of a view; without a value `absent` beside it tells the reason."""
    found = Section(label=name)
    text = text_of(value)
    if text is None:
        found["text"] = None
        found["absent"] = {"text": str(reason or Reason.NOT_COLLECTED.value)}
    else:
        found["text"] = text
    about = value if isinstance(value, Mapping) else {}
    for member in ("at", "evidence_path"):
        if isinstance(about.get(member), str | list):
            found[member] = about[member]
    return Section(found | ({"note": note} if note else {}))
