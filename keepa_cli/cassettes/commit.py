"""The last step of a promotion: evidence beside the staged cassettes, then one transaction for all files."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from keepa_cli import __version__
from keepa_cli.cassettes import evidence, relayout
from keepa_cli.cassettes.diff import compare_exchanges
from keepa_cli.cassettes.evidence import Manifest
from keepa_cli.cassettes.fixture import Fixture, library_file, sidecar
from keepa_cli.cassettes.importers import Imported
from keepa_cli.cassettes.model import Exchange
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.files import Transaction, read_bytes, write_atomic

_CHUNK = 1 << 20
NOT_RUN = "not_run"


@dataclass
class Batch:
    """Everything one promotion is about to commit. `old` maps names to the files they have now."""

    fixtures: Sequence[Fixture]
    found: Imported
    name: str
    root: Path
    staged: Path
    moment: datetime
    old: Mapping[str, Sequence[Path]]
    differences: Mapping[str, dict[str, Any]]
    verification: dict[str, Any] = field(default_factory=dict)


def difference(old: Sequence[Path], new: Sequence[Exchange]) -> dict[str, Any]:
    """How a fixture's new answers differ from the promoted ones."""
    from keepa_cli.cassettes.codec import load_cassette

    try:
        before = [exchange for path in old for exchange in load_cassette(path)[0]]
    except KeepaCliError as error:
        return {"verdict": "unreadable", "problem": error.message}
    return compare_exchanges(before, new)


def write_evidence(batch: Batch) -> None:
    """Stage the sidecars, the manifest and the promotion record."""
    manifest = Manifest.read(evidence.manifest_path(batch.root))
    proof = evidence.evidence_root(batch.staged)
    circumstances = _circumstances(batch, manifest)
    for fixture in batch.fixtures:
        path = evidence.sidecar_path(library_file(batch.staged, fixture))
        write_atomic(path, evidence.dump_json(sidecar(fixture, batch.root.name, circumstances)), mode=0o600)
        for old in batch.old[fixture.name]:
            manifest.drop(evidence.logical_path(old, batch.root))
        manifest.put(_row(fixture, batch))
    table = manifest.dump()
    write_atomic(proof / "manifest.csv", table, mode=0o600)
    record = _record(batch, circumstances, hashlib.sha256(table).hexdigest())
    write_atomic(proof / "promotions" / _record_name(batch), evidence.dump_json(record), mode=0o600)


def commit(batch: Batch) -> Path:
    """Copy the staged files to their places in one transaction; returns the promotion record."""
    proof, staged_proof = evidence.evidence_root(batch.root), evidence.evidence_root(batch.staged)
    work = Transaction(batch.root)
    kept = set()
    for fixture in batch.fixtures:
        path, source = library_file(batch.root, fixture), library_file(batch.staged, fixture)
        kept.add(path)
        work.add(path, _chunks(source))
        work.add(evidence.sidecar_path(path), _chunks(evidence.sidecar_path(source)))
    for path in (p for paths in batch.old.values() for p in paths if p not in kept):
        work.remove(path)
        work.remove(evidence.sidecar_path(path))
    record = Path("promotions", _record_name(batch))
    work.add(proof / record, _chunks(staged_proof / record))
    work.add(proof / "manifest.csv", _chunks(staged_proof / "manifest.csv"))
    work.commit()
    return proof / record


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as source:
        while chunk := source.read(_CHUNK):
            yield chunk


def _record_name(batch: Batch) -> str:
    return f"{evidence.stamp(batch.moment)}-{batch.name}.json"


def _row(fixture: Fixture, batch: Batch) -> dict[str, Any]:
    statuses = "+".join(str(f["status"]) for f in fixture.facts[:5]) + ("+..." if len(fixture.facts) > 5 else "")
    tokens = fixture.tokens_consumed
    return {
        "logical_path": evidence.logical_path(library_file(batch.root, fixture), batch.root),
        "title": f"{fixture.name}: {fixture.request_line()}",
        "status": "promoted",
        "updated_at": evidence.utc(batch.moment),
        "summary": f"{len(fixture.facts)} answer(s), HTTP {statuses}, origin {batch.found.origin}",
        "sha256": fixture.sha256,
        "size_bytes": fixture.size,
        "endpoint": fixture.endpoint,
        "fingerprint": fixture.fingerprint,
        "source_cassette": batch.found.file,
        "recorded_at": fixture.recorded_at,
        "tokens_consumed": tokens,
        "sanitizer_version": _sanitizer_version(),
        "schema_verdict": fixture.verdict,
        "eval_verdict": batch.verification.get("evals", NOT_RUN),
    }


def _sanitizer_version() -> str:
    from keepa_cli.cassettes.sanitize import SANITIZER_VERSION

    return SANITIZER_VERSION


