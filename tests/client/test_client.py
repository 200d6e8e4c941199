"""The client answers as the command line does, in the shape of Python."""

from __future__ import annotations

import inspect
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import keepa_cli
from keepa_cli import KeepaCliError, LocalClient
from keepa_cli.client import CallFailed, methods
from keepa_cli.core.errors import Kind
from keepa_cli.core.registry import OPERATIONS
from tests.conftest import REPO
from tests.support.remote import BUCKET
from tests.support.sandbox import KEY, running_sandbox
from tests.support.scripted_server import ScriptedServer

PRODUCT = "B0PPJ248DY"
NOT_RECORDED = "B000000404"


@pytest.fixture
def client(clean_env: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., LocalClient]:
    monkeypatch.chdir(home / "work")

    def make(mode: str | None = None, *, box: Any = None, **options: Any) -> LocalClient:
        there = {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY} if box else {}
        return LocalClient(mode, **{"env": clean_env | there} | options)

    return make


@pytest.mark.parametrize(
    ("mode", "flag", "name", "params"),
    [
        (None, "--replay", "products.get", {"asin": PRODUCT}),
        (None, "--replay", "products.get", {"asin": NOT_RECORDED}),
        (None, "--replay", "tokens.status", {}),
        ("dry-run", "--dry-run", "products.get", {"asin": PRODUCT, "offers": 20}),
        ("replay", "--replay", "products.get", {"asin": "B00"}),
        ("live", "--live", "products.get", {"asin": PRODUCT}),
    ],
)
def test_the_envelope_is_that_of_the_command_line(
    client: Any, cli: Any, mode: str | None, flag: str, name: str, params: dict[str, Any]
) -> None:
    words = [w for k, v in params.items() for w in ((str(v),) if k == "asin" else (f"--{k}", str(v)))]
    told = json.loads(cli("--json", *name.split("."), *words, flag).stdout)
    here = json.loads(json.dumps(client(mode).call(name, **params)))
    for one in (told, here):
        one.get("request", {}).pop("transport", None)
        one.get("provenance", {}).pop("age_s", None)
    assert here == told


def test_local_operations_answer_in_every_mode(client: Any) -> None:
    for mode in ("replay", "dry-run", "live", "record"):
        assert client(mode).domains.list()["data"]["domains"]
    assert client("live").doctor()["ok"]


def test_a_method_has_the_signature_and_help_of_its_operation(client: Any) -> None:
    get = client().products.get
    parameters = inspect.signature(get).parameters
    assert next(iter(parameters)) == "asin" and parameters["domain"].default == "US"
    assert parameters["offers"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["offers"].annotation == int | None
    assert get.__name__ == "get" and "offers: Fetch 20-100" in get.__doc__ and "--" not in get.__doc__
    assert inspect.signature(client().categories.get).parameters["category"].default is inspect.Parameter.empty


def test_every_operation_is_a_method_that_dir_lists(client: Any) -> None:
    here = client()
    for family in methods.families():
        assert family in dir(here) and family not in vars(LocalClient)
    for name in (n for n in OPERATIONS if "." in n):
        family, verb = (methods.python_name(part) for part in name.split("."))
        assert verb in dir(getattr(here, family)) and callable(getattr(getattr(here, family), verb))
    assert "products" in repr(here.products) and repr(here) == "LocalClient(mode='replay')"


def test_a_misspelt_name_is_answered_with_the_right_one(client: Any) -> None:
    with pytest.raises(AttributeError, match="did you mean products"):
        _ = client().product
    with pytest.raises(AttributeError, match="did you mean by_code"):
        _ = client().products.by_cod
    with pytest.raises(TypeError, match="domian"):
        client().products.get(PRODUCT, domian="US")
    with pytest.raises(TypeError, match="did you mean yes"):
        client().using(yess=True)
    assert client().call("product.get")["error"]["kind"] == "unknown_command"
    assert client().call("products.get", asni=PRODUCT)["error"]["kind"] == "invalid_arguments"


def test_ask_gives_data_or_raises(client: Any) -> None:
    assert client().ask("products.get", asin=PRODUCT)["items"][0]["status"] == "found"
    with pytest.raises(CallFailed) as caught:
        client().ask("products.get", asin=NOT_RECORDED)
    error = caught.value
    assert error.kind is Kind.CASSETTE_MISS and isinstance(error, KeepaCliError)
    assert error.envelope["error"]["message"] == error.message == str(error)
    assert error.details["record_command"] == error.next_actions[0]
    again = pickle.loads(pickle.dumps(error))
    assert (again.kind, again.message, again.details) == (error.kind, error.message, error.details)


def test_failures_raise_where_that_is_wanted(client: Any) -> None:
    assert not client().products.get(NOT_RECORDED)["ok"]
    strict = client(raise_errors=True)
    assert strict.products.get(PRODUCT)["ok"]
    for failing in (lambda: strict.products.get(NOT_RECORDED), lambda: strict.call("no.such")):
        with pytest.raises(CallFailed):
            failing()
    assert not strict.using(raise_errors=False).products.get(NOT_RECORDED)["ok"]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"mode": "offline"}, "mode"),
        ({"mode": "fixture"}, "fixture"),
        ({"mode": "live", "fixture": "x"}, "mode"),
        ({"fixture": "x", "record": "y"}, "record"),
    ],
)
def test_modes_that_make_no_sense_are_refused_at_once(client: Any, options: dict[str, Any], field: str) -> None:
    with pytest.raises(KeepaCliError) as caught:
        client(**options)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS and caught.value.details["field"] == field


