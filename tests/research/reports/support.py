"""Reports made from bodies in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.reports.build import Input, Read, build, read
from tests.research.product.made import plan

HOSTILE = (
    "</script><script>alert(1)</script> \"onload='x' --><img src=x onerror=alert(1)> "
    "[a](javascript:alert(1)) | # x\n| y \u202e\u0007 ]]> &amp; http://evil.example www.evil.example"
)


def found(*data: Any, origin: str = "unknown") -> Read:
    inputs = [Input(f"in{i}.json", "file", one, f"{i:064x}", origin) for i, one in enumerate(data)]
    return read(inputs, DOMAINS[1], plan())


def report(*data: Any, origin: str = "unknown", title: str = "Report") -> dict[str, Any]:
    return build(found(*data, origin=origin), title, DOMAINS[1], plan(), dict)


def facts(card: Mapping[str, Any]) -> dict[str, str | None]:
    """All facts of a card by their labels."""
    return {f["label"]: f["text"] for f in [*card["key_facts"], *(f for g in card["groups"] for f in g["facts"])]}