def _circumstances(batch: Batch, manifest: Manifest) -> dict[str, Any]:
    return {
        "meta": batch.found.meta,
        "parent_manifest_sha256": manifest.parent_sha256,
        "tools": tools(),
        "redaction": _redaction(batch.found.meta),
        "verification": batch.verification or {"replay": NOT_RUN, "evals": NOT_RUN},
        "promotion": {
            "promoted_at": evidence.utc(batch.moment),
            "source": batch.found.file,
            "source_kind": batch.found.kind,
            "source_sha256": batch.found.sha256,
            "origin": batch.found.origin,
            "recorder": _plain(batch.found.meta.get("versions")),
            "git_commit": git_commit(batch.root),
        },
    }


def _redaction(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The rules that were applied, and what was taken out before, while it was recorded."""
    from keepa_cli.cassettes.sanitize import KEPT_HEADERS, KEPT_REQUEST_HEADERS
    from keepa_cli.cassettes.scan import RULES
    from keepa_cli.core.redact import encoded_forms

    rules = {
        "sanitizer_version": _sanitizer_version(),
        "kept_headers": sorted(KEPT_HEADERS),
        "kept_request_headers": sorted(KEPT_REQUEST_HEADERS),
        "scan_rules": sorted(RULES),
        "scan_forms": sorted(encoded_forms("0")),
    }
    digest = hashlib.sha256(evidence.dump_json(rules)).hexdigest()
    return {**rules, "ruleset_sha256": digest, "while_recording": _plain(meta.get("redacted"))}


def _plain(value: Any) -> Any:
    """What a recorder noted, as far as it is a flat map of short texts and numbers."""
    if not isinstance(value, dict):
        return None
    short = ((str(k)[:40], v if isinstance(v, int) else str(v)[:40]) for k, v in value.items())
    return dict(sorted(short)[:20])


def _record(batch: Batch, circumstances: Mapping[str, Any], manifest_sha256: str) -> dict[str, Any]:
    fixtures = [
        {
            "logical_path": evidence.logical_path(library_file(batch.root, f), batch.root),
            "sha256": f.sha256,
            "size_bytes": f.size,
            "endpoint": f.endpoint,
            "fingerprint": f.fingerprint,
            "interactions": len(f.facts),
            "contract": f.verdict,
            "replaced": [evidence.logical_path(p, batch.root) for p in batch.old[f.name]],
            "difference": _outline(batch.differences.get(f.name)),
        }
        for f in batch.fixtures
    ]
    return {
        "schema_version": evidence.SCHEMA_VERSION,
        "name": batch.name,
        "fixtures": fixtures,
        "parent_manifest_sha256": circumstances["parent_manifest_sha256"],
        "manifest_sha256": manifest_sha256,
        "promotion": circumstances["promotion"],
        "tools": circumstances["tools"],
        "verification": circumstances["verification"],
        "warnings": [w["code"] for w in batch.found.warnings],
    }


def _outline(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """A difference without values: the verdict and the paths whose shape moved."""
    if found is None or "exchanges" not in found:
        return found
    shapes = [pair["shape"] for pair in found["exchanges"]]
    moved = sorted({row["path"] for shape in shapes for group in shape.values() for row in group})
    return {"verdict": found["verdict"], "breaking": found["breaking"], "paths": moved[:100]}


def tools() -> dict[str, str]:
    """The versions that made a fixture."""
    found = {"keepa-cli": __version__, "python": platform.python_version(), "relayout": str(relayout.VERSION)}
    for package in ("vcrpy", "requests", "urllib3", "PyYAML"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def git_commit(folder: Path) -> str | None:
    """The commit that the checkout around `folder` is at, read without running git; None outside a checkout."""
    for parent in folder.resolve().parents:
        try:
            head = read_bytes(parent / ".git" / "HEAD", limit=4096).decode("ascii").strip()
            if head.startswith("ref: "):
                head = read_bytes(parent / ".git" / head[5:], limit=4096).decode("ascii").strip()
        except (KeepaCliError, UnicodeDecodeError):
            continue
        return head if re.fullmatch(r"[0-9a-f]{40,64}", head) else None
    return None


def shadows(batch: Batch) -> list[dict[str, Any]]:
    """A warning for each new fixture whose request another fixture of the same library answers as well."""
    found = []
    for fixture in batch.fixtures:
        path = library_file(batch.root, fixture)
        others = sorted(p.name for p in path.parent.glob(f"*.{fixture.fingerprint}.yaml") if p != path)
        if others:
            message = f"{path.name} and {', '.join(others[:3])} answer the same request; replay serves one of them."
            found.append({"code": "same_request", "message": message})
    return found
