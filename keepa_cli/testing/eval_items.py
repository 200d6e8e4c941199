"""Eval files as pytest items."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.engine import Options
from keepa_cli.engine.calling import caller
from keepa_cli.evals import Eval, Verdict, load_file
from keepa_cli.ops import find
from keepa_cli.ops.evals import verdict_of


class EvalFailed(Exception):
    """Carries the verdict to the report."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(describe(verdict))


class EvalFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        try:
            found: Eval | str = load_file(self.path)
        except KeepaCliError as error:
            found = error.message
        name = found.id if isinstance(found, Eval) else self.path.stem
        yield EvalItem.from_parent(self, name=name, found=found)


class EvalItem(pytest.Item):
    """One eval; `found` is the reason when its file could not be read, which is a failure."""

    def __init__(self, *, found: Eval | str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.found = found

    def runtest(self) -> None:
        if isinstance(self.found, str):
            raise EvalFailed(Verdict(self.name, "error", str(self.path), message=self.found))
        ctx = Context(env=dict(os.environ), cwd=self.config.rootpath)
        verdict = verdict_of(self.found, ctx, caller(ctx, Options(find=find)))
        if verdict.status != "passed":
            raise EvalFailed(verdict)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, EvalFailed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"eval {self.name}"


def describe(verdict: Verdict) -> str:
    """Every failed assertion with its path, the expected and the actual value, one below the other."""
    if verdict.message:
        return f"eval {verdict.id}: {verdict.message}"
    lines = [f"eval {verdict.id}: {len(verdict.failures)} of {verdict.checked} assertions do not hold"]
    for f in verdict.failures:
        place = f"step {f.step}, {f.command}: " if f.step else ""
        lines += [f"  {place}{f.path}", f"    expected: {f.check} {f.expected}", f"    actual:   {f.actual}"]
        lines += [f"    note:     {f.note}"] if f.note else []
    return "\n".join(lines)
