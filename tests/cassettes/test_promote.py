"""Promotion writes fixture, sidecar, manifest row and record together, or nothing at all."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.cassettes.codec import parse_cassette
from keepa_cli.cassettes.importers import Hints
from keepa_cli.cassettes.library import Library
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.promote import Promotion, promote, writing
from keepa_cli.cassettes.verify import verify_root, wire_request
from keepa_cli.core.errors import KeepaCliError, Kind
from tests.cassettes.promoting import (
    BUCKET,
    PRODUCT_URL,
    TOKEN_URL,
    cassette,
    exchange,
    home_in,
    product_body,
    raw,
    snapshot,
)

KEY = "k3y" + "Q7wE9rT2yU4iO6pA" * 4


def failed(ask: Promotion, home: Any) -> KeepaCliError:
    with pytest.raises(KeepaCliError) as caught:
        promote(ask, home)
    return caught.value


def rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / "evidence" / "manifest.csv").read_text(encoding="utf-8"))))


def test_a_raw_body_becomes_fixture_sidecar_row_and_record(tmp_path: Path) -> None:
    source = raw(tmp_path / "body.json")
    found = promote(Promotion(source, "kettle"), home_in(tmp_path))
    (fixture,) = found["fixtures"]
    path = Path(fixture["path"])
    data = path.read_bytes()
    assert path == tmp_path / "cassettes" / "product" / f"kettle.{fixture['fingerprint']}.yaml"
    assert fixture["sha256"] == hashlib.sha256(data).hexdigest()
    assert fixture["size_bytes"] == len(data)
    assert json.loads(parse_cassette(data, "x")[0].body) == product_body()
    (row,) = rows(tmp_path)
    assert row["logical_path"] == f"cassettes/product/{path.name}"
    assert (row["sha256"], row["size_bytes"]) == (fixture["sha256"], str(len(data)))
    assert (row["status"], row["updated_at"], row["recorded_at"]) == (
        "promoted",
        "2026-11-30T12:00:00Z",
        "2026-05-10T04:19:28Z",
    )
    assert (row["tokens_consumed"], row["schema_verdict"], row["eval_verdict"]) == ("1", "pass", "not_run")
    assert row["source_cassette"] == "body.json"
    record = json.loads(Path(found["evidence"]["record"]).read_bytes())
    table = (tmp_path / "evidence" / "manifest.csv").read_bytes()
    assert record["manifest_sha256"] == hashlib.sha256(table).hexdigest()
    assert record["parent_manifest_sha256"] is None
    assert record["fixtures"][0]["sha256"] == fixture["sha256"]
    assert found["warnings"][0]["code"] == "request_inferred"


def test_the_evidence_names_no_path_of_this_machine_and_has_every_group(tmp_path: Path) -> None:
    found = promote(Promotion(raw(tmp_path / "body.json"), "kettle"), home_in(tmp_path))
    path = Path(found["fixtures"][0]["path"])
    text = path.with_name(path.stem + ".evidence.json").read_text(encoding="utf-8")
    everything = "".join(v.decode() for k, v in snapshot(tmp_path).items() if k.endswith((".json", ".csv")))
    assert str(tmp_path) not in everything
    proof = json.loads(text)
    assert text == json.dumps(proof, sort_keys=True, indent=2) + "\n"
    assert set(proof) == {
        "schema_version", "identity", "interactions", "consumption", "tools", "redaction", "contract", "verification",
        "promotion",
    }  # fmt: skip
    assert proof["identity"]["interaction_count"] == 1
    assert proof["consumption"]["tokens_left_before"] == 95
    assert proof["promotion"]["origin"] == "import"
    assert proof["tools"]["vcrpy"]
    body = parse_cassette(path.read_bytes(), "x")[0].body
    assert proof["interactions"][0]["body_sha256"] == hashlib.sha256(body).hexdigest()
    assert proof["interactions"][0]["body_bytes"] == len(body)


def test_the_manifest_chains_to_the_state_before(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    promote(Promotion(raw(tmp_path / "a.json"), "one"), home)
    before = hashlib.sha256((tmp_path / "evidence" / "manifest.csv").read_bytes()).hexdigest()
    found = promote(Promotion(raw(tmp_path / "b.json", product_body(asin="B0AAAAAAA2")), "two"), home)
    assert json.loads(Path(found["evidence"]["record"]).read_bytes())["parent_manifest_sha256"] == before
    assert len(rows(tmp_path)) == 2


def test_distinct_requests_become_numbered_fixtures_and_repeats_a_sequence(tmp_path: Path) -> None:
    busy = exchange(BUCKET | {"error": {"type": "x", "message": "slow"}}, TOKEN_URL, 429)
    source = cassette(tmp_path / "c.yaml", busy, exchange(), exchange(BUCKET, TOKEN_URL), exchange())
    found = promote(Promotion(source, "mix"), home_in(tmp_path))
    assert [(f["name"], f["endpoint"], f["interactions"]) for f in found["fixtures"]] == [
        ("mix", "token", 2),
        ("mix-2", "product", 2),
    ]
    assert len(rows(tmp_path)) == 2
    assert len(list((tmp_path / "evidence" / "promotions").iterdir())) == 1


def test_every_number_token_survives(tmp_path: Path) -> None:
    body = json.dumps(product_body()).replace('"title": "kettle"', '"a": 1.10, "b": 12345678901234567890123, "a": 1e3')
    source = tmp_path / "body.json"
    source.write_text(body, encoding="utf-8")
    path = Path(promote(Promotion(source, "kettle"), home_in(tmp_path))["fixtures"][0]["path"])
    stored = parse_cassette(path.read_bytes(), "x")[0].body.decode()
    assert "".join(stored.split()) == "".join(body.split())


def test_a_stored_content_length_is_that_of_the_stored_body(tmp_path: Path) -> None:
    wide = json.dumps(product_body(), indent=8).encode()
    source = cassette(tmp_path / "c.yaml", exchange(wide, **{"Content-Length": "9999"}))
    path = Path(promote(Promotion(source, "kettle"), home_in(tmp_path))["fixtures"][0]["path"])
    (stored,) = parse_cassette(path.read_bytes(), "x")
    length = next(v for k, v in stored.headers.items() if k.lower() == "content-length")
    assert length == [str(len(stored.body))]
    assert not verify_root(tmp_path / "cassettes", home_in(tmp_path).redactor).all_problems


class TestKey:
    def test_the_key_is_nowhere_below_any_folder(self, tmp_path: Path) -> None:
        body = product_body(title=f"echo {KEY}")
        source = cassette(tmp_path / "c.yaml", exchange(body, PRODUCT_URL + f"&key={KEY}", Location=f"/x?key={KEY}"))
        promote(Promotion(source, "kettle"), home_in(tmp_path, KEY))
        source.unlink()
        for path in tmp_path.rglob("*"):
            assert KEY not in path.name
            assert not path.is_file() or KEY.encode() not in path.read_bytes()

    def test_a_finding_of_the_final_scan_writes_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The scan is the second line: a sanitizer that misses something must not be the last word."""
        import keepa_cli.cassettes.sanitize as sanitizer

        monkeypatch.setattr(sanitizer, "sanitize", lambda e, _: (e, {}))
        home = home_in(tmp_path, KEY)
        source = cassette(tmp_path / "c.yaml", exchange(product_body(title=KEY)))
        error = failed(Promotion(source, "kettle"), home)
        assert error.kind is Kind.SECRET_DETECTED
        assert KEY not in json.dumps([error.message, error.details])
        assert {"file", "location", "rule", "form"} <= error.details["findings"][0].keys()
        assert failed(Promotion(source, "kettle", dry_run=True), home).kind is Kind.SECRET_DETECTED
        assert snapshot(tmp_path) == {}
        assert not list((tmp_path / "state" / "staging").iterdir())


