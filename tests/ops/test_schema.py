"""The published schemas: complete, valid, true of what this program answers, and the same on every machine."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from keepa_cli import ops
from keepa_cli.cassettes.codec import parse_cassette
from keepa_cli.cassettes.contracts import schema_name
from keepa_cli.core.errors import ERRORS, KeepaCliError, Kind
from keepa_cli.core.schema import bind
from keepa_cli.keepa import contract
from keepa_cli.ops import _schemas
from tests.conftest import REPO
from tests.keepa.test_contract import BODIES
from tests.keepa.test_drift_views import GIVEN
from tests.support.remote import BUCKET, call
from tests.support.scripted_server import ScriptedServer

DOCUMENTS = _schemas.documents()
SCHEMAS = sorted(set(DOCUMENTS) - {"index.json"})
ENVELOPE = Draft202012Validator(DOCUMENTS["envelope.json"])
ERROR = Draft202012Validator(DOCUMENTS["error.json"])
CASSETTES = sorted((REPO / "cassettes").rglob("*.yaml"))
ALL = {op.name: op for op in ops.load_all()}


def problems(validator: Draft202012Validator, value: Any) -> list[str]:
    return [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(value)]


@pytest.mark.parametrize("path", SCHEMAS)
def test_each_schema_is_one_and_complete_in_itself(path: str) -> None:
    raw = DOCUMENTS[path]
    Draft202012Validator.check_schema(raw)
    assert raw["$schema"] == _schemas.DIALECT
    assert raw["$id"] == _schemas.NAMESPACE + path.removesuffix(".json")
    assert raw["title"]
    assert Draft202012Validator(raw).is_valid({}) in {True, False}  # every reference resolves without a registry
    used = {r.removeprefix("#/$defs/") for r in references(raw)}
    assert used == set(raw.get("$defs", {}))


def references(raw: Any) -> list[str]:
    if isinstance(raw, list):
        return [r for item in raw for r in references(item)]
    if not isinstance(raw, dict):
        return []
    own = [raw["$ref"]] if isinstance(raw.get("$ref"), str) else []
    return own + [r for inner in raw.values() for r in references(inner)]


def test_there_is_a_schema_of_every_answer_and_every_operation_and_the_index_lists_all() -> None:
    assert {p.removeprefix("response/") for p in SCHEMAS if p.startswith("response/")} == {
        f"{name}.json" for name in contract.SCHEMAS
    }
    assert {p.removeprefix("input/") for p in SCHEMAS if p.startswith("input/")} == {f"{name}.json" for name in ALL}
    assert [row["path"] for row in DOCUMENTS["index.json"]["schemas"]] == SCHEMAS
    returned = {raw["x-keepa"].get("returns") for path, raw in DOCUMENTS.items() if path.startswith("input/")} - {None}
    assert returned <= {row["id"] for row in DOCUMENTS["index.json"]["schemas"]}


@pytest.mark.parametrize("name", contract.SCHEMAS)
def test_answers_validate_and_broken_ones_do_not(name: str) -> None:
    validator = Draft202012Validator(DOCUMENTS[f"response/{name}.json"])
    assert problems(validator, BODIES[name]) == []
    assert not validator.is_valid(BODIES[name] | {"tokensLeft": "5"})
    assert not validator.is_valid([])


def test_a_flipped_field_does_not_fit_the_documented_schema() -> None:
    validator = Draft202012Validator(DOCUMENTS["response/product.json"])
    product = BODIES["product"]["products"][0]
    assert problems(validator, BODIES["product"] | {"products": [product | {"brandStoreName": ["x"]}]})


@pytest.mark.parametrize("path", CASSETTES, ids=lambda p: p.name)
def test_recorded_answers_validate(path: Path) -> None:
    for exchange in parse_cassette(path.read_bytes(), path.name):
        name = schema_name(exchange)
        if name is not None and exchange.body[:1] == b"{":
            validator = Draft202012Validator(DOCUMENTS[f"response/{name}.json"])
            assert problems(validator, json.loads(exchange.body)) == []


@pytest.mark.parametrize("name", sorted(ALL))
def test_parameters_are_taken_by_schema_and_program_alike(name: str) -> None:
    op = ALL[name]
    validator = Draft202012Validator(DOCUMENTS[f"input/{name}.json"])
    given = {k: v for k, v in GIVEN.get(name, {}).items() if k in {a.name for a in op.args}}
    if all(a.name in given for a in op.args if a.required):
        assert problems(validator, given) == []
        assert set(bind(op, given)) == {a.name for a in op.args}
    assert not validator.is_valid(given | {"no_such_parameter": 1})
    with pytest.raises(KeepaCliError):
        bind(op, given | {"no_such_parameter": 1})


EVALS = [json.loads(p.read_text(encoding="utf-8")) for p in sorted((REPO / "tests" / "evals").glob("*.json"))]


@pytest.mark.parametrize("one", [e for e in EVALS if "command" in e], ids=lambda e: e["id"])
def test_parameters_of_evals_validate(one: dict[str, Any]) -> None:
    validator = Draft202012Validator(DOCUMENTS[f"input/{one['command']}.json"])
    refused = any(a.get("equals") == "invalid_arguments" for a in one["assertions"])
    assert bool(problems(validator, one.get("params", {}))) <= refused


EXAMPLES = sorted({e for op in ALL.values() if op.remote for e in op.examples if "--live" not in e})


@pytest.mark.parametrize("example", EXAMPLES)
def test_dry_runs_of_examples_are_envelopes(example: str, cli: Any) -> None:
    words = [w for w in shlex.split(example)[1:] if w not in {"--json", "--dry-run"}]
    done = cli("--json", *words, *(() if "--out" in words else ("--dry-run",)))
    assert problems(ENVELOPE, json.loads(done.stdout)) == []


REPLAYED = [
    ("doctor",),
    ("capabilities",),
    ("tokens", "status"),
    ("cassettes", "list"),
    ("ledger", "list"),
    ("cache", "stats"),
    ("config", "show"),
    ("schema", "generate", "--out", "s"),
]
FAILING = [
    (("products", "get", "B0"), Kind.INVALID_ARGUMENTS),
    (("products", "gett"), Kind.UNKNOWN_COMMAND),
    (("products", "get", "B0D8W1YVBX", "--domain", "FR"), Kind.CASSETTE_MISS),
    (("tokens", "status", "--fixture", "none"), Kind.FIXTURE_NOT_FOUND),
    (("tokens", "status", "--live"), Kind.AUTH_MISSING),
    (("lightningdeals", "list", "--live"), Kind.CONFIRMATION_REQUIRED),
    (("products", "get", "B0D8W1YVBX", "--live", "--max-tokens", "0"), Kind.BUDGET_EXCEEDED),
    (("cassettes", "refresh", "token_status"), Kind.MISSING_INPUTS),
    (("schema", "generate", "--check", "--out", "nothing"), Kind.CONTRACT_ERROR),
    (("cassettes", "scan", "no-such-folder"), Kind.IO_ERROR),
]


@pytest.mark.parametrize("words", REPLAYED, ids=" ".join)
def test_successes_are_envelopes(words: tuple[str, ...], cli: Any) -> None:
    found = json.loads(cli("--json", *words, env=WITH_SAMPLES).stdout)
    assert found["ok"], found
    assert problems(ENVELOPE, found) == []


WITH_SAMPLES = {"KEEPA_CLI_CASSETTES": str(REPO / "cassettes")}


@pytest.mark.parametrize(("words", "kind"), FAILING, ids=[kind.value for _, kind in FAILING])
def test_failures_are_envelopes(words: tuple[str, ...], kind: Kind, cli: Any) -> None:
    found = json.loads(cli("--json", *words, env=WITH_SAMPLES).stdout)
    assert found["error"]["kind"] == kind
    assert problems(ENVELOPE, found) == []
    assert problems(ERROR, found["error"]) == []


@pytest.mark.parametrize(
    "step",
    [
        {"json": BUCKET | {"products": [{"asin": "B00AAAAAA1", "moon": 1}]}},
        {"status": 429, "json": BUCKET | {"tokensLeft": -3, "error": {"type": "notEnoughToken", "message": "x"}}},
        {"status": 429, "text": "slow down"},
        {"status": 400, "json": {"error": {"type": "invalidParameter", "message": "x", "details": "asin"}}},
        {"status": 402, "json": {"error": {"type": "unauthorized", "message": "x"}}},
        {"status": 503, "text": "<html>"},
        {"text": "[1]"},
        {"text": "{"},
        {"json": BUCKET | {"products": [{}]}},
        {"fault": "reset_before_answer"},
    ],
)
def test_answers_of_a_server_become_envelopes(step: dict[str, Any], home: Path) -> None:
    with ScriptedServer([step], repeat_last=True) as server:
        found = call("products.get", home, {"asin": ["B00AAAAAA1"]}, server, yes=True, wait=False)
    assert problems(ENVELOPE, json.loads(json.dumps(found))) == []


def test_every_kind_of_error_has_its_place() -> None:
    assert DOCUMENTS["error.json"]["properties"]["kind"]["enum"] == [kind.value for kind in ERRORS]
    lacking = {
        "kind": Kind.CONFIRMATION_REQUIRED,
        "message": "x",
        "retryable": False,
        "details": {},
        "next_actions": [],
    }
    assert not ERROR.is_valid(lacking)
    assert ERROR.is_valid(lacking | {"kind": Kind.IO_ERROR})
    assert not ERROR.is_valid(lacking | {"kind": "no_such_kind"})


class TestGenerate:
    def test_two_runs_write_the_same_bytes_and_the_second_writes_nothing(self, cli: Any, home: Path) -> None:
        first = json.loads(cli("--json", "schema", "generate").stdout)["data"]
        folder = home / "work" / "docs" / "schema"
        held = {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in folder.rglob("*.json")}
        assert held == _schemas.texts()
        assert sorted(first["written"]) == sorted(held)
        again = json.loads(cli("--json", "schema", "generate").stdout)["data"]
        assert (again["written"], again["removed"]) == ([], [])
        assert not any(b"\r" in p.read_bytes() for p in folder.rglob("*.json"))

    def test_check_names_what_is_old_missing_and_gone_and_writes_nothing(self, cli: Any, home: Path) -> None:
        cli("schema", "generate")
        folder = home / "work" / "docs" / "schema"
        assert cli("schema", "generate", "--check").returncode == 0
        (folder / "error.json").write_text("{}", encoding="utf-8")
        (folder / "envelope.json").unlink()
        gone = folder / "input" / "moon.get.json"
        gone.write_text('{"$schema": "x",\n  "$id": "keepa://schema/input/moon.get"}', encoding="utf-8")
        (folder / "input" / "mine.json").write_text("{}", encoding="utf-8")
        done = cli("--json", "schema", "generate", "--check")
        details = json.loads(done.stdout)["error"]["details"]
        assert done.returncode == 7
        assert (details["changed"], details["gone"]) == (["envelope.json", "error.json"], ["input/moon.get.json"])
        assert not (folder / "envelope.json").exists()
        assert json.loads(cli("--json", "schema", "generate").stdout)["data"]["removed"] == ["input/moon.get.json"]
        assert not gone.exists()
        assert (folder / "input" / "mine.json").exists()
        assert cli("schema", "generate", "--check").returncode == 0

    def test_a_folder_that_is_a_file_or_a_link_is_refused(self, cli: Any, home: Path) -> None:
        (home / "work" / "file").write_text("x", encoding="utf-8")
        done = cli("--json", "schema", "generate", "--out", "file")
        assert json.loads(done.stdout)["error"]["kind"] == "io_error"
        (home / "elsewhere").mkdir()
        (home / "work" / "link").symlink_to(home / "elsewhere")
        assert cli("schema", "generate", "--out", "link").returncode == 1
        assert list((home / "elsewhere").iterdir()) == []


def test_the_check_of_the_docs_covers_the_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPO / "scripts"))
    import build_docs

    monkeypatch.setattr(build_docs.reference, "pages", lambda *_: {})
    monkeypatch.setattr(build_docs.blocks, "pages", lambda _: [])
    schemas = build_docs.DOCS / "schema"
    wanted = {p.relative_to(schemas).as_posix() for p in build_docs.wanted() if schemas in p.parents}
    assert wanted == set(DOCUMENTS)
