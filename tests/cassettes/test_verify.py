"""Verification proves a good library, and no single change of any file in it goes unnoticed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from keepa_cli.cassettes import vcr_replay
from keepa_cli.cassettes.codec import dump_cassette, parse_cassette
from keepa_cli.cassettes.evidence import sidecar_path
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.promote import Promotion, promote
from keepa_cli.cassettes.verify import promoted, verify_root
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.redact import Redactor
from tests.cassettes.promoting import BUCKET, TOKEN_URL, cassette, exchange, home_in, product_body, raw

KEY = "k3y" + "Q7wE9rT2yU4iO6pA" * 4


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of two fixtures, one of them a sequence of two answers."""
    folder = tmp_path_factory.mktemp("built")
    home = home_in(folder)
    promote(Promotion(raw(folder / "a.json"), "kettle"), home)
    busy = exchange(BUCKET | {"error": {"message": "slow"}}, TOKEN_URL, 429)
    promote(Promotion(cassette(folder / "b.yaml", busy, exchange(BUCKET, TOKEN_URL)), "tokens"), home)
    return folder


@pytest.fixture
def library(built: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may damage."""
    for path in built.rglob("*"):
        part = path.relative_to(built)
        if part.parts[0] in {"cassettes", "evidence"} and path.is_file():
            (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / part).write_bytes(path.read_bytes())
    return tmp_path / "cassettes"


def kettle(library: Path) -> Path:
    return next(p for p in promoted(library) if p.name.startswith("kettle"))


def tokens(library: Path) -> Path:
    return next(p for p in promoted(library) if p.name.startswith("tokens"))


def edit(path: Path, change: Callable[[bytes], bytes]) -> None:
    before = path.read_bytes()
    after = change(before)
    assert after != before
    path.write_bytes(after)


def rewrite(path: Path, change: Callable[[list[Exchange]], list[Exchange]]) -> None:
    path.write_bytes(b"".join(dump_cassette(change(parse_cassette(path.read_bytes(), "x")))))


def checks(library: Path, *secrets: str) -> set[str]:
    return {p["check"] for p in verify_root(library, Redactor(*secrets)).all_problems}


@pytest.fixture(autouse=True)
def vcr_only_where_it_counts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The replay through plain vcrpy takes a process; tests of other checks do without."""
    if "plain_vcrpy" not in request.node.name:
        monkeypatch.setattr(
            vcr_replay, "replay_with_vcr", lambda jobs: {path: [{"error": "off"}] * len(r) for path, r in jobs.items()}
        )


def damage(library: Path, *secrets: str) -> set[str]:
    return checks(library, *secrets) - {"vcrpy"}


def test_a_good_library_passes_every_check_also_in_plain_vcrpy(library: Path) -> None:
    report = verify_root(library, Redactor(KEY))
    assert report.all_problems == []
    assert not report.warnings
    wanted = {
        "readable", "scan", "fingerprint", "evidence", "sha256", "interactions", "contract", "manifest", "replay",
        "vcrpy",
    }  # fmt: skip
    assert [set(one.passed) for one in report.files] == [wanted, wanted]
    report.raise_for_problems()


def test_plain_vcrpy_disagreeing_is_a_problem(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = vcr_replay.replay_with_vcr

    def bent(jobs: dict[Path, list[dict[str, object]]]) -> dict[Path, list[dict[str, object]]]:
        return {path: [a | {"sha256": "0"} for a in answers] for path, answers in real(jobs).items()}

    monkeypatch.setattr(vcr_replay, "replay_with_vcr", bent)
    assert checks(library) == {"vcrpy"}


def test_plain_vcrpy_gets_requests_of_every_kind_right(tmp_path: Path) -> None:
    odd = "https://api.keepa.com/query?domain=1&selection=%7B%22a%22%3A%5B1%2C2%5D%7D&flag=&x=a%20b+c"
    answers = [
        exchange({"a": 1}, odd),
        exchange({"a": 2}, odd, 429),
        Exchange("POST", "https://api.keepa.com/query?domain=1", {}, b'{"a":1}', 200, "OK", {}, b"\x00\xff\x89"),
        exchange(b"", TOKEN_URL, 204),
        exchange("caf\u00e9 \U0001f600".encode(), TOKEN_URL, 500),
    ]
    path = cassette(tmp_path / "c.yaml", *answers)
    stored = parse_cassette(path.read_bytes(), "c")
    found = vcr_replay.replay_with_vcr({path: [vcr_replay.request_of(e) for e in stored]})
    assert found[path] == [vcr_replay.outcome(e) for e in stored]
    broken = cassette(tmp_path / "broken.yaml", answers[0])
    broken.write_bytes(b"interactions: null\n")
    asked = {broken: [vcr_replay.request_of(stored[0])], path: [vcr_replay.request_of(exchange({}, TOKEN_URL + "/x"))]}
    assert all("error" in answer for many in vcr_replay.replay_with_vcr(asked).values() for answer in many)


@pytest.mark.parametrize("where", ["first byte", "one digit", "last byte", "one byte more"])
def test_no_changed_byte_goes_unnoticed(library: Path, where: str) -> None:
    changes: dict[str, Callable[[bytes], bytes]] = {
        "first byte": lambda b: b"#" + b[1:],
        "one digit": lambda b: b.replace(b'"tokensLeft": 94', b'"tokensLeft": 95'),
        "last byte": lambda b: b[:-1],
        "one byte more": lambda b: b + b"\n",
    }
    edit(kettle(library), changes[where])
    assert damage(library) & {"readable", "sha256"}


def test_a_cassette_cut_at_an_interaction_boundary_is_noticed(library: Path) -> None:
    rewrite(tokens(library), lambda e: e[1:])
    assert "interactions" in damage(library)
    assert "replay" in damage(library)


@pytest.mark.parametrize("content", [b"", b"   \n", b"interactions:\n", b"{}", b"\xff\xfe"])
def test_an_unreadable_cassette_is_a_problem_and_the_others_are_still_checked(library: Path, content: bytes) -> None:
    kettle(library).write_bytes(content)
    report = verify_root(library, Redactor())
    assert "readable" in {p["check"] for p in report.all_problems}
    assert "replay" in next(f for f in report.files if "tokens" in f.file).passed


def test_a_renamed_file_is_noticed(library: Path) -> None:
    path = kettle(library)
    path.rename(path.with_name("kettle.0123456789abcdef.yaml"))
    sidecar_path(path).rename(path.with_name("kettle.0123456789abcdef.evidence.json"))
    assert {"fingerprint", "manifest"} <= damage(library)


def test_a_file_in_another_endpoints_folder_is_noticed(library: Path) -> None:
    path = kettle(library)
    (library / "seller").mkdir()
    for each in (path, sidecar_path(path)):
        each.rename(library / "seller" / each.name)
    assert {"fingerprint", "manifest"} <= damage(library)


def test_a_missing_sidecar_and_a_sidecar_without_its_cassette(library: Path) -> None:
    sidecar_path(kettle(library)).unlink()
    tokens(library).unlink()
    found = {
        (p["check"], Path(p["file"]).name.partition(".")[0]) for p in verify_root(library, Redactor()).all_problems
    }
    assert {("evidence", "kettle"), ("evidence", "tokens"), ("manifest", "tokens")} <= found


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda p: p["identity"].update(sha256="0" * 64), "sha256"),
        (lambda p: p["identity"].update(bytes=1), "sha256"),
        (lambda p: p["identity"].update(interaction_count=9), "interactions"),
        (lambda p: p["interactions"][0].update(body_sha256="0" * 64), "interactions"),
        (lambda p: p["interactions"][0].update(status=500), "interactions"),
        (lambda p: p.pop("identity"), "evidence"),
        (lambda p: p.update(interactions="none"), "evidence"),
        (lambda p: p.update(schema_version=2), "evidence"),
    ],
)
def test_false_evidence_is_noticed(library: Path, change: Callable[[dict[str, object]], object], check: str) -> None:
    path = sidecar_path(kettle(library))
    proof = json.loads(path.read_bytes())
    change(proof)
    path.write_text(json.dumps(proof), encoding="utf-8")
    assert check in damage(library)