class TestReplace:
    def test_an_existing_name_needs_consent(self, tmp_path: Path) -> None:
        home = home_in(tmp_path)
        promote(Promotion(raw(tmp_path / "a.json"), "kettle"), home)
        before = snapshot(tmp_path)
        error = failed(Promotion(raw(tmp_path / "b.json", product_body(title="pan")), "kettle"), home)
        assert error.kind is Kind.INVALID_ARGUMENTS
        assert any("--replace" in action for action in error.next_actions)
        assert snapshot(tmp_path) == before

    def test_a_replacement_shows_what_moved(self, tmp_path: Path) -> None:
        home = home_in(tmp_path)
        promote(Promotion(raw(tmp_path / "a.json"), "kettle"), home)
        found = promote(Promotion(raw(tmp_path / "b.json", product_body(title="pan")), "kettle", replace=True), home)
        difference = found["fixtures"][0]["difference"]
        assert difference["verdict"] == "values_moved"
        assert "title" in difference["exchanges"][0]["values"]["changes"][0]["path"]
        assert len(rows(tmp_path)) == 1

    def test_another_request_under_the_name_removes_the_old_file_and_row(self, tmp_path: Path) -> None:
        home = home_in(tmp_path)
        promote(Promotion(raw(tmp_path / "a.json"), "kettle"), home)
        other = Hints(request="/product?domain=1&asin=B0AAAAAAA1&stats=180")
        promote(Promotion(raw(tmp_path / "a.json"), "kettle", replace=True, hints=other), home)
        assert len([k for k in snapshot(tmp_path) if "/kettle." in k and "promotions" not in k]) == 2
        assert len(rows(tmp_path)) == 1
        assert not verify_root(home.root, home.redactor).all_problems

    def test_a_broken_fixture_can_be_replaced(self, tmp_path: Path) -> None:
        home = home_in(tmp_path)
        path = Path(promote(Promotion(raw(tmp_path / "a.json"), "kettle"), home)["fixtures"][0]["path"])
        path.write_bytes(path.read_bytes()[:50])
        found = promote(Promotion(raw(tmp_path / "a.json"), "kettle", replace=True), home)
        assert found["fixtures"][0]["difference"]["verdict"] == "unreadable"
        assert not verify_root(home.root, home.redactor).all_problems