def test_a_fixture_answers_whatever_mode_the_environment_names(client: Any, clean_env: dict[str, str]) -> None:
    here = client(fixture=f"product_{PRODUCT}", env=clean_env | {"KEEPA_CLI_MODE": "live"})
    assert here.products.get(PRODUCT)["request"]["mode"] == "fixture"
    shown = here.ask("config.show")
    modes = [row["value"] for row in shown["settings"] if row["setting"] == "mode"]
    assert modes == ["replay"] and shown["problem"] is None, "what an operation calls inside never goes live"


def test_a_dry_run_writes_nothing(client: Any, home: Path) -> None:
    assert client("dry-run").config.init()["ok"] and not (home / "config.toml").exists()
    assert client("replay").config.init()["ok"] and (home / "config.toml").exists()


def test_live_calls_pay_once_they_are_allowed_to(client: Any) -> None:
    with running_sandbox() as box, client("live", box=box) as here:
        assert here.products.get("B000000001")["token_bucket"]["charged"] == 1
        refused = here.products.get("B000000001", offers=20)["error"]
        assert refused["kind"] == "confirmation_required" and len(box.log) == 1
        assert here.using(max_tokens=3).products.search("kettle")["error"]["kind"] == "budget_exceeded"
        agreed = here.using(yes=True, quote_token=refused["details"]["quote_token"])
        result = agreed.products.get("B000000001", offers=20)
        assert result["ok"] and len(box.log) == 2 and KEY not in json.dumps(result)
        assert not here.products.get("B000000002", offers=20)["ok"], "the first client did not change"
        assert here.using(mode="dry-run").products.get(PRODUCT)["data"]["sent"] is False


def test_a_key_that_an_answer_echoes_does_not_come_back(client: Any) -> None:
    body = BUCKET | {"products": [{"asin": PRODUCT, "title": f"seen {KEY}"}], "echo": {"key": "anything"}}
    with ScriptedServer([{"json": body}]) as server:
        result = client("live", box=SimpleNamespace(base_url=server.url)).products.get(PRODUCT)
    assert result["ok"] and KEY not in json.dumps(result) and "anything" not in json.dumps(result)


def test_the_body_goes_to_a_file(client: Any, home: Path) -> None:
    path = home / "body.json"
    assert client(out=path).products.get(PRODUCT)["data"]["output"]["path"] == str(path)
    assert json.loads(path.read_bytes())["products"][0]["asin"] == PRODUCT


def test_any_iterable_is_a_list(client: Any) -> None:
    asked = client("dry-run").products.get(asin for asin in ("B000000001", "B000000002"))
    assert asked["request"]["query"]["asin"] == "B000000001,B000000002"
    assert client("dry-run").products.get({"B000000001": 1}.keys())["ok"]


def test_cassettes_name_the_folders_of_recordings(client: Any, home: Path) -> None:
    found = next((REPO / "cassettes").rglob(f"product_{PRODUCT}.*.yaml"))
    own = home / "own"
    own.mkdir()
    (own / found.name).write_bytes(found.read_bytes())
    for given in (own, str(own), [own]):
        assert client(cassettes=given).products.get(PRODUCT)["ok"]


def test_progress_is_told(client: Any) -> None:
    told: list[str] = []
    with running_sandbox(faults=["429=1x1"]) as box:
        assert client("live", box=box, tell=told.append).products.get("B000000001")["ok"]
    assert told and "Waiting" in told[0]


def test_importing_the_package_loads_no_client() -> None:
    program = (
        "import sys, keepa_cli; assert 'keepa_cli.client' not in sys.modules; assert 'LocalClient' in dir(keepa_cli); "
        "keepa_cli.LocalClient(); print(sorted({'requests', 'vcr', 'jsonschema', 'click'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=REPO, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr
    with pytest.raises(AttributeError):
        _ = keepa_cli.nothing


def test_a_session_remembers_what_it_answered(clean_env: dict[str, str]) -> None:
    with LocalClient(env=clean_env) as client:
        session = client.session()
        first = session.call("products.get", {"asin": ["B0PPJ248DY"]})
        assert first["provenance"]["mode"] == "replay"
        assert session.call("products.get", {"asin": ["B0PPJ248DY"]})["cache_hit"]
        assert session.budget_ledger()["session_consumed"] == 0
