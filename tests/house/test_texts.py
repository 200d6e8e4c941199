"""Tracked text speaks of the product alone."""

from __future__ import annotations

import re

import pytest

from tests.house.source import text, tracked

SELF = "tests/house/test_texts.py"
BODIES = ("cassettes/", "tests/cases/")
"""Recorded or given data, kept byte for byte."""

FORBIDDEN = {
    "a path of one machine": r"/work/|/root/|/home/(?!user\b|runner\b)[a-z]|/Users/[a-z]|[A-Z]:\\\\Users\\\\[a-z]",
    "a package registry host": r"pypi\.org|pythonhosted\.org|npmjs\.(?:com|org)|deb\.debian\.org",
    "an issue number": r"(?i)\bissues? #?\d+\b|\b(?:fixes|closes) #\d+",
    "who wrote it": r"(?i)co-authored-by|generated (?:by|with) (?:an? )?(?:ai|llm|model|assistant)|\bas an ai\b",
    "unfinished work": r"\b(?:TODO|FIXME|XXX|HACK)\b",
}


@pytest.mark.parametrize("reason", FORBIDDEN)
def test_no_text_names(reason: str) -> None:
    pattern = re.compile(FORBIDDEN[reason])
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name in tracked()
        if name != SELF and not name.startswith(BODIES)
        for number, line in enumerate(text(name).splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found


def test_documents_name_no_temporary_folder() -> None:
    pages = [n for n in tracked() if n.endswith(".md") and not n.startswith(BODIES)]
    assert not [n for n in pages if "/tmp/" in text(n) or "../shared" in text(n)]


def test_agents_page_is_short() -> None:
    assert text("AGENTS.md").count("\n") <= 40
