"""The proof behind promote-and-verify and verify: hashes, both replays, parity with the bundle, evals."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from keepa_cli.cassettes.fixture import Fixture, library_file
from keepa_cli.cassettes.library import Library, bundled_root
from keepa_cli.cassettes.names import split_file_name
from keepa_cli.cassettes.promote import writing
from keepa_cli.cassettes.verify import Report, promoted, verify_root
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import pending_commit, read_bytes
from keepa_cli.ops import _cassettes_files as files

Evals = Callable[[], Mapping[str, Any]]


def checker(ctx: Context, evals: Evals | None) -> Callable[[Path, Sequence[Fixture]], dict[str, Any]]:
    """What a promotion is proved with, on the staged copy; it raises when any part of the proof fails."""

    def check(staged: Path, fixtures: Sequence[Fixture]) -> dict[str, Any]:
        report = verify_root(staged, files.redactor(ctx), names=[f.name for f in fixtures])
        report.raise_for_problems()
        target = files.library(ctx).first_writable()
        parity = _parity(ctx, target, staged, fixtures)
        checks = sorted({check for one in report.files for check in one.passed})
        found: dict[str, Any] = {"checks": checks, "files": len(report.files), "parity": parity, "live_calls": 0}
        return found | {"replay": "pass", "vcrpy": "pass", "evals": _evals(ctx, staged, evals)}

    return check


def _parity(ctx: Context, target: Path, staged: Path, fixtures: Sequence[Fixture]) -> str:
    """Whether what is served will be the new fixtures: no earlier library may answer first. The answer says how the
    samples of the installed package compare: they come last, so they never hide a fixture."""
    roots = list(files.library(ctx).roots)
    earlier = roots[: roots.index(target)] if target in roots else []
    for fixture in fixtures:
        for path in (p for root in earlier for p in promoted(root)):
            name, mark = split_file_name(path.name)
            if name == fixture.name or mark == fixture.fingerprint:
                raise _shadowed(fixture, path)
    if _bundle() is None or bundled_root().resolve() == target.resolve():
        return "same_files"
    found = {_compared(library_file(staged, f), library_file(bundled_root(), f)) for f in fixtures}
    return "bundle_differs" if "differs" in found else "equal" if found == {"equal"} else "not_bundled"


def _bundle() -> Path | None:
    root = bundled_root()
    return root if root.is_dir() else None


def _compared(ours: Path, bundled: Path) -> str:
    if not bundled.is_file():
        return "absent"
    same = hashlib.sha256(read_bytes(ours)).digest() == hashlib.sha256(read_bytes(bundled)).digest()
    return "equal" if same else "differs"


def _check_bundle(report: Report) -> None:
    """Say where a library and the samples of the installed package hold different fixtures of one name."""
    bundle = _bundle()
    if bundle is None or bundle.resolve() == report.root.resolve():
        return
    for one in report.files:
        if _compared(one.path, bundle / one.path.relative_to(report.root)) == "differs":
            message = f"{one.file} differs from the sample of that name in the installed package."
            report.warnings.append({"code": "parity", "message": message})


def _shadowed(fixture: Fixture, path: Path) -> KeepaCliError:
    return KeepaCliError(
        Kind.CASSETTE_INVALID,
        f"{path} comes before the new fixture {fixture.name} and would be served instead of it.",
        details={"check": "parity", "earlier": str(path), "name": fixture.name},
        next_actions=["kc cassettes list"],
    )


def _evals(ctx: Context, staged: Path, evals: Evals | None) -> str:
    if evals is None:
        return "not_run"
    with _in_place(ctx, staged):
        envelope = evals()
    if envelope["ok"]:
        return "pass"
    error = envelope["error"]
    raise KeepaCliError(
        Kind(error["kind"]),
        f"The evals do not pass with the new fixture, so nothing was promoted: {error['message']}",
        details=error["details"],
        next_actions=error["next_actions"],
    )


@contextlib.contextmanager
def _in_place(ctx: Context, staged: Path) -> Iterator[None]:
    """Let this context replay from the staged fixtures first, as it will once they are promoted."""
    before = ctx.services.get(files.LIBRARY)
    ctx.services[files.LIBRARY] = Library([staged, *files.library(ctx).roots])
    try:
        yield
    finally:
        ctx.services.pop(files.LIBRARY, None)
        if before is not None:
            ctx.services[files.LIBRARY] = before


def verified(ctx: Context, names: Sequence[str]) -> dict[str, Any]:
    """Verify the fixtures called `names`, or every library that exists. An interrupted promotion is finished first."""
    roots = [root for root in files.library(ctx).roots if root.is_dir()]
    bare = [split_file_name(n)[0] for n in names]
    for name in bare:
        files.fixture(ctx, name)
    reports = []
    for root in roots:
        if pending_commit(root):
            with contextlib.suppress(KeepaCliError), writing(root):
                pass
        reports.append(verify_root(root, files.redactor(ctx), names=bare))
        _check_bundle(reports[-1])
    _raise(reports)
    rows = [f.as_dict() | {"root": str(r.root)} for r in reports for f in r.files]
    warnings = [w for r in reports for w in r.warnings]
    return {"files": rows, "verified": len(rows), "roots": [str(r) for r in roots], "warnings": warnings}


def _raise(reports: Sequence[Report]) -> None:
    for report in reports:
        report.raise_for_problems()
