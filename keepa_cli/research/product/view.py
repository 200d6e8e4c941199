"""A product view: the sections that its profile names, in order, within its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keepa_cli.core.errors import invalid
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.strictjson import dump_json
from keepa_cli.research.facts import ABSENT
from keepa_cli.research.needs import Planner
from keepa_cli.research.product.look import HISTORY_LIMIT, WINDOWS, Look
from keepa_cli.research.product.profiles import (
    ALL,
    CUT_FIRST,
    LIMITS,
    PROFILES,
    SECTIONS,
    UNUSABLE,
    Pick,
    Profile,
    picked,
)
from keepa_cli.research.subject import Subject, subjects

TRUNCATED = "truncated"
"""The member of a view that names what was left out to stay within the size of its profile."""
NO_DATA: Mapping[str, str] = {
    "unaccessible": "Keepa has no data of this ASIN: Amazon does not let it be read.",
    "invalid": "Keepa has no data of this ASIN: it is unknown or wrong.",
}


def products_view(
    body: Any,
    domain: Domain,
    params: Mapping[str, Any],
    plan: Planner,
    profile: str,
    *,
    fields: Sequence[str] = (),
    history_limit: int = HISTORY_LIMIT,
    windows: Sequence[int] = WINDOWS,
) -> Iterator[dict[str, Any]]:
    """The view of every product of a /product answer, in order, one at a time."""
    for subject in subjects(body, domain, params):
        yield product_view(subject, plan, profile, fields=fields, history_limit=history_limit, windows=windows)


def product_view(
    subject: Subject,
    plan: Planner,
    profile: str,
    *,
    fields: Sequence[str] = (),
    history_limit: int = HISTORY_LIMIT,
    windows: Sequence[int] = WINDOWS,
) -> dict[str, Any]:
    """One product. `fields` names the sections instead of the profile, which then sets no limit of size."""
    wanted: Mapping[str, Pick] = dict.fromkeys(fields, ALL) if fields else PROFILES[profile]
    whole = bool(fields) or profile == Profile.AUDIT
    look = Look(subject, plan, profile, tuple(windows), history_limit, whole, wanted if subject.usable else UNUSABLE)
    if not subject.usable:
        return _unusable(look)
    view = {name: picked(look.section(name), wanted[name]) for name in SECTIONS if name in wanted}
    limit = None if fields else LIMITS.get(profile)
    return view if limit is None else fitted(view, limit, CUT_FIRST[profile])


def _unusable(look: Look) -> dict[str, Any]:
    """Of an ASIN without data there is nothing to say but that."""
    subject = look.subject
    shown = {name: picked(look.section(name), pick) for name, pick in UNUSABLE.items()}
    shown["data_quality"] = {
        "usable": False,
        "message": NO_DATA.get(subject.kind or "", NO_DATA["invalid"]),
        "evidence_path": subject.at("productType"),
    }
    return {name: shown[name] for name in SECTIONS if name in shown}


def section_name(value: Any) -> str:
    """The name of a section as given with --fields. Raises `invalid_arguments` with the nearest name."""
    name = str(value).strip().lower().replace("-", "_")
    if name in SECTIONS:
        return name
    import difflib

    close = difflib.get_close_matches(name, SECTIONS, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    shown = str(value)[:60]
    raise invalid(f"There is no section {shown!r}.{hint}", field="fields", value=shown, allowed=list(SECTIONS))


def size(value: Any) -> int:
    """Bytes of compact JSON."""
    return len(dump_json(value).encode())


def fitted(view: dict[str, Any], limit: int, order: Sequence[str]) -> dict[str, Any]:
    """The view within `limit` bytes: whole facts are left out in `order`, and named. The title is cut last."""
    total = size(view)
    if total <= limit:
        return view
    cut: list[str] = []
    for step in order:
        path, _, kept = step.partition("[")
        names = (path.partition(".")[0], TRUNCATED)
        before = _size_of(view, names)
        if _cut(view, path.split("."), _slice(kept)):
            cut = [done for done in cut if done != path and not done.startswith(path + ".")] + [path]
            view[TRUNCATED] = cut
            total += _size_of(view, names) - before
        if total <= limit and (total := size(view)) <= limit:
            return view
    _shorten(view, limit)
    return view


def _size_of(view: Mapping[str, Any], names: Sequence[str]) -> int:
    """What some members add to the size of a view: to measure the whole after each cut would take too long."""
    return sum(len(name) + 4 + size(view[name]) for name in names if name in view)


def _slice(text: str) -> slice | None:
    """`:3]` or `-3:]`: what is kept of a list; None where nothing is."""
    if not text:
        return None
    start, _, end = text.rstrip("]").partition(":")
    return slice(int(start) if start else None, int(end) if end else None)


def _cut(value: dict[str, Any], steps: list[str], kept: slice | None) -> bool:
    """Leave out what `steps` lead to, its reason too, or all but a slice of it; False where that changes nothing."""
    name, *rest = steps
    if name == "*":
        return sum(_cut(value, [member, *rest], kept) for member in list(value)) > 0
    inner = value.get(name)
    if rest:
        if not isinstance(inner, Mapping):
            return False
        value[name] = copied = dict(inner)
        return _cut(copied, rest, kept)
    if kept is not None:
        if not isinstance(inner, list) or len(inner[kept]) == len(inner):
            return False
        value[name] = inner[kept]
        return True
    return _drop(value, name)


def _drop(value: dict[str, Any], name: str) -> bool:
    if name not in value:
        return False
    del value[name]
    if name in value.get(ABSENT, {}):
        value[ABSENT] = {k: v for k, v in value[ABSENT].items() if k != name}
        if not value[ABSENT]:
            del value[ABSENT]
    return True


def _shorten(view: dict[str, Any], limit: int) -> None:
    identity = view.get("identity")
    title = identity.get("title") if isinstance(identity, Mapping) else None
    if isinstance(identity, Mapping) and isinstance(title, str):
        view[TRUNCATED] = [*view.get(TRUNCATED, []), "identity.title"]
        surplus = size(view) - limit
        view["identity"] = {**identity, "title": title[: max(len(title) - surplus, 10)]}