class TestDryRun:
    def test_targets_and_sizes_without_a_write(self, tmp_path: Path) -> None:
        source = raw(tmp_path / "a.json")
        home = home_in(tmp_path)
        shown = promote(Promotion(source, "kettle", dry_run=True), home)
        assert list(tmp_path.iterdir()) == [source]
        done = promote(Promotion(source, "kettle"), home)
        assert shown["would"] == "be written"
        assert shown["size_bytes"] == done["fixtures"][0]["size_bytes"]
        assert shown["targets"][0] == done["fixtures"][0]["path"]
        assert len(shown["targets"]) == 4

    def test_an_existing_fixture_is_announced(self, tmp_path: Path) -> None:
        home = home_in(tmp_path)
        source = raw(tmp_path / "a.json")
        promote(Promotion(source, "kettle"), home)
        assert "--replace" in promote(Promotion(source, "kettle", dry_run=True), home)["would"]
        assert promote(Promotion(source, "kettle", dry_run=True, replace=True), home)["would"] == "be written"


class TestContract:
    @pytest.mark.parametrize(
        ("body", "path"),
        [
            (BUCKET | {"products": "none"}, "$.products"),
            (BUCKET | {"products": [{"domainId": 1}]}, "$.products[0].asin"),
            ([], "$"),
        ],
    )
    def test_a_breach_names_the_place_and_keeps_the_body(self, tmp_path: Path, body: Any, path: str) -> None:
        source = cassette(tmp_path / "c.yaml", exchange(body))
        error = failed(Promotion(source, "kettle"), home_in(tmp_path))
        assert error.kind is Kind.CONTRACT_ERROR
        assert error.details["path"] == path
        assert snapshot(tmp_path) == {}
        kept = Path(error.details["kept_at"])
        assert kept.parent == tmp_path / "state" / "failed"
        assert json.loads(kept.read_bytes()) == body

    def test_a_kept_body_is_sanitized_and_private(self, tmp_path: Path) -> None:
        source = cassette(tmp_path / "c.yaml", exchange({"echo": KEY}))
        error = failed(Promotion(source, "kettle"), home_in(tmp_path, KEY))
        kept = Path(error.details["kept_at"])
        assert KEY.encode() not in kept.read_bytes()
        assert os.name != "posix" or kept.stat().st_mode & 0o077 == 0

    def test_a_dry_run_keeps_nothing(self, tmp_path: Path) -> None:
        source = cassette(tmp_path / "c.yaml", exchange({"no": 1}))
        assert "kept_at" not in failed(Promotion(source, "kettle", dry_run=True), home_in(tmp_path)).details
        assert list(tmp_path.iterdir()) == [source]

    @pytest.mark.parametrize("body", [b"<html>busy</html>", json.dumps({"error": {"message": "no"}}).encode()])
    def test_an_error_as_the_last_answer_needs_consent(self, tmp_path: Path, body: bytes) -> None:
        source = cassette(tmp_path / "c.yaml", exchange(), exchange(body, status=503))
        error = failed(Promotion(source, "kettle"), home_in(tmp_path))
        assert error.kind is Kind.CONTRACT_ERROR
        assert snapshot(tmp_path) == {}
        promote(Promotion(source, "kettle", allow_error=True), home_in(tmp_path))
        assert rows(tmp_path)[0]["schema_verdict"] == "error_answer"
        assert not verify_root(tmp_path / "cassettes", home_in(tmp_path).redactor).all_problems

    def test_an_error_with_status_200_counts_as_one(self, tmp_path: Path) -> None:
        source = cassette(tmp_path / "c.yaml", exchange({"error": {"message": "no"}}))
        assert "--allow-error" in failed(Promotion(source, "kettle"), home_in(tmp_path)).next_actions[0]

    def test_an_endpoint_without_schema_is_accepted_and_said(self, tmp_path: Path) -> None:
        source = cassette(
            tmp_path / "c.yaml", exchange(BUCKET | {"rows": {}}, "https://api.keepa.com/tomorrow?selection={}")
        )
        promote(Promotion(source, "tomorrow"), home_in(tmp_path))
        assert rows(tmp_path)[0]["schema_verdict"] == "no_schema"

    def test_a_picture_is_kept_byte_for_byte(self, tmp_path: Path) -> None:
        png = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
        source = tmp_path / "graph.png"
        source.write_bytes(png)
        ask = Promotion(source, "graph", hints=Hints(request="/graphimage?asin=B0AAAAAAA1&domain=1"))
        path = Path(promote(ask, home_in(tmp_path))["fixtures"][0]["path"])
        assert parse_cassette(path.read_bytes(), "x")[0].body == png

    def test_unknown_fields_are_counted_in_warnings(self, tmp_path: Path) -> None:
        found = promote(Promotion(raw(tmp_path / "a.json", product_body(brandNew=1)), "kettle"), home_in(tmp_path))
        (warning,) = (w for w in found["warnings"] if w["code"] == "unknown_fields")
        assert any("brandNew" in field for field in warning["fields"])


