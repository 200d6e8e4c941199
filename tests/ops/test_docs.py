from __future__ import annotations

import json
from typing import Any

import pytest


def data(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    assert found["ok"], found
    return found["data"]


def test_the_index_lists_everything_in_reading_order(cli: Any) -> None:
    found = data(cli("--json", "docs", "index"))
    order = found["recommended_read_order"]
    assert order[:3] == ["index", "quickstart", "contract"]
    pages = [p["page"] for p in found["pages"]]
    assert pages[: len(order)] == order
    assert any(p.startswith("reference/") for p in pages)
    assert {"envelope", "error", "response/product"} <= {s["schema"] for s in found["schemas"]}
    assert found["fixtures"]["count"] > 10
    assert found["evidence"][0]["rows"] > 10


def test_everything_that_is_listed_can_be_read(cli: Any) -> None:
    found = data(cli("--json", "docs", "index"))
    for page in found["pages"]:
        assert data(cli("--json", "docs", "read", page["page"]))["title"] == page["title"]
        assert data(cli("--json", "docs", "read", "--uri", page["uri"]))["page"] == page["page"]
    for schema in found["schemas"]:
        assert data(cli("--json", "docs", "read", "--uri", schema["uri"]))["content"]


@pytest.mark.parametrize(
    ("args", "page"),
    [
        ([], "index"),
        (["quickstart.md"], "quickstart"),
        (["--uri", "keepa://wiki/page/reference/errors"], "reference/errors"),
        (["--uri", "keepa://wiki/page/reference%2Ferrors"], "reference/errors"),
        (["--uri", "keepa://zread/wiki/quickstart"], "quickstart"),
        (["--uri", "keepa://zread/wiki/page/quickstart"], "quickstart"),
        (["--uri", "keepa://zread/wiki/current"], "index"),
    ],
)
def test_names_and_addresses(cli: Any, args: list[str], page: str) -> None:
    found = data(cli("--json", "docs", "read", *args))
    assert found["page"] == page and "\n# " in "\n" + found["text"]


@pytest.mark.parametrize(
    "args",
    [["quickstrat"], ["--uri", "keepa://other/quickstart"], ["--uri", "keepa://wiki/page/../../README"],
     ["/etc/passwd"],
     ["--uri", "keepa://schema/../contract"], ["quickstart", "--uri", "keepa://wiki/page/index"]],
)  # fmt: skip
def test_what_is_not_there_is_refused(cli: Any, args: list[str]) -> None:
    result = cli("--json", "docs", "read", *args)
    assert json.loads(result.stdout)["error"]["kind"] == "invalid_arguments"
    assert result.returncode == 2


def test_a_page_leads_to_the_next(cli: Any) -> None:
    assert data(cli("--json", "docs", "read", "index"))["next_page"] == "quickstart"
    assert "Did you mean quickstart?" in cli("docs", "read", "quickstrat").stderr


@pytest.mark.parametrize(
    ("uri", "page"),
    [
        ("keepa://wiki/current", "index"),
        ("keepa://zread/wiki/current", "index"),
        ("keepa://wiki/page/quickstart", "quickstart"),
        ("keepa://guides/categories", "guides/categories"),
        ("keepa://guides/cassette-promotion", "cassettes"),
    ],
)
def test_pages_are_read_by_the_addresses_of_their_resources(cli: Any, uri: str, page: str) -> None:
    assert data(cli("--json", "docs", "read", "--uri", uri))["page"] == page
