"""The command tree as a reader of the help sees it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from keepa_cli.interfaces.cli.app import build


def walk() -> Iterator[tuple[str, click.Context]]:
    """Every command and group with its path, such as `kc products get`, in order."""
    root = build()
    yield from _walk("kc", root, None)


def _walk(path: str, command: click.Command, parent: click.Context | None) -> Iterator[tuple[str, click.Context]]:
    ctx = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent, terminal_width=100)
    yield path, ctx
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            child = command.get_command(ctx, name)
            assert child, f"{path} {name} is listed and cannot be had"
            yield from _walk(f"{path} {name}", child, ctx)


def resolve(words: list[str]) -> tuple[click.Context, list[str]]:
    """The command that `kc WORDS...` runs, and its arguments. KeyError for a word that is no command."""
    by_path = dict(walk())
    path, rest = "kc", list(words)
    while isinstance(by_path[path].command, click.Group) and (word := next((w for w in rest if w[0] != "-"), None)):
        path = f"{path} {word}"
        rest.remove(word)
        if path not in by_path:
            raise KeyError(path)
    return by_path[path], rest
