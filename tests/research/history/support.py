"""Bodies for tests of histories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.subject import Subject, subject, subjects

NOW = 8_000_000
BODIES = ("product-B0D8W1YVBX-US-20260510.json", "product-B0D8W1YVBX-US-20260510-stats0.json")


def real(shared_data: Path, file: str = BODIES[0]) -> tuple[Subject, dict[str, Any]]:
    """The subject of a real body, and the body."""
    body = json.loads((shared_data / file).read_text("utf-8"))
    (found,) = subjects(body, DOMAINS[1], {})
    return found, body


def made(domain: int = 1, **product: Any) -> Subject:
    """A product whose answer came at NOW."""
    fields = {"asin": "B000000001", "domainId": domain, "lastUpdate": NOW, **product}
    return subject(fields, "$.products[0]", None, DOMAINS[domain], {})


def slots(**packed: Any) -> list[Any]:
    """A `csv` with some slots filled: slots(s1=[...])."""
    csv: list[Any] = [None] * 36
    for name, value in packed.items():
        csv[int(name[1:])] = value
    return csv
