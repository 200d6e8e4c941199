"""The key of an answer: the same for the same question, another for any other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli import ops
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.registry import Request
from keepa_cli.core.settings import load_settings
from keepa_cli.store.cachekey import key_of, lifetime, refusal, server_of

KEEPA = "https://api.keepa.com"
QUERIES = st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=8), max_size=5)


def get(path: str = "/product", **query: Any) -> Request:
    return Request("GET", path, query)


def test_the_key_never_changes_between_releases() -> None:
    assert key_of(get(domain=1, asin=["B000000001"]), KEEPA) == "335d95026bc587b614c00fc0e5cc5105"


def test_the_order_of_parameters_and_how_they_are_given_do_not_matter() -> None:
    one = Request("GET", "/product", {"domain": 1, "asin": ["B000000001", "B000000002"], "history": True, "days": None})
    two = Request("GET", "/product/", {"history": "1", "asin": "B000000001,B000000002", "domain": "1"})
    assert key_of(one, KEEPA) == key_of(two, KEEPA)


@pytest.mark.parametrize(
    "other",
    [
        get(domain=2, asin="B000000001"),
        get(domain=1, asin="B000000002"),
        get(domain=1, asin="B000000001", history=0),
        get("/seller", domain=1, asin="B000000001"),
        get(domain=1, asin="B000000001,B000000002"),
    ],
)
def test_every_parameter_counts_by_its_real_value(other: Request) -> None:
    assert key_of(other, KEEPA) != key_of(get(domain=1, asin="B000000001"), KEEPA)


def test_values_that_are_redacted_alike_have_keys_of_their_own() -> None:
    keys = {key_of(get("/search", term=f"token={n}", authorization=f"secret {n}"), KEEPA) for n in range(5)}
    assert len(keys) == 5


def test_the_api_key_is_no_part_of_it() -> None:
    keys = {key_of(get(domain=1, **{name: value}), KEEPA) for name in ("key", "KEY") for value in ("a" * 64, "b" * 64)}
    assert keys == {key_of(get(domain=1), KEEPA)}


@settings(max_examples=100, deadline=None)
@given(QUERIES, QUERIES)
def test_two_questions_share_a_key_only_if_they_are_the_same(one: dict[str, str], two: dict[str, str]) -> None:
    def meant(query: dict[str, str]) -> set[tuple[str, str]]:
        return {pair for pair in query.items() if pair[0].lower() != "key"}

    same = key_of(Request("GET", "/product", one), KEEPA) == key_of(Request("GET", "/product", two), KEEPA)
    assert same is (meant(one) == meant(two))


def test_another_server_is_another_question() -> None:
    servers = [KEEPA, "http://127.0.0.1:1234", "http://127.0.0.1:1235", "https://api.keepa.com:444", KEEPA + "/v2"]
    assert len({key_of(get(), server) for server in servers}) == len(servers)
    assert server_of("https://API.keepa.com/") == server_of("https://api.keepa.com:443") == "https://api.keepa.com:443"


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (get("/token"), "never kept"),
        (get("/tracking", type="list"), "never kept"),
        (get("/notification"), "never kept"),
        (Request("POST", "/query", {"domain": 1}, {"title": "x"}), "GET"),
        (Request("GET", "/product", {}, body={}), "GET"),
        (Request("GET", "/product", {}, binary=True), "JSON"),
        (Request("GET", "/product", {}, writes=True), "change nothing"),
        (get(update=0), "fresh"),
        (get(update="0"), "fresh"),
    ],
)
def test_what_is_never_kept_says_why(request_: Request, why: str) -> None:
    found = refusal(ops.find("request.get"), request_)
    assert found is not None and why in found


def test_reads_are_kept_unless_the_operation_forbids_it() -> None:
    assert refusal(ops.find("request.get"), get(update=-1)) is None
    assert refusal(ops.find("products.get"), get("/product/")) is None
    assert refusal(ops.find("request.post"), get()) is not None
    assert refusal(ops.find("tokens.status"), get()) is not None


def test_flags_win_over_settings_and_whatever_switches_off_wins_over_all() -> None:
    plain = load_settings({"KEEPA_CLI_CONFIG": "none.toml"})
    off = load_settings({"KEEPA_CLI_CONFIG": "none.toml", "KEEPA_CLI_NO_CACHE": "1"})
    assert (lifetime(plain).seconds, lifetime(plain).origin) == (300, "default")
    assert (lifetime(plain, 7).seconds, lifetime(plain, 7).origin) == (7, "flag")
    assert (lifetime(plain, None, True).seconds, lifetime(plain, None, True).origin) == (0, "flag")
    assert (lifetime(off, 7).seconds, lifetime(off, 7).origin) == (0, "environment")


@pytest.mark.parametrize("ttl", [0, -1, 31_536_001, 1.5, True, "soon"])
def test_a_ttl_that_is_none_is_refused_with_what_is_allowed(ttl: Any) -> None:
    with pytest.raises(KeepaCliError) as caught:
        lifetime(load_settings({"KEEPA_CLI_CONFIG": "none.toml"}), ttl)
    error = caught.value
    assert error.kind is Kind.INVALID_ARGUMENTS
    assert error.details == {"field": "cache_ttl", "value": ttl, "allowed": "1 to 31536000"}
    assert "--no-cache" in error.message


def test_a_ttl_and_no_cache_contradict_each_other() -> None:
    with pytest.raises(KeepaCliError) as caught:
        lifetime(load_settings({"KEEPA_CLI_CONFIG": "none.toml"}), 60, True)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
