"""Checks that state what a command must answer, kept as JSON files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.registry import Param, operation
from keepa_cli.evals import Eval, Verdict, find_files, load_file, run_eval, run_exchanges
from keepa_cli.ops import find
from keepa_cli.ops._names import EVALS_RUN

SERVERS_AT_ONCE = 4
PACKAGE = Path(__file__).parents[1]
Targets = Annotated[
    list[str],
    Param(
        "Eval files, folders of them, or ids; all evals when left out.",
        metavar="FILE_OR_ID",
        position=True,
        examples=("tests/evals/doctor.json", "doctor"),
    ),
]


def eval_root(cwd: Path) -> Path:
    """./tests/evals, else ./evals, else the evals that came with this program."""
    bundled = PACKAGE / "bundled" / "evals"
    places = (cwd / "tests" / "evals", cwd / "evals", bundled, PACKAGE.parent / "tests" / "evals")
    return next((place for place in places if place.is_dir()), bundled)


@operation("evals.list", toolset="curation", examples=("kc evals list", "kc --json evals list"))
def list_evals(ctx: Context, targets: Targets = []) -> dict[str, Any]:  # noqa: B006 - read only
    """List the evals: id, what each one checks, and its file.

    Files that cannot be read as evals are listed with the reason.
    """
    found, broken = _collect(ctx, targets)
    rows = [
        {
            "id": e.id,
            "description": e.description,
            "kind": e.kind,
            "commands": [s.command for s in e.steps] + [x.what for x in e.exchanges],
            "assertions": sum(len(s.assertions) for s in e.steps) + sum(len(x.assertions) for x in e.exchanges),
            "file": str(e.file),
        }
        for e in found
    ]
    return {"evals": rows, "broken": [v.as_dict() for v in broken], "folder": str(eval_root(ctx.cwd))}


@operation(
    EVALS_RUN, toolset="curation", examples=("kc evals run", "kc evals run doctor", "kc evals run my-evals/one.json")
)
def run(ctx: Context, call: Callable[..., Mapping[str, Any]], targets: Targets = []) -> dict[str, Any]:  # noqa: B006
    """Run evals from recordings and report each one; no eval can spend tokens.

    Evals of the kinds mcp_session, http_boundary and stdio_session start this program as a server without a key.
    Ends with an error when one fails or cannot be judged, so that CI notices. Every failure names the path,
    the expected and the actual value.
    """
    found, verdicts = _collect(ctx, targets)
    verdicts += verdicts_of(found, ctx, call)
    if not verdicts:
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            f"There are no eval files in {eval_root(ctx.cwd)}.",
            next_actions=["kc docs read testing"],
        )
    report = _report(verdicts)
    if report["passed"] == len(verdicts):
        return report
    raise _failed(verdicts, report)


def verdicts_of(found: list[Eval], ctx: Context, call: Callable[..., Mapping[str, Any]]) -> list[Verdict]:
    """The verdicts in the order of the evals. Servers run beside each other, commands one after the other."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max(1, min(SERVERS_AT_ONCE, os.cpu_count() or 1))) as pool:
        served = {e.id: pool.submit(verdict_of, e, ctx, call) for e in found if e.exchanges}
        judged = {e.id: verdict_of(e, ctx, call) for e in found if not e.exchanges}
        return [judged[e.id] if e.id in judged else served[e.id].result() for e in found]


def verdict_of(found: Eval, ctx: Context, call: Callable[..., Mapping[str, Any]]) -> Verdict:
    """Run one eval of any kind."""
    if found.exchanges:
        from keepa_cli.ops._eval_servers import opener

        return run_exchanges(found, opener(ctx), ctx.redactor)
    return run_eval(found, guarded(call), ctx.redactor)


def guarded(call: Callable[..., Mapping[str, Any]]) -> Callable[..., Mapping[str, Any]]:
    """`call` for evals: nothing is written or spent; what can be replayed is, whatever mode is configured."""

    def run_command(name: str, params: Mapping[str, Any], flags: Mapping[str, Any]) -> Mapping[str, Any]:
        op = find(name)
        if op.effect != "read" and not flags.get("dry_run"):
            raise invalid(f"{name} writes; an eval may only run it with the mode dry-run.", field="mode")
        if name == EVALS_RUN:
            raise invalid("An eval cannot run evals.", field="command", value=name)
        chosen = dict(flags) or ({"replay": True} if op.remote else {})
        return call(name, params, flags=chosen)

    return run_command


def _collect(ctx: Context, targets: list[str]) -> tuple[list[Eval], list[Verdict]]:
    """The chosen evals, and an error verdict for each file that is none. Raises for a target that is not there."""
    everything = find_files(eval_root(ctx.cwd))
    files: list[Path] = []
    ids: list[str] = []
    for target in targets:
        path = ctx.cwd / target
        if path.is_dir():
            files += find_files(path)
        elif path.is_file():
            files.append(path)
        else:
            ids.append(target)
    found, broken = _load(files if targets else everything)
    if ids:
        named, _ = _load(everything)
        found += [_by_id(named, wanted) for wanted in ids]
    return found, broken


def _load(files: list[Path]) -> tuple[list[Eval], list[Verdict]]:
    found: dict[str, Eval] = {}
    broken: list[Verdict] = []
    for file in dict.fromkeys(files):
        try:
            one = load_file(file)
        except KeepaCliError as error:
            broken.append(Verdict(file.stem, "error", str(file), message=error.message))
            continue
        if one.id in found:
            message = f"{file.name}: the id {one.id!r} belongs to {found[one.id].file.name} already"
            broken.append(Verdict(one.id, "error", str(file), message=message))
        else:
            found[one.id] = one
    return list(found.values()), broken


def _by_id(known: list[Eval], wanted: str) -> Eval:
    for one in known:
        if one.id == wanted:
            return one
    raise invalid(
        f"{wanted!r} is neither a file, a folder nor the id of an eval.",
        field="targets",
        value=wanted,
        allowed=[e.id for e in known],
    )


def _report(verdicts: list[Verdict]) -> dict[str, Any]:
    counts = {s: sum(v.status == s for v in verdicts) for s in ("passed", "failed", "error")}
    return {
        "passed": counts["passed"],
        "failed": counts["failed"],
        "errors": counts["error"],
        "assertions": sum(v.checked for v in verdicts),
        "evals": [v.as_dict() for v in verdicts],
    }


def _failed(verdicts: list[Verdict], report: dict[str, Any]) -> KeepaCliError:
    bad = [v for v in verdicts if v.status != "passed"]
    first = bad[0].message or bad[0].failures[0].sentence()
    only_errors = not report["failed"]
    return KeepaCliError(
        Kind.INVALID_ARGUMENTS if only_errors else Kind.CONTRACT_ERROR,
        f"{len(bad)} of {len(verdicts)} evals did not pass. {bad[0].id}: {first}",
        details={**report, "evals": [v.as_dict() for v in bad]},
        next_actions=[f"kc evals run {bad[0].id}"],
    )
