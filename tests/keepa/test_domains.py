from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.keepa.domains import CODES, DOMAINS, NAMES, require, resolve


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=lambda d: d.code)
def test_every_spelling_names_the_domain(domain: Any) -> None:
    suffix = domain.host.removeprefix("amazon.")
    spellings = [domain.id, str(domain.id), domain.code, domain.host, suffix, "." + suffix, f"www.{domain.host}"]
    spellings += [f"https://www.{domain.host}/"]
    for spelling in spellings:
        assert resolve(spelling) is domain
        if isinstance(spelling, str):
            assert resolve(f" {spelling.lower()} ") is resolve(spelling.upper()) is domain


def test_uk_is_britain() -> None:
    assert resolve("uk").code == resolve("gb").code == "GB"


@pytest.mark.parametrize(
    "value", [0, 7, 13, 14, "0", "7", "cn", "au", "nl", "xx", "", None, True, 1.0, "1.0", "01", "amazon", [], "us,de"]
)
def test_everything_else_is_refused(value: Any) -> None:
    with pytest.raises(KeepaCliError) as caught:
        resolve(value)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
    assert caught.value.details["allowed"] == list(CODES)
    assert caught.value.details["field"] == "domain"


@pytest.mark.parametrize(
    ("value", "hint", "text"),
    [
        ("amazon.con", "US", "Did you mean US?"),
        ("amzon.de", "DE", "'amzon.de'"),
        ("co.ukk", "GB", "Did you mean GB?"),
        (7, None, "retired amazon.cn"),
        ("amazon.com.au", None, "retired amazon.com.au"),
        (None, None, "domain nothing"),
    ],
)
def test_the_refusal_helps(value: Any, hint: str | None, text: str) -> None:
    with pytest.raises(KeepaCliError) as caught:
        resolve(value)
    assert caught.value.details["did_you_mean"] == hint
    assert text in caught.value.message
    assert "US, GB, DE" in caught.value.message


@given(st.text() | st.integers() | st.floats() | st.none() | st.booleans())
def test_no_value_falls_back(value: Any) -> None:
    try:
        found = resolve(value)
    except KeepaCliError:
        return
    bare = str(value).strip().lower().split("//")[-1].rstrip("/").removeprefix("www.").lstrip(".")
    assert NAMES[bare] is found


def test_brazil_is_not_everywhere() -> None:
    assert require("br", "/product").id == 12
    with pytest.raises(KeepaCliError, match="no BR") as caught:
        require("amazon.com.br", "search")
    assert "BR" not in caught.value.details["allowed"]
    assert require("de", "search").id == 3