class TestBadTargets:
    @pytest.mark.parametrize("name", ["../up", "a/b", "/abs", "", ".", "..", ".hidden", "con", "a\nb", "x" * 300])
    def test_a_name_is_a_plain_file_name(self, tmp_path: Path, name: str) -> None:
        source = raw(tmp_path / "a.json")
        assert failed(Promotion(source, name), home_in(tmp_path)).kind is Kind.INVALID_ARGUMENTS
        assert list(tmp_path.iterdir()) == [source]

    @pytest.mark.parametrize("place", ["cassettes", "evidence", "cassettes/product", "evidence/manifest.csv"])
    def test_links_at_the_targets_are_refused(self, tmp_path: Path, place: str) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (tmp_path / place).parent.mkdir(exist_ok=True)
        try:
            (tmp_path / place).symlink_to(outside)
        except OSError:
            pytest.skip("links cannot be made here")
        assert failed(Promotion(raw(tmp_path / "a.json"), "kettle"), home_in(tmp_path)).kind is Kind.IO_ERROR
        assert list(outside.iterdir()) == []

    @pytest.mark.parametrize("place", ["cassettes", "evidence", "evidence/promotions"])
    def test_an_unwritable_folder_is_found_before_any_work(self, tmp_path: Path, place: str) -> None:
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_bytes(b"a file where a folder belongs")
        error = failed(Promotion(tmp_path / "absent.json", "kettle"), home_in(tmp_path))
        error = failed(Promotion(raw(tmp_path / "a.json"), "kettle"), home_in(tmp_path))
        assert error.kind is Kind.IO_ERROR
        assert not (tmp_path / "state").exists()

    def test_a_broken_manifest_is_never_rewritten(self, tmp_path: Path) -> None:
        home = home_in(tmp_path)
        promote(Promotion(raw(tmp_path / "a.json"), "one"), home)
        manifest = tmp_path / "evidence" / "manifest.csv"
        manifest.write_bytes(b"mine\n")
        before = snapshot(tmp_path)
        error = failed(Promotion(raw(tmp_path / "a.json"), "two"), home)
        assert error.kind is Kind.CASSETTE_INVALID
        assert snapshot(tmp_path) == before

    def test_a_second_writer_is_refused(self, tmp_path: Path) -> None:
        home = home_in(tmp_path)
        with writing(home.root):
            error = failed(Promotion(raw(tmp_path / "a.json"), "kettle"), home)
        assert error.kind is Kind.IO_ERROR
        assert error.retryable
        promote(Promotion(tmp_path / "a.json", "kettle"), home)


