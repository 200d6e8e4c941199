"""Verify a cassette library: hashes recomputed, files scanned and checked again, every answer replayed twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keepa_cli.cassettes import evidence, vcr_replay
from keepa_cli.cassettes.checks import FileReport, check_file, note_pass
from keepa_cli.cassettes.evidence import Manifest
from keepa_cli.cassettes.fingerprint import query_pairs, request_path
from keepa_cli.cassettes.library import Library
from keepa_cli.cassettes.listing import Entry, Listing
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.names import SIDECAR, split_file_name
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import pending_commit, read_bytes
from keepa_cli.core.redact import Redactor
from keepa_cli.keepa.wire import WireRequest


@dataclass
class Report:
    """The verdict on one library."""

    root: Path
    files: list[FileReport] = field(default_factory=list)
    problems: list[dict[str, str]] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)

    def problem(self, check: str, file: str, message: str) -> None:
        self.problems.append({"check": check, "file": file, "message": message})

    @property
    def all_problems(self) -> list[dict[str, str]]:
        return [*self.problems, *({"file": f.file, **p} for f in self.files for p in f.problems)]

    def raise_for_problems(self) -> None:
        """Raise `cassette_invalid` with every problem, if there is one."""
        found = self.all_problems
        if not found:
            return
        first = found[0]
        more = f" and {len(found) - 1} more problems" if len(found) > 1 else ""
        raise KeepaCliError(
            Kind.CASSETTE_INVALID,
            f"{first['file']} does not verify ({first['check']}): {first['message']}{more}.",
            details={"problems": found[:200], "count": len(found), "root": str(self.root)},
        )


@dataclass(frozen=True)
class Job:
    """What a replay of one file is asked, and what it must answer; no bodies are kept."""

    report: FileReport
    asked: list[WireRequest]
    requests: list[dict[str, Any]]
    expected: list[dict[str, Any]]

    @classmethod
    def of(cls, report: FileReport, exchanges: Sequence[Exchange]) -> Job:
        requests = [vcr_replay.request_of(e) for e in exchanges]
        expected = [vcr_replay.outcome(e) for e in exchanges]
        return cls(report, [wire_request(e) for e in exchanges], requests, expected)


def promoted(root: Path) -> list[Path]:
    """The promoted fixtures of a library, in order; links are left out."""
    return [e.path for e in Listing(root).entries() if e.fingerprint]


def verify_root(
    root: Path,
    redactor: Redactor,
    *,
    names: Iterable[str] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """Verify the fixtures called `names`, or the whole library with its manifest and strays."""
    report = Report(root)
    wanted = set(names)
    manifest = _manifest(root, report)
    library = Library([root])
    jobs: list[Job] = []
    for path in promoted(root):
        if wanted and split_file_name(path.name)[0] not in wanted:
            continue
        progress(path.name)
        one = FileReport(evidence.logical_path(path, root), path)
        report.files.append(one)
        exchanges = check_file(one, manifest, redactor)
        if exchanges:
            jobs.append(Job.of(one, exchanges))
            del exchanges  # the library is about to load the same bodies
            _check_replay(jobs[-1], library, report)
    _check_vcr(jobs)
    if not wanted:
        _check_whole(root, manifest, report, redactor)
    return report


def _manifest(root: Path, report: Report) -> Manifest:
    if pending_commit(root):
        report.problem("commit", root.name, "a promotion is under way or was interrupted and cannot be finished")
    try:
        return Manifest.read(evidence.manifest_path(root))
    except KeepaCliError as error:
        report.problem("manifest", "evidence/manifest.csv", error.message)
        return Manifest()


def _check_replay(job: Job, library: Library, report: Report) -> None:
    """Our library must give the recorded answers in their order, byte for byte, and then keep the last."""
    one, last = job.report, len(job.expected) - 1
    for number in (*range(last + 1), last):
        try:
            hit = library.play(job.asked[number])
        except KeepaCliError as error:
            one.problem("replay", error.message)
            return
        if Path(hit.path).resolve() != one.path.resolve():
            message = f"{one.file}: {Path(hit.path).name} answers the same request and comes first."
            report.warnings.append({"code": "same_request", "message": message})
            return
        if vcr_replay.outcome(hit.exchange) != job.expected[number]:
            one.problem("replay", f"answer {number} differs from the recorded one")
            return
    one.passed.append("replay")


def wire_request(exchange: Exchange) -> WireRequest:
    """The request of an exchange as the client would send it."""
    pairs = tuple(query_pairs(exchange.url))
    return WireRequest(exchange.method, request_path(exchange.url), pairs, exchange.request_body)


def _check_vcr(jobs: Sequence[Job]) -> None:
    found = vcr_replay.replay_with_vcr({job.report.path: job.requests for job in jobs})
    for job in jobs:
        answers = found[job.report.path]
        wrong = [i for i, pair in enumerate(zip(answers, job.expected, strict=True)) if pair[0] != pair[1]]
        if wrong:
            seen = answers[wrong[0]].get("error", "another answer")
            job.report.problem("vcrpy", f"plain vcrpy gives {seen} for interaction {wrong[0]}")
        note_pass(job.report, "vcrpy", not wrong)


def _check_whole(root: Path, manifest: Manifest, report: Report, redactor: Redactor) -> None:
    """What belongs to no single fixture: rows and sidecars without a file, files that were never promoted."""
    known = {f.file for f in report.files}
    for row in manifest:
        if row["logical_path"].startswith(root.name + "/") and row["logical_path"] not in known:
            report.problem("manifest", row["logical_path"], "the manifest has a row and there is no such file")
    _check_records(root, manifest, report)
    listing = Listing(root)
    for entry in listing.foreign:
        _check_stray(entry, report, redactor)
    for relative, why in sorted(listing.skipped.items()):
        report.problem("readable", f"{root.name}/{relative}", f"it is {why}")
    for proof in sorted(root.rglob("*" + SIDECAR)):
        if not proof.with_name(proof.name.removesuffix(SIDECAR) + ".yaml").is_file():
            report.problem("evidence", evidence.logical_path(proof, root), "the cassette that it describes is missing")


def _check_records(root: Path, manifest: Manifest, report: Report) -> None:
    """Each row must be the one that the newest promotion of its path wrote; the newest record names the manifest."""
    newest: dict[str, Any] = {}
    last: dict[str, Any] = {}
    for path in sorted((evidence.evidence_root(root) / "promotions").glob("*.json")):
        try:
            last = json.loads(read_bytes(path))
            newest |= {fixture["logical_path"]: fixture["sha256"] for fixture in last["fixtures"]}
        except (KeepaCliError, ValueError, KeyError, TypeError, RecursionError):
            report.problem("record", f"evidence/promotions/{path.name}", "it is no record of a promotion")
    for row in manifest:
        if row["logical_path"] not in newest:
            report.problem("record", row["logical_path"], "no promotion record names it")
        elif row["sha256"] != newest[row["logical_path"]]:
            report.problem("record", row["logical_path"], "its newest promotion record names another hash")
    if last and last.get("manifest_sha256") != manifest.parent_sha256:
        message = "evidence/manifest.csv was changed after the last promotion (a merge or an edit by hand)."
        report.warnings.append({"code": "manifest_changed", "message": message})


def _check_stray(entry: Entry, report: Report, redactor: Redactor) -> None:
    from keepa_cli.cassettes.codec import parse_cassette
    from keepa_cli.cassettes.scan import scan_bytes

    logical = entry.logical
    try:
        data = read_bytes(entry.path)
        count = len(parse_cassette(data, logical))
    except KeepaCliError as error:
        report.problem("readable", logical, error.message)
        return
    for finding in scan_bytes(data, logical, redactor)[:20]:
        report.problem("scan", logical, f"rule {finding.rule} at {finding.location}")
    message = f"{logical} ({count} interactions) is replayed and was never promoted: there is no evidence of it."
    report.warnings.append({"code": "unpromoted", "message": message})
