"""One operation over a list of ASINs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.ops import _asin_list
from tests.support.sandbox import KEY, Clock, running_sandbox

ASIN = "B0PPJ248DY"
BEST = ("B0MUSV1XZF", "B0L8MF834V", "B062KCC5TB")
LISTS = {
    "words.txt": f"# mine\n{ASIN}, b0ppj248dy\n\nB000000001;B000000002 # two\nnope\n",
    "table.csv": f'title,ASIN\n"a, b",{ASIN}\n"two\nlines",B000000001\n,\nx,B000000002\ny,nope\nz,{ASIN}\n',
    "table.tsv": f"asin\ttitle\n{ASIN}\tx\nB000000001\ty\nB000000002\tz\nnope\tw\n{ASIN}\tv\n",
    "list.json": json.dumps([ASIN, {"asin": "B000000001"}, "B000000002", "nope", ASIN]),
    "answer.json": json.dumps(
        {"ok": True, "data": {"body": {"asinList": [ASIN, "B000000001", "B000000002", "nope", ASIN]}}}
    ),
    "rows.jsonl": "".join(json.dumps({"asin": a}) + "\n" for a in (ASIN, "B000000001", "B000000002", "nope", ASIN)),
}


@pytest.fixture
def batch(cli: Any, home: Path) -> Callable[..., dict[str, Any]]:
    for name, text in LISTS.items():
        (home / "work" / name).write_text(text, encoding="utf-8")
    return lambda *words, **more: json.loads(cli("--json", "batch", "asins", *words, **more).stdout)


@pytest.mark.parametrize(
    ("name", "line"),
    [("words.txt", 5), ("table.csv", 7), ("table.tsv", 5), ("list.json", 4), ("answer.json", 4), ("rows.jsonl", 4)],
)
def test_every_form_of_list_gives_the_asins_and_tells_the_line_of_what_is_none(
    batch: Any, name: str, line: int
) -> None:
    data = batch(name, "--dry-run")["data"]
    assert data["asked"] == 3 and data["repeats"] == 1
    assert data["estimated"]["estimated_tokens"] == 3 and data["sent"] is False
    told = [row for row in data["invalid"] if row["value"] == "nope"]
    assert [(row["source"], row["line"]) for row in told] == [(name, line)]


def test_standard_input_and_asins_of_the_command_line_make_one_list(batch: Any) -> None:
    data = batch("-", "B000000009", "words.txt", "--dry-run", stdin=f"\ufeffB000000008 {ASIN}\n")["data"]
    assert data["asked"] == 5 and data["repeats"] == 2


def test_rows_come_in_the_order_of_the_list(batch: Any) -> None:
    data = batch(*BEST)["data"]
    assert [row["asin"] for row in data["rows"]] == list(BEST) and data["statuses"] == {"found": 3}
    assert all(row["data"]["identity"]["asin"] == row["asin"] for row in data["rows"])
    assert data["tokens"] == 0 and data["answered_from"]["mode"] == "replay"


@pytest.mark.parametrize("operation", ["products.compare", "products.get"])
def test_other_operations_give_their_own_part_of_the_answer(batch: Any, operation: str) -> None:
    words = ("--param", "full=true") if operation == "products.get" else ()
    data = batch(*BEST, "--operation", operation, *words)["data"]
    assert [row["data"]["asin"] for row in data["rows"]] == list(BEST)


def test_a_file_gets_one_json_line_per_asin(batch: Any, home: Path) -> None:
    data = batch(*BEST, "--out", "rows/out.jsonl")["data"]
    lines = (home / "work" / "rows" / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["asin"] for line in lines] == list(BEST)
    assert data["output"]["result_count"] == 3 and "rows" not in data


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def live(batch: Any, home: Path, clock: Clock) -> Iterator[Any]:
    """A sandbox whose bucket admits two requests of 100, and a list that needs three."""
    (home / "work" / "long.txt").write_text("\n".join(f"B0T{n:07d}" for n in range(230)), encoding="utf-8")
    with running_sandbox(seed=1, clock=clock, tokens=150) as box:
        env = {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY, "KEEPA_CLI_NO_CACHE": "1"}
        yield box, lambda *words: batch("long.txt", "--out", "out.jsonl", "--live", *words, env=env)


def test_a_long_list_asks_first_and_names_the_short_command(live: Any, home: Path) -> None:
    box, batch = live
    error = batch()["error"]
    assert error["kind"] == "confirmation_required" and error["details"]["worst_case_tokens"] == 230
    assert error["next_actions"] == ["kc batch asins long.txt --out out.jsonl --live --yes"]
    assert not box.log and not (home / "work" / "out.jsonl").exists()


def test_what_an_interrupted_run_was_given_is_not_asked_again(live: Any, home: Path, clock: Clock) -> None:
    box, batch = live
    error = batch("--yes", "--no-wait")["error"]
    assert error["kind"] == "not_enough_token" and error["details"]["answered"] == {"requests": 2, "of": 3}
    assert error["next_actions"][0] == "kc batch asins long.txt --out out.jsonl --live --yes"
    assert not (home / "work" / "out.jsonl").exists()
    asked = len(box.log)
    clock.forward(3600)
    second = batch("--yes")["data"]
    assert len(box.log) == asked + 1, "only the third request is sent"
    assert second["output"]["result_count"] == second["asked"] == 230


@pytest.mark.parametrize(
    ("words", "kind", "says"),
    [
        (("nope",), "invalid_arguments", "'nope' in command line, line 1"),
        (("words.txt", "--strict"), "invalid_arguments", "'nope' in words.txt, line 5"),
        (("empty.txt",), "invalid_arguments", "holds no ASIN"),
        (("nowhere.txt",), "io_error", "nowhere.txt"),
        (("broken.json",), "invalid_arguments", "is not JSON"),
        (("latin.txt",), "invalid_arguments", "not UTF-8"),
        ((ASIN, "--operation", "tracking.get"), "invalid_arguments", "does not take a list"),
        ((ASIN, "--operation", "nothing.here"), "unknown_command", "nothing.here"),
        ((ASIN, "--param", "domain=DE"), "invalid_arguments", "--domain"),
        ((ASIN, "--param", "offers=7"), "invalid_arguments", "ffers"),
        (("B000000001",), "cassette_miss", "No recording"),
    ],
)
def test_bad_input_is_refused(batch: Any, home: Path, words: tuple[str, ...], kind: str, says: str) -> None:
    (home / "work" / "empty.txt").write_text("# nothing\n", encoding="utf-8")
    (home / "work" / "broken.json").write_text("[1, 2", encoding="utf-8")
    (home / "work" / "latin.txt").write_bytes(b"B0PPJ248DY \xe9")
    error = batch(*words)["error"]
    assert error["kind"] == kind and says in error["message"]


def test_a_miss_names_the_command_that_records_the_whole_list(batch: Any) -> None:
    error = batch("words.txt")["error"]
    assert error["details"]["record_command"] == error["next_actions"][0] == "kc batch asins words.txt --record"


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_whatever_stands_in_a_file_it_is_a_list_or_a_refusal(raw: bytes) -> None:
    found = _asin_list.Asins()
    try:
        _asin_list._listed(found, raw, "file")
    except KeepaCliError as error:
        assert error.kind.value == "invalid_arguments"
    assert all(len(asin) == 10 for asin in found.found) and all(row["line"] >= 1 for row in found.invalid)
