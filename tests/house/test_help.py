"""Every help page is under snapshot: python scripts/dev.py test tests/house --snapshot-update writes them again."""

from __future__ import annotations

import click
import pytest
from syrupy.assertion import SnapshotAssertion

from tests.house.commands import walk

PAGES = list(walk())


@pytest.mark.parametrize(("path", "ctx"), PAGES, ids=[path for path, _ in PAGES])
def test_help_page(path: str, ctx: click.Context, snapshot: SnapshotAssertion) -> None:
    assert ctx.get_help() == snapshot


def test_the_tree_is_whole() -> None:
    paths = {path for path, _ in PAGES}
    leaves = {"doctor", "capabilities", "demo", "domains list", "config show", "config set-token", "request get"}
    leaves |= {"products get", "products by-code", "products search", "categories get", "categories search"}
    leaves |= {"tokens status", "cassettes promote-and-verify", "cassettes scan", "evals run", "evals list"}
    leaves |= {"sandbox serve", "docs index", "docs read"}
    assert {f"kc {leaf}" for leaf in leaves} <= paths


@pytest.mark.parametrize(("path", "ctx"), PAGES, ids=[path for path, _ in PAGES])
def test_every_option_says_what_it_does(path: str, ctx: click.Context) -> None:
    silent = [p.name for p in ctx.command.get_params(ctx) if isinstance(p, click.Option) and not (p.help or p.hidden)]
    assert not silent
    assert ctx.command.help
