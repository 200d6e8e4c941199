"""Pages for readers: commands in them exist, links lead somewhere, both READMEs say the same."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from keepa_cli.evals import load_file
from tests.conftest import REPO
from tests.house.commands import resolve
from tests.house.source import text, tracked

PAGES = [n for n in tracked() if n.endswith(".md") and not n.startswith("tests/")]
FENCE = re.compile(r"^```(?:console|bash|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


def typed(page: str) -> Iterator[str]:
    """The lines of a page that a reader types: `$ `-lines of consoles, whole shell blocks, `kc ...` in code spans."""
    for block in FENCE.findall(text(page)):
        console = any(line.startswith("$ ") for line in block.splitlines())
        for line in block.replace("\\\n", " ").splitlines():
            if not console or line.startswith("$ "):
                yield line.removeprefix("$ ").partition(" #")[0].strip()
    yield from re.findall(r"(?<!`)`((?:kc|keepa-cli) [^`]+)`(?!`)", text(page))


def commands(page: str) -> Iterator[list[str]]:
    for line in typed(page):
        for part in re.split(r"\s(?:&&|\|\|?|;)\s", line):
            words = shlex.split(part)
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words.pop(0)
            if words[:1] in (["kc"], ["keepa-cli"]):
                yield words[1:]


@pytest.mark.parametrize("page", PAGES)
def test_commands_exist(page: str) -> None:
    for words in commands(page):
        until = words[: words.index(">")] if ">" in words else words
        ctx, rest = resolve([w for w in until if w != "..."])
        known = {o for p in ctx.command.params for o in (*p.opts, *p.secondary_opts)} | {"--help", "-h"}
        known |= {o for parent in _parents(ctx) for p in parent.command.params for o in p.opts}
        unknown = [w for w in rest if w.startswith("--") and w.partition("=")[0] not in known]
        assert not unknown, f"{page}: kc {' '.join(words)}"


def _parents(ctx: click.Context) -> Iterator[click.Context]:
    while ctx.parent:
        ctx = ctx.parent
        yield ctx


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    folder = (REPO / page).parent
    for target in LINK.findall(text(page)):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            continue
        file, _, anchor = target.partition("#")
        assert (folder / file).exists(), f"{page}: {target}"
        assert not anchor or anchor in _anchors(folder / file), f"{page}: {target}"


def _anchors(path: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", t.lower()).strip().replace(" ", "-") for t in titles}


def test_both_readmes_show_the_same_commands() -> None:
    assert list(commands("README.md")) == list(commands("README.zh-CN.md"))


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_the_first_screen_has_the_two_commands(page: str) -> None:
    first = "\n".join(text(page).splitlines()[:40])
    assert "python scripts/dev.py demo" in first
    assert "python scripts/dev.py test" in first


def test_dev_commands_in_pages_exist() -> None:
    given = {m for page in PAGES for m in re.findall(r"scripts/dev\.py ([a-z]+)", text(page))}
    assert given <= {"demo", "test", "check", "gates", "docs", "bench"}


BLOCKS = [
    (page, number, block)
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", text(page), re.DOTALL | re.MULTILINE), 1)
]


@pytest.mark.parametrize(("page", "number", "block"), BLOCKS, ids=[f"{page}-{n}" for page, n, _ in BLOCKS])
def test_python_in_pages_works(page: str, number: int, block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPO)
    names: dict[str, Any] = {}
    exec(compile(block, f"{page}, block {number}", "exec"), names)
    for name, test in list(names.items()):
        if name.startswith("test_"):
            test()
    if "answer" in names:
        assert names["answer"].status_code == 200


def test_the_example_evals_of_the_page_are_evals(tmp_path: Path) -> None:
    blocks = re.findall(r"^```json\n(.*?)^```", text("docs/testing.md"), re.DOTALL | re.MULTILINE)
    found = []
    for number, block in enumerate(blocks):
        (tmp_path / f"{number}.json").write_text(block, encoding="utf-8")
        found.append(load_file(tmp_path / f"{number}.json").id)
    assert found == ["unknown-marketplace", "second-call-is-a-hit"]