@pytest.mark.parametrize("column", ["sha256", "size_bytes", "endpoint", "fingerprint", "logical_path"])
def test_a_false_manifest_row_is_noticed(library: Path, column: str) -> None:
    path = library.parent / "evidence" / "manifest.csv"
    table = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    table[1][table[0].index(column)] += "0"
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(table)
    assert damage(library) <= {"manifest", "record"}
    assert "manifest" in damage(library)


def test_a_missing_manifest_is_noticed(library: Path) -> None:
    (library.parent / "evidence" / "manifest.csv").unlink()
    assert damage(library) == {"manifest"}


def test_a_missing_or_broken_promotion_record_is_noticed(library: Path) -> None:
    one, other = sorted((library.parent / "evidence" / "promotions").iterdir())
    one.unlink()
    assert damage(library) == {"record"}
    other.write_bytes(b"null")
    assert {p["file"] for p in verify_root(library, Redactor()).problems} >= {f"evidence/promotions/{other.name}"}


def test_a_manifest_edited_by_hand_is_said(library: Path) -> None:
    edit(library.parent / "evidence" / "manifest.csv", lambda b: b.replace(b"promoted", b"reviewed"))
    report = verify_root(library, Redactor())
    assert {p["check"] for p in report.all_problems} == {"vcrpy"}
    assert [w["code"] for w in report.warnings] == ["manifest_changed"]


