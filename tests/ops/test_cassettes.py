"""The cassettes family end to end through the engine: list, show, sanitize, scan, promote, verify, diff, refresh."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.cassettes import recordings
from keepa_cli.cassettes.codec import parse_cassette
from keepa_cli.cassettes.journal import Journal
from keepa_cli.core.context import Context
from keepa_cli.engine import Options
from keepa_cli.engine import run as run_operation
from keepa_cli.sandbox import Sandbox, SandboxConfig
from tests.cassettes.promoting import BUCKET, PRODUCT_URL, TOKEN_URL, cassette, exchange, product_body, raw, snapshot

KEY = "k3y" + "Q7wE9rT2yU4iO6pA" * 4
NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def ctx(home: Path, clean_env: dict[str, str]) -> Context:
    """A user with an empty library ./cassettes and a key in the environment."""
    (home / "work" / "cassettes").mkdir()
    moments = iter(range(10**6))
    env = clean_env | {"KEEPA_API_KEY": KEY}
    return Context(env=env, cwd=home / "work", now=lambda: NOW + timedelta(seconds=next(moments)))


def run(ctx: Context, name: str, /, **params: Any) -> dict[str, Any]:
    return dict(run_operation(ops.find("cassettes." + name), params, ctx, Options(find=ops.find)))


def good(ctx: Context, name: str, /, **params: Any) -> dict[str, Any]:
    found = run(ctx, name, **params)
    assert found["ok"], found
    data: dict[str, Any] = found["data"]
    return data


def bad(ctx: Context, name: str, /, **params: Any) -> dict[str, Any]:
    found = run(ctx, name, **params)
    assert not found["ok"]
    error: dict[str, Any] = found["error"]
    return error


def promote_one(ctx: Context, name: str = "kettle", **changes: Any) -> dict[str, Any]:
    return good(ctx, "promote", file=str(raw(ctx.cwd / f"{name}.body", product_body(**changes))), name=name)


class TestListAndShow:
    def test_fixtures_and_inbox_with_origin_and_age(self, ctx: Context) -> None:
        promote_one(ctx)
        recordings.store(ctx.state_dir, [exchange(BUCKET, TOKEN_URL)], "tokens", {"origin": "sandbox"}, NOW)
        data = good(ctx, "list")
        (row,) = (r for r in data["fixtures"] if r["root"].startswith(str(ctx.cwd)))
        assert (row["name"], row["endpoint"], row["origin"]) == ("kettle", "product", "import")
        assert (row["recorded_at"], row["age_days"], row["interactions"]) == ("2026-05-10T04:19:28Z", 204, 1)
        assert [(r["name"], r["origin"]) for r in data["inbox"]] == [("tokens", "sandbox")]
        assert good(ctx, "list", endpoint="no-such-endpoint")["fixtures"] == []
        (ctx.cwd / "cassettes" / "mine").mkdir()
        cassette(ctx.cwd / "cassettes" / "mine" / "other.yaml", exchange())
        (stray,) = good(ctx, "list", endpoint="mine")["fixtures"]
        assert (stray["name"], stray["promoted"], stray["origin"]) == ("other", False, "unknown")

    def test_show_tells_requests_and_evidence_without_bodies(self, ctx: Context) -> None:
        promote_one(ctx)
        data = good(ctx, "show", name="kettle")
        assert [(i["method"], i["status"]) for i in data["interactions"]] == [("GET", 200)]
        assert data["evidence"]["promotion"]["origin"] == "import"
        assert "csv" not in json.dumps(data)
        path = cassette(ctx.cwd / "mine.yaml", exchange(url=PRODUCT_URL + f"&key={KEY}"))
        shown = good(ctx, "show", name=str(path))
        assert KEY not in json.dumps(shown)

    def test_what_a_killed_recorder_left_is_recovered(self, ctx: Context) -> None:
        folder = recordings.private_folder(ctx.state_dir, "journal") / "kettle"
        folder.mkdir()
        left = Journal.create(folder / "one.jsonl", {"name": "kettle", "origin": "live"})
        left.sending(1)
        left.append(exchange(), {"duration_ms": 3})
        left.close()
        data = run(ctx, "list")
        assert [w["code"] for w in data["warnings"]] == ["recovered"]
        assert [(r["name"], r["origin"]) for r in data["data"]["inbox"]] == [("kettle", "live")]
        assert not run(ctx, "list")["warnings"]
        assert good(ctx, "promote", file="kettle", name="kettle")["origin"] == "live"

    def test_an_unknown_name(self, ctx: Context) -> None:
        assert bad(ctx, "show", name="nothing")["kind"] == "fixture_not_found"
        assert bad(ctx, "show", name="../up")["kind"] == "invalid_arguments"


class TestSanitizeAndScan:
    def test_sanitize_counts_and_writes_where_told(self, ctx: Context) -> None:
        path = cassette(ctx.cwd / "live.yaml", exchange(product_body(title=KEY), PRODUCT_URL + f"&key={KEY}"))
        before = path.read_bytes()
        assert bad(ctx, "scan", paths=[str(path)])["kind"] == "secret_detected"
        data = good(ctx, "sanitize", file="live.yaml", out="clean.yaml")
        assert sum(data["redactions"].values()) >= 1
        assert path.read_bytes() == before
        assert KEY.encode() not in (ctx.cwd / "clean.yaml").read_bytes()
        assert good(ctx, "scan", paths=["clean.yaml"])["findings"] == []
        assert "output" not in good(ctx, "sanitize", file="live.yaml")

    def test_sanitize_refuses_a_link_as_target(self, ctx: Context) -> None:
        raw(ctx.cwd / "a.json")
        (ctx.cwd / "target").write_bytes(b"mine")
        try:
            (ctx.cwd / "link").symlink_to(ctx.cwd / "target")
        except OSError:
            pytest.skip("links cannot be made here")
        assert bad(ctx, "sanitize", file="a.json", out="link")["kind"] == "io_error"
        assert (ctx.cwd / "target").read_bytes() == b"mine"

    def test_scan_without_paths_covers_cassettes_evidence_and_inbox(self, ctx: Context) -> None:
        promote_one(ctx)
        assert good(ctx, "scan")["files"] >= 4
        for place in (ctx.cwd / "cassettes" / "x.txt", ctx.cwd / "evidence" / "x.txt", ctx.state_dir / "inbox" / "x"):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(KEY, encoding="utf-8")
            error = bad(ctx, "scan")
            assert error["kind"] == "secret_detected"
            assert error["details"]["findings"][0]["file"] == str(place)
            assert KEY not in json.dumps(error)
            place.unlink()

    def test_scan_of_nothing_is_an_error(self, ctx: Context) -> None:
        assert bad(ctx, "scan", paths=["absent"])["kind"] == "io_error"


class TestPromoteAndVerify:
    def test_the_whole_way_and_what_it_proves(self, ctx: Context) -> None:
        raw(ctx.cwd / "a.json")
        data = good(ctx, "promote-and-verify", file="a.json", name="kettle")
        proof = data["verification"]
        assert (proof["replay"], proof["vcrpy"], proof["evals"], proof["live_calls"]) == ("pass", "pass", "not_run", 0)
        assert {"sha256", "scan", "manifest", "vcrpy", "replay"} <= set(proof["checks"])
        sidecar = json.loads(Path(data["fixtures"][0]["path"].removesuffix(".yaml") + ".evidence.json").read_bytes())
        assert sidecar["verification"] == proof
        assert [f["ok"] for f in good(ctx, "verify", names=["kettle"])["files"]] == [True]

    def test_what_is_promoted_is_what_replay_and_fixture_serve(self, ctx: Context) -> None:
        raw(ctx.cwd / "a.json")
        made = good(ctx, "promote-and-verify", file="a.json", name="kettle")["fixtures"][0]
        found = run_operation(ops.find("products.get"), {"asin": ["B0AAAAAAA1"]}, ctx, Options(find=ops.find))
        assert found["data"]["body"] == product_body()
        assert found["provenance"]["fingerprint"] == made["fingerprint"]
        assert found["provenance"]["origin"] == "import"

    def test_a_dry_run_writes_nothing(self, ctx: Context) -> None:
        raw(ctx.cwd / "a.json")
        before = sorted(p for p in ctx.cwd.parent.rglob("*"))
        data = good(ctx, "promote-and-verify", file="a.json", name="kettle", dry_run=True, run_eval=True)
        assert data["size_bytes"] > 0
        assert sorted(p for p in ctx.cwd.parent.rglob("*")) == before

    def test_evals_run_on_the_staged_fixture(self, ctx: Context) -> None:
        raw(ctx.cwd / "a.json")
        write_eval(ctx, "kettle")
        data = good(ctx, "promote-and-verify", file="a.json", name="kettle", run_eval=True)
        assert data["verification"]["evals"] == "pass"
        table = (ctx.cwd / "evidence" / "manifest.csv").read_text(encoding="utf-8")
        assert table.splitlines()[1].endswith(",pass,pass")

    def test_failing_evals_leave_everything_as_it_was(self, ctx: Context) -> None:
        promote_one(ctx)
        before = snapshot(ctx.cwd)
        write_eval(ctx, "kettle")
        worse = raw(ctx.cwd / "b.json", product_body(title="pan"))
        error = bad(ctx, "promote-and-verify", file=str(worse), name="kettle", replace=True, run_eval=True)
        assert "nothing was promoted" in error["message"]
        assert snapshot(ctx.cwd) == before
        found = run_operation(ops.find("products.get"), {"asin": ["B0AAAAAAA1"]}, ctx, Options(find=ops.find))
        assert found["data"]["body"]["products"][0]["title"] == "kettle"

    def test_an_earlier_library_that_would_answer_first_is_refused(self, ctx: Context, home: Path) -> None:
        """A read-only folder before the writable one: the new fixture would never be served."""
        promote_one(ctx)
        first = home / "first"
        (ctx.cwd / "cassettes").rename(first)
        (ctx.cwd / "cassettes").mkdir()
        ctx.services.clear()
        ctx.services["library"] = OneWay([first, ctx.cwd / "cassettes"])
        raw(ctx.cwd / "b.json")
        error = bad(ctx, "promote-and-verify", file="b.json", name="other")
        assert error["kind"] == "cassette_invalid"
        assert error["details"]["check"] == "parity"
        assert snapshot(ctx.cwd).keys() <= {k for k in snapshot(ctx.cwd) if k.startswith("evidence/")}

    @pytest.mark.parametrize(
        "part", ["product-B0D8W1YVBX-US-20260510.json", "product-B0D8W1YVBX-US-20260510-stats0.json"]
    )
    def test_real_bodies_replay_token_for_token(self, ctx: Context, shared_data: Path, part: str) -> None:
        source = shared_data / part
        request = "/product?domain=1&asin=B0D8W1YVBX&stats=0&videos=1&aplus=1"
        data = good(ctx, "promote-and-verify", file=str(source), name="real", request=request)
        options = Options(find=ops.find)
        asked = {"asin": ["B0D8W1YVBX"], "stats": "0", "videos": True, "aplus": True}
        found = run_operation(ops.find("products.get"), asked, ctx, options)
        assert found["ok"], found
        assert found.raw_body is not None
        assert tokens(found.raw_body) == tokens(source.read_bytes())
        stored = parse_cassette(Path(data["fixtures"][0]["path"]).read_bytes(), "x")[0]
        assert tokens(stored.body) == tokens(source.read_bytes())
        assert data["fixtures"][0]["redactions"] == {}


class OneWay:
    """A library whose first root cannot be written."""

    def __init__(self, roots: list[Path]) -> None:
        self.roots = roots

    def first_writable(self) -> Path:
        return self.roots[1]


def tokens(body: bytes) -> list[tuple[str, Any]]:
    """A JSON text as its pairs in order, numbers as written."""
    return json.loads(body, object_pairs_hook=list, parse_int=lambda t: "i" + t, parse_float=lambda t: "f" + t)  # type: ignore[no-any-return]


def write_eval(ctx: Context, title: str) -> None:
    folder = ctx.cwd / "tests" / "evals"
    folder.mkdir(parents=True, exist_ok=True)
    check = {"path": "data.body.products.0.title", "equals": title}
    one = {
        "id": "kettle-title",
        "description": "The kettle has its title.",
        "command": "products.get",
        "params": {"asin": ["B0AAAAAAA1"]},
        "assertions": [check],
    }
    (folder / "kettle.json").write_text(json.dumps(one), encoding="utf-8")


class TestVerify:
    def test_a_damaged_library_is_a_typed_error_with_every_problem(self, ctx: Context) -> None:
        path = Path(promote_one(ctx)["fixtures"][0]["path"])
        path.write_bytes(path.read_bytes().replace(b"kettle", b"kettlf"))
        error = bad(ctx, "verify")
        assert error["kind"] == "cassette_invalid"
        assert {"sha256", "interactions", "manifest"} <= {p["check"] for p in error["details"]["problems"]}

    def test_an_unknown_name(self, ctx: Context) -> None:
        assert bad(ctx, "verify", names=["nothing"])["kind"] == "fixture_not_found"


class TestDiffAndRefresh:
    def test_files_fixtures_and_recordings_compare(self, ctx: Context) -> None:
        promote_one(ctx)
        raw(ctx.cwd / "new.json", product_body(title="pan"))
        recordings.store(ctx.state_dir, [exchange(product_body(brand=1))], "again", {"origin": "live"}, NOW)
        moved = good(ctx, "diff", old="kettle", new="new.json")
        assert (moved["verdict"], moved["values_moved"], moved["shape"]) == ("values_moved", 1, [])
        assert (moved["values"][0]["from"], moved["values"][0]["to"]) == ("kettle", "pan")
        drifted = good(ctx, "diff", old="kettle", new="again")
        assert drifted["verdict"] == "shape_moved"
        assert drifted["shape"] == [
            {"exchange": 0, "change": "added", "path": "products[].brand", "types": ["integer"]}
        ]
        assert bad(ctx, "diff", old="kettle", new="absent")["kind"] == "fixture_not_found"

    def test_refresh_compares_with_the_newest_recording_and_keeps_the_report(self, ctx: Context) -> None:
        promote_one(ctx)
        before = snapshot(ctx.cwd)
        assert bad(ctx, "refresh", name="kettle")["kind"] == "missing_inputs"
        recordings.store(ctx.state_dir, [exchange(product_body(brand=1))], "x", {"origin": "live"}, NOW)
        data = good(ctx, "refresh", name="kettle")
        assert data["verdict"] == "shape_moved"
        assert "--replace" in data["next_actions"][0]
        report = json.loads((ctx.cwd / data["report"]).read_bytes())
        assert [row["path"] for row in report["shape"][0]["added"]] == ["products[].brand"]
        assert {k: v for k, v in snapshot(ctx.cwd).items() if "/drift/" not in k} == before
        assert not [p for p in good(ctx, "verify", names=["kettle"])["files"] if not p["ok"]]

    def test_refresh_without_consent_sends_nothing(self, ctx: Context) -> None:
        promote_one(ctx)
        assert bad(ctx, "refresh", name="kettle", live=True)["kind"] == "confirmation_required"
        shown = good(ctx, "refresh", name="kettle", dry_run=True)
        assert shown["request"]["query"] == {"domain": "1", "asin": "B0AAAAAAA1"}

    def test_refresh_keeps_commas_of_the_request(self, ctx: Context) -> None:
        two = BUCKET | {"products": [{"asin": f"B0AAAAAAA{n}", "domainId": 1, "productType": 0} for n in (1, 2)]}
        good(ctx, "promote", file=str(raw(ctx.cwd / "two.json", two)), name="two")
        shown = good(ctx, "refresh", name="two", dry_run=True)
        assert shown["request"]["query"]["asin"] == "B0AAAAAAA1,B0AAAAAAA2"


class TestRecord:
    def test_a_dry_run_names_the_request(self, ctx: Context) -> None:
        data = good(ctx, "record", command="products.get", params=["asin=B0AAAAAAA1,B0AAAAAAA2", "days=30"], name="x",
                    dry_run=True)  # fmt: skip
        assert data["request"]["query"] == {"domain": "1", "asin": "B0AAAAAAA1,B0AAAAAAA2", "days": "30"}

    @pytest.mark.parametrize(
        ("params", "name", "kind"),
        [(["asin"], "x", "invalid_arguments"), (["asin=B0AAAAAAA1"], "", "invalid_arguments")],
    )
    def test_bad_parameters(self, ctx: Context, params: list[str], name: str, kind: str) -> None:
        assert bad(ctx, "record", command="products.get", params=params, name=name)["kind"] == kind
        assert bad(ctx, "record", command="no.such", name="x")["kind"] == "unknown_command"

    def test_record_promote_refresh_against_a_server(self, ctx: Context) -> None:
        """The whole way on real HTTP: record through vcrpy, promote, verify, record again, compare."""
        with Sandbox(SandboxConfig(any_key=True, tokens=5000, rate=60)) as sandbox:
            server = Context(env={**ctx.env, "KEEPA_BASE_URL": sandbox.base_url}, cwd=ctx.cwd, now=ctx.now)
            options = Options(find=ops.find, yes=True)
            ask = {"command": "products.get", "params": ["asin=B0D8W1YVBX"], "name": "kettle"}
            recorded = run_operation(ops.find("cassettes.record"), ask, server, options)
            assert recorded["ok"], recorded
            made = good(server, "promote-and-verify", file="kettle", name="kettle")
            assert made["origin"] == "sandbox"
            fresh = run_operation(ops.find("cassettes.refresh"), {"name": "kettle", "live": True}, server, options)
            assert fresh["ok"], fresh
            assert fresh["data"]["verdict"] in {"identical", "values_moved"}
            assert len(good(server, "list")["inbox"]) == 2
        found = run_operation(ops.find("products.get"), {"asin": ["B0D8W1YVBX"]}, ctx, Options(find=ops.find))
        assert found["provenance"]["origin"] == "sandbox"
        everything = [p.read_bytes() for p in ctx.cwd.parent.rglob("*") if p.is_file()]
        assert not any(KEY.encode() in data for data in everything)