def test_a_failing_proof_leaves_everything_as_it_was(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    promote(Promotion(raw(tmp_path / "a.json"), "kettle"), home)
    before = snapshot(tmp_path)

    def refuse(staged: Path, fixtures: Any) -> dict[str, Any]:
        assert staged.name == "cassettes"
        assert (staged / fixtures[0].relative).is_file()
        raise KeepaCliError(Kind.CASSETTE_INVALID, "no")

    ask = Promotion(raw(tmp_path / "b.json", product_body(title="pan")), "kettle", replace=True, verify=refuse)
    assert failed(ask, home).message == "no"
    assert snapshot(tmp_path) == before


def test_the_same_request_under_two_names_is_said(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    promote(Promotion(raw(tmp_path / "a.json"), "one"), home)
    found = promote(Promotion(tmp_path / "a.json", "two"), home)
    assert "same_request" in [w["code"] for w in found["warnings"]]


def test_a_recorders_note_reaches_the_evidence(tmp_path: Path) -> None:
    source = raw(tmp_path / "a.json")
    note = {
        "origin": "sandbox",
        "recorded_at": "2026-11-29T10:00:00Z",
        "durations_ms": [12.5],
        "versions": {"vcrpy": "9"},
    }
    (tmp_path / "a.meta.json").write_text(json.dumps(note), encoding="utf-8")
    home = home_in(tmp_path)
    found = promote(Promotion(source, "kettle"), home)
    assert found["origin"] == "sandbox"
    hit = Library([home.root]).play(wire_request(exchange()))
    assert (hit.origin, hit.recorded_at) == ("sandbox", "2026-11-29T10:00:00Z")


def test_an_exchange_of_another_host_answers_for_keepa(tmp_path: Path) -> None:
    local = replace(exchange(), url=PRODUCT_URL.replace("https://api.keepa.com", "http://127.0.0.1:8765"))
    assert isinstance(local, Exchange)
    direct = promote(Promotion(cassette(tmp_path / "a.yaml", exchange()), "a"), home_in(tmp_path))
    moved = promote(Promotion(cassette(tmp_path / "b.yaml", local), "b"), home_in(tmp_path))
    assert direct["fixtures"][0]["fingerprint"] == moved["fixtures"][0]["fingerprint"]
    assert "127.0.0.1" not in Path(moved["fixtures"][0]["path"]).read_text(encoding="utf-8")
