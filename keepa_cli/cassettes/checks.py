"""The checks of one promoted fixture against its name, its evidence, its contract and its manifest row."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keepa_cli.cassettes import evidence
from keepa_cli.cassettes.contracts import ERROR_ANSWER, check_exchange
from keepa_cli.cassettes.evidence import Manifest
from keepa_cli.cassettes.fingerprint import fingerprint
from keepa_cli.cassettes.fixture import endpoint_of
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.names import split_file_name
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.files import read_bytes
from keepa_cli.core.redact import Redactor


@dataclass
class FileReport:
    """The checks of one file. A check that was not reached because an earlier one failed is absent from `passed`."""

    file: str
    path: Path
    passed: list[str] = field(default_factory=list)
    problems: list[dict[str, str]] = field(default_factory=list)

    def problem(self, check: str, message: str) -> None:
        self.problems.append({"check": check, "message": message})

    def as_dict(self) -> dict[str, Any]:
        return {"file": self.file, "ok": not self.problems, "passed": self.passed, "problems": self.problems}


def check_file(one: FileReport, manifest: Manifest, redactor: Redactor) -> list[Exchange]:
    """All checks that need one file only; the exchanges when it could be read."""
    from keepa_cli.cassettes.codec import parse_cassette
    from keepa_cli.cassettes.scan import scan_bytes

    try:
        data = read_bytes(one.path)
        exchanges = parse_cassette(data, one.file)
    except KeepaCliError as error:
        one.problem("readable", error.message)
        return []
    one.passed.append("readable")
    digest, size = hashlib.sha256(data).hexdigest(), len(data)
    findings = scan_bytes(data, one.file, redactor)
    for finding in findings[:20]:
        one.problem("scan", f"rule {finding.rule} at {finding.location}")
    del data
    note_pass(one, "scan", not findings)
    _check_identity(one, exchanges)
    _check_evidence(one, exchanges, digest, size)
    _check_contract(one, exchanges)
    _check_row(one, manifest, digest, size)
    return exchanges


def note_pass(one: FileReport, check: str, ok: bool) -> None:
    if ok:
        one.passed.append(check)


def _check_identity(one: FileReport, exchanges: Sequence[Exchange]) -> None:
    named = split_file_name(one.path.name)[1]
    found = {fingerprint(e.method, e.url, e.request_body) for e in exchanges}
    if found != {named}:
        other = ", ".join(sorted(found - {named})) or "no interaction"
        one.problem("fingerprint", f"the name says {named} and the content is {other}")
    folders = {endpoint_of(e) for e in exchanges}
    if folders - {one.path.parent.name}:
        one.problem("fingerprint", f"it stands under {one.path.parent.name} and answers {', '.join(sorted(folders))}")
    note_pass(one, "fingerprint", not any(p["check"] == "fingerprint" for p in one.problems))


def _check_evidence(one: FileReport, exchanges: Sequence[Exchange], digest: str, size: int) -> None:
    try:
        proof = evidence.read_sidecar(one.path)
        identity, facts = proof["identity"], proof["interactions"]
        told = {"sha256": identity["sha256"], "bytes": identity["bytes"], "count": identity["interaction_count"]}
        bodies = [(f["status"], f["fingerprint"], f["body_sha256"]) for f in facts]
    except KeepaCliError as error:
        one.problem("evidence", error.message)
        return
    except (KeyError, TypeError):
        one.problem("evidence", "the sidecar lacks fields")
        return
    one.passed.append("evidence")
    if told["sha256"] != digest or told["bytes"] != size:
        one.problem("sha256", f"the evidence names {told['bytes']} bytes with another hash; the file has {size}")
    note_pass(one, "sha256", told["sha256"] == digest and told["bytes"] == size)
    seen = [
        (e.status, fingerprint(e.method, e.url, e.request_body), hashlib.sha256(e.body).hexdigest()) for e in exchanges
    ]
    if told["count"] != len(exchanges) or len(facts) != len(exchanges):
        one.problem("interactions", f"the evidence counts {told['count']} interactions; the file has {len(exchanges)}")
    elif bodies != seen:
        wrong = [i for i, pair in enumerate(zip(bodies, seen, strict=True)) if pair[0] != pair[1]]
        one.problem("interactions", f"interaction {wrong[0]} is not the one that the evidence describes")
    else:
        one.passed.append("interactions")


def _check_contract(one: FileReport, exchanges: Sequence[Exchange]) -> None:
    try:
        verdicts = [check_exchange(e, f"interaction {i}").verdict for i, e in enumerate(exchanges)]
    except KeepaCliError as error:
        one.problem("contract", error.message)
        return
    if not verdicts:
        return
    if verdicts[-1] == ERROR_ANSWER and _told_verdict(one) != ERROR_ANSWER:
        one.problem("contract", "its last answer is an error, and the evidence does not say so")
        return
    one.passed.append("contract")


def _told_verdict(one: FileReport) -> str | None:
    try:
        verdict = evidence.read_sidecar(one.path)["contract"]["verdict"]
    except (KeepaCliError, KeyError, TypeError):
        return None
    return str(verdict)


def _check_row(one: FileReport, manifest: Manifest, digest: str, size: int) -> None:
    row = manifest.get(one.file)
    if row is None:
        one.problem("manifest", "evidence/manifest.csv has no row for it")
        return
    expected = {
        "sha256": digest,
        "size_bytes": str(size),
        "endpoint": one.path.parent.name,
        "fingerprint": split_file_name(one.path.name)[1] or "",
    }
    wrong = [column for column, value in expected.items() if row[column] != evidence.cell(value)]
    if wrong:
        one.problem("manifest", f"its row disagrees in {', '.join(wrong)}")
    note_pass(one, "manifest", not wrong)
