"""Blocks of pages that hold the output of commands.

    <!-- run: kc doctor -->
    (replaced)
    <!-- end -->

Several commands are separated by ` && `; an option in front, as in `<!-- run json: kc --json doctor -->`,
sets the layout: `json` indents the document, `lines=12` shows the first lines only.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from docgen.scratch import Scratch, shape

BLOCK = re.compile(r"<!-- run(?P<options>[^:>]*): (?P<commands>.+?) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)


class BrokenExample(Exception):
    """A command shown in a page does not work."""


def refresh(page: str, scratch: Scratch, *, name: str) -> str:
    """The page with every block written again; a block that differs in figures only keeps its text."""

    def again(found: re.Match[str]) -> str:
        options = found["options"].split()
        body = "".join(_shown(line, options, scratch, name) for line in found["commands"].split(" && "))
        if shape(body) == shape(found["body"]):
            body = found["body"]
        return f"<!-- run{found['options']}: {found['commands']} -->\n{body}<!-- end -->"

    return BLOCK.sub(again, page)


def _shown(line: str, options: list[str], scratch: Scratch, name: str) -> str:
    code, output = scratch.shell(line)
    if code and "fails" not in options:
        raise BrokenExample(f"{name}: `{line}` ended with {code}:\n{output}")
    if not code and "fails" in options:
        raise BrokenExample(f"{name}: `{line}` was expected to fail and did not")
    if "json" in options:
        output = json.dumps(json.loads(output), indent=2, ensure_ascii=False)
    limit = next((int(o.partition("=")[2]) for o in options if o.startswith("lines=")), None)
    lines = output.splitlines()
    if limit and len(lines) > limit:
        output = "\n".join([*lines[:limit], "..."])
    return f"```console\n$ {line}\n{output}\n```\n"


def pages(repo: Path) -> list[Path]:
    """Every page that can hold blocks."""
    return sorted([*repo.glob("*.md"), *(repo / "docs").glob("*.md")])
