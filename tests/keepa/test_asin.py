from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.keepa.asin import check_digit, classify_code, isbn10_valid, parse_asin, parse_code


@pytest.mark.parametrize(
    ("value", "asin"),
    [
        ("B0D8W1YVBX", "B0D8W1YVBX"),
        (" b0d8w1yvbx ", "B0D8W1YVBX"),
        ("0306406152", "0306406152"),
        (306406152, "0306406152"),
        ("306406152", "0306406152"),
        ("080442957x", "080442957X"),
        ("80442957X", "080442957X"),
        (1306406152, "1306406152"),
    ],
)
def test_asins(value: Any, asin: str) -> None:
    assert parse_asin(value) == asin


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("B0D8W1YVB", "has 9"),
        ("B0D8W1YVBXX", "has 11"),
        (306406153, "has 9"),
        ("0747474801770", "--code"),
        ("https://www.amazon.com/dp/b0d8w1yvbx?x=1", "B0D8W1YVBX"),
        ("B0D8W1YVB-", "'-'"),
        ("B0D8W1YVBß", "'ß'"),
        ("B0D8W1YVß", "has 9"),
        ("１０３０６４０６１５", "not"),
        ("", "10 letters and digits"),
        (None, "10 letters and digits"),
        (True, "10 letters and digits"),
        (1.5, "10 letters and digits"),
        (["B0D8W1YVBX"], "10 letters and digits"),
    ],
)
def test_other_text_is_refused(value: Any, text: str) -> None:
    with pytest.raises(KeepaCliError) as caught:
        parse_asin(value)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
    assert text in caught.value.message
    assert caught.value.details["field"] == "asin"


@given(st.text(alphabet=string.ascii_letters + string.digits + "-ßıſ ", max_size=13) | st.integers())
def test_only_asins_come_out(value: Any) -> None:
    try:
        asin = parse_asin(value)
    except KeepaCliError:
        return
    assert len(asin) == 10
    assert asin.isascii()
    assert asin == asin.upper()
    assert asin.endswith(str(value).strip().upper())


@given(st.integers(0, 10**9 - 1))
def test_a_wrong_check_digit_is_noticed(number: int) -> None:
    body = f"{number:09}"
    assert sum(isbn10_valid(body + last) for last in "0123456789X") == 1


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("0747474801770", "0747474801770"),
        (747474801770, "747474801770"),
        ("978-0-306-40615-7", "9780306406157"),
        ("36000291452", "036000291452"),
        ("96385074", "96385074"),
        ("10036000291459", "10036000291459"),
    ],
)
def test_codes(value: Any, code: str) -> None:
    assert parse_code(value) == code


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0747474801771", "should be 0 for EAN"),
        ("123", "3 digits"),
        ("B0D8W1YVBX", "looks like an ASIN"),
        ("0306406152", "ISBN-10 is an ASIN"),
        ("12x", "more than digits"),
        ("", "text of 8"),
        (None, "text of 8"),
        ("٠٧٤٧٤٧٤٨٠١٧٧٠", "more than digits"),
    ],
)
def test_wrong_codes_are_refused(value: Any, text: str) -> None:
    with pytest.raises(KeepaCliError) as caught:
        parse_code(value)
    assert caught.value.kind is Kind.INVALID_ARGUMENTS
    assert text in caught.value.message


@given(st.text(alphabet=string.digits, min_size=11, max_size=13))
def test_exactly_one_check_digit_fits(body: str) -> None:
    assert [d for d in string.digits if classify_code(body + d)["valid"]] == [check_digit(body)]


@pytest.mark.parametrize(
    ("value", "kind", "valid"),
    [
        ("036000291452", "upc", True),
        ("4006381333931", "ean", True),
        ("9780306406157", "isbn13", True),
        ("9780306406158", "isbn13", False),
        ("9790060115615", "ean", True),
        ("96385074", "ean8", True),
        ("10036000291459", "gtin14", True),
        ("0-306-40615-2", "isbn10", True),
        ("B0D8W1YVBX", "asin", True),
        ("hello", None, False),
        (None, None, False),
    ],
)
def test_classification(value: Any, kind: str | None, valid: bool) -> None:
    found = classify_code(value)
    assert (found["kind"], found["valid"]) == (kind, valid)
    assert (found["reason"] is None) is valid
