"""The pictures of `/graphimage`: their parameters, and whether an answer is one (source: keepa-api.md §5.13)."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from typing import Any

from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.wire import WireResponse

PNG = b"\x89PNG\r\n\x1a\n"
_END = b"IEND\xaeB`\x82"
CHARGE_UNKNOWN = (
    "A picture tells no token figures: it costs 1 token, or nothing when the same picture was asked for within "
    "90 minutes. kc tokens status --live shows the balance."
)

SERIES = ("amazon", "new", "used", "salesrank", "bb", "bbu", "fba", "fbm", "ld", "wd", "pe")
SWITCHES = frozenset({*SERIES, "yzoom", "title", "legend", "subranks", "monthlysold"})
COLOURS = frozenset(
    {f"c{name}" for name in ("Background", "Font", "Amazon", "New", "Used", "Sales", "FBA", "FBM", "BB", "BBU")}
    | {"cLD", "cWD", "cPE"}
)
RANGES: Mapping[str, tuple[int, int]] = {
    "range": (1, 10_000),
    "width": (300, 1800),
    "height": (150, 1800),
    "lw": (1, 10),
}
"""Least and greatest number; the sides of a picture grew to 1800 on 2026-07-28."""
NOT_DRAWN = frozenset({31})
DRAWN = tuple(t.index for t in CSV_TYPES if t.index not in NOT_DRAWN)
"""The price types of the charts: prices and ranks (0-10, 15, 18-30, 32, 33), counts and ratings (the others)."""

_ON, _OFF = frozenset({"1", "true"}), frozenset({"0", "false"})


def colour(value: Any) -> str:
    """Six hexadecimal digits in lower case, as Keepa wants them: without the #. ValueError for anything else."""
    text = str(value).strip().removeprefix("#").lower()
    if not re.fullmatch(r"[0-9a-f]{6}", text):
        raise ValueError(f"{str(value)[:40]!r} is no colour: write six hexadecimal digits such as ff8800")
    return text


def switch(value: Any) -> bool:
    """0 or 1. ValueError for anything else."""
    text = str(value).strip().lower()
    if text not in _ON | _OFF:
        raise ValueError(f"{str(value)[:40]!r} is neither 0 nor 1")
    return text in _ON


def types(value: Any) -> list[int]:
    """Indexes of price types, comma-joined. ValueError names the first that no chart draws."""
    numbers = value if isinstance(value, list) else str(value).split(",")
    found = [int(n) if re.fullmatch(r"\d{1,3}", str(n).strip()) else -1 for n in numbers]
    for given, index in zip(numbers, found, strict=True):
        if index not in DRAWN:
            raise ValueError(f"{str(given)[:40]!r} is no price type that a chart draws: 0-30 and 32-35 are")
    return list(dict.fromkeys(found))


def number(name: str, value: Any) -> int | float:
    """A number in the range of the parameter `name`. ValueError for anything else."""
    least, most = RANGES[name]
    text = str(value).strip()
    pattern = r"\d{1,6}(\.\d{1,3})?" if name == "lw" else r"\d{1,6}"
    found = float(text) if re.fullmatch(pattern, text) else -1.0
    if not least <= found <= most:
        raise ValueError(f"{text[:40]!r} is not within {least}-{most}")
    return int(found) if found.is_integer() else found


def query(given: Mapping[str, Any], extra: Mapping[str, str]) -> dict[str, Any]:
    """The wire parameters: those `given` by their wire names, checked, and `extra` ones as they are.

    An extra one that is known is checked as well. Raises `invalid_arguments`.
    """
    doubled = next((name for name in extra if given.get(name) is not None), None)
    if doubled:
        raise invalid(f"{doubled} is given twice.", field=doubled, value=extra[doubled])
    found: dict[str, Any] = {}
    for name, value in {**given, **extra}.items():
        if value is not None:
            found[name] = _checked(name, value)
    return found


def _checked(name: str, value: Any) -> Any:
    check = _check_of(name)
    if check is None:
        return value
    try:
        return check(value)
    except ValueError as error:
        raise invalid(f"{name}: {error}.", field=name, value=value, allowed=_allowed(name)) from None


def _check_of(name: str) -> Callable[[Any], Any] | None:
    if name in SWITCHES:
        return switch
    if name in COLOURS:
        return colour
    if name in RANGES:
        return lambda value: number(name, value)
    return types if name == "types" else None


def _allowed(name: str) -> Any:
    if name in RANGES:
        return "{}-{}".format(*RANGES[name])
    if name == "types":
        return list(DRAWN)
    return [0, 1] if name in SWITCHES else "six hexadecimal digits"


def is_png(data: bytes) -> bool:
    return data.startswith(PNG)


def is_picture(response: WireResponse) -> bool:
    """Whether the answer is a picture; errors come as JSON, from gateways as pages, all under status 200 too."""
    return response.status == 200 and is_png(response.body)


def no_picture(response: WireResponse) -> KeepaCliError:
    """The error of a JSON answer that reports none: the picture is missing."""
    spent = response.source.kind in {"live", "record"}
    return KeepaCliError(
        Kind.CONTRACT_ERROR,
        f"The answer (HTTP {response.status}) holds JSON instead of a PNG picture; nothing was written.",
        details={"http_status": response.status, "charged": "unknown" if spent else "no"},
        next_actions=["kc tokens status --live"] if spent else [],
    )


def size(data: bytes) -> tuple[int, int] | None:
    """Width and height of a PNG picture; None where its head is missing."""
    if not is_png(data) or data[12:16] != b"IHDR" or len(data) < 24:
        return None
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def damage(data: bytes) -> str | None:
    """What is wrong with a PNG picture, as a sentence; None when its head and its end are there."""
    if size(data) is None:
        return "The picture has the signature of a PNG but not its head; viewers may refuse it."
    return None if _END in data[-64:] else "The picture ends early: a part of it is missing."