def test_a_secret_is_found_again_and_not_told(library: Path) -> None:
    edit(kettle(library), lambda b: b.replace(b"kettle", KEY.encode()))
    report = verify_root(library, Redactor(KEY))
    assert "scan" in {p["check"] for p in report.all_problems}
    assert KEY not in json.dumps(report.all_problems)


def test_a_body_that_breaks_the_contract_is_noticed(library: Path) -> None:
    edit(kettle(library), lambda b: b.replace(b'"products": [', b'"products": 5, "other": ['))
    assert "contract" in damage(library)


def test_an_answer_that_became_an_error_is_noticed(library: Path) -> None:
    rewrite(tokens(library), lambda e: [e[1], e[0]])
    assert "contract" in damage(library)


def test_a_stray_cassette_is_a_warning_and_a_broken_or_leaking_one_a_problem(library: Path) -> None:
    cassette(library / "mine.yaml", exchange(product_body(asin="B0AAAAAAA9")))
    report = verify_root(library, Redactor(KEY))
    assert {p["check"] for p in report.all_problems} == {"vcrpy"}
    assert [w["code"] for w in report.warnings] == ["unpromoted"]
    (library / "broken.yaml").write_bytes(b"interactions: null\n")
    cassette(library / "leak.yaml", exchange(product_body(title=KEY)))
    assert damage(library, KEY) == {"readable", "scan"}


def test_a_link_in_the_library_is_a_problem(library: Path, tmp_path: Path) -> None:
    try:
        (library / "product" / "x.0123456789abcdef.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    except OSError:
        pytest.skip("links cannot be made here")
    assert damage(library) == {"readable"}


def test_names_narrow_the_check(library: Path) -> None:
    kettle(library).write_bytes(b"")
    assert not [p for p in verify_root(library, Redactor(), names=["tokens"]).all_problems if p["check"] != "vcrpy"]


def test_problems_become_one_typed_error(library: Path) -> None:
    kettle(library).write_bytes(b"")
    with pytest.raises(KeepaCliError) as caught:
        verify_root(library, Redactor()).raise_for_problems()
    assert caught.value.kind is Kind.CASSETTE_INVALID
    assert caught.value.details["count"] == len(caught.value.details["problems"])
