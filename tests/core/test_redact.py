from __future__ import annotations

import json
import logging
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.redact import REDACTED, Redactor, encoded_forms
from tests.cassettes.canary import KEY, encodings, leaked

LONG = "q7w8e9r0" * 8
REDACTOR = Redactor(KEY, LONG)
FORMS = encodings()


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("key", [KEY, LONG], ids=["canary", "64 characters"])
def test_every_spelling_is_found_and_replaced(name: str, key: str) -> None:
    form = FORMS[name](key)
    data = b'{"first":1.10,"m":"before ' + form + b' after","last":[1,2]}'
    assert REDACTOR.find(data)
    clean = REDACTOR.body(data)
    assert not leaked(clean, key)
    assert not REDACTOR.find(clean)
    assert clean.startswith(b'{"first":1.10,"m":"before [REDACTED]')
    assert clean.endswith(b' after","last":[1,2]}')


@pytest.mark.parametrize(("form", "written"), encoded_forms(KEY).items(), ids=list(encoded_forms(KEY)))
def test_the_listed_forms_are_forms(form: str, written: bytes) -> None:
    assert REDACTOR.find(b"<" + written + b">")
    assert form.startswith("base64") or leaked(written)


def test_forms_are_told_apart() -> None:
    found = {name: REDACTOR.find(FORMS[name](KEY)) for name in FORMS}
    assert found["raw"] == ["raw"]
    assert found["percent lower"] == ["percent"]
    assert found["percent double"] == ["percent-double"]
    assert found["json slash"] == ["json"]
    assert found["html decimal"] == ["html"]
    assert found["hex upper"] == ["hex"]
    assert "base64" in found["base64 1"]
    assert found["base64 of gzip"] == ["base64-nested"]
    assert REDACTOR.find(KEY.encode("utf-16-le")) == ["utf-16"]
    assert REDACTOR.find(KEY.encode().replace(b"/", b"/\\\n      \\")) == ["json"]


@settings(max_examples=60, deadline=None)
@given(
    key=st.text(st.characters(min_codepoint=33, max_codepoint=0x1F64F, exclude_categories=("Cs", "Zs")), min_size=12),
    name=st.sampled_from(sorted(encoded_forms(KEY))),
    before=st.binary(max_size=40),
    after=st.binary(max_size=40),
)
def test_any_key_in_any_form_is_found(key: str, name: str, before: bytes, after: bytes) -> None:
    written = encoded_forms(key)[name]
    redactor = Redactor(key)
    assert redactor.find(before + b" " + written + b" " + after)
    clean = redactor.values(before + b" " + written + b" " + after)
    assert not redactor.find(clean)


def test_a_clean_body_is_returned_as_it_is(shared_data: Any) -> None:
    for file in sorted(shared_data.glob("*.json")):
        body = file.read_bytes()
        assert REDACTOR.body(body) is body
        assert REDACTOR.find(body) == []
        assert REDACTOR.data(json.loads(body)) == json.loads(body)


def test_a_key_among_packed_numbers_and_across_window_borders_is_found() -> None:
    filler = b'{"csv":[' + b"7654321,1999," * 100_000 + b"1]"
    for at in (0, (1 << 20) - 30, (1 << 20) - 9, 1 << 20, len(filler)):
        for name in ("raw", "percent every", "base64 1", "json unicode every"):
            data = filler[:at] + b' "' + FORMS[name](LONG) + b'" ' + filler[at:]
            assert REDACTOR.find(data), (at, name)
            assert REDACTOR.values(data) == filler[:at] + b' "[REDACTED]" ' + filler[at:]


def test_keys_made_of_digits_spaces_or_quotes() -> None:
    for key in ("12345678901234567890", "a key with spaces in it", "quo\"te'd-\\key-1234", "päß-schlüssel-9876"):
        redactor = Redactor(key)
        for name, written in encoded_forms(key).items():
            data = b'{"a":[1,2,"x ' + written + b' y"]}'
            assert redactor.find(data), (key, name)
            assert not redactor.find(redactor.values(data)), (key, name)


def test_a_key_stored_with_a_line_end_is_found_without_it() -> None:
    assert Redactor(f"{KEY}\n").text(f"bad {KEY}!") == f"bad {REDACTED}!"


def test_a_very_short_secret_does_not_redact_everything() -> None:
    assert Redactor("a").text("banana") == "banana"
    assert Redactor("abcd").text("xx abcd yy a b c d") == f"xx {REDACTED} yy a b c d"
    assert Redactor("").secrets == []


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("GET /product?domain=1&key=abc&asin=B1", "GET /product?domain=1&key=[REDACTED]&asin=B1"),
        (
            "GET /p?Api_Key=abc;token=de#authorization=f",
            "GET /p?Api_Key=[REDACTED];token=[REDACTED]#authorization=[REDACTED]",
        ),
        ("next=https%3A%2F%2Fx%2Fp%3Fkey%3Dabc%26a%3D1", "next=https%3A%2F%2Fx%2Fp%3Fkey%3D[REDACTED]%26a%3D1"),
        ("Authorization: Bearer abc.def-123", "Authorization: [REDACTED]"),
        ("sent Bearer abcdefgh12345678 there", "sent Bearer [REDACTED] there"),
        ("{'key': 'abc', 'domain': 1}", "{'key': [REDACTED], 'domain': 1}"),
        ('{"token": "abc", "tokensLeft": 3}', '{"token": [REDACTED], "tokensLeft": 3}'),
        ("Set-Cookie: sid=1; Path=/\nDate: x", "Set-Cookie: [REDACTED]\nDate: x"),
        ("https://user:pw@proxy.test:8080/x", "https://[REDACTED]@proxy.test:8080/x"),
        ("key: 0123456789abcdefghij", "key: [REDACTED]"),
        ("--token: give the key on stdin", "--token: give the key on stdin"),
        ("tokensLeft=5 monkey=1 token_bucket={}", "tokensLeft=5 monkey=1 token_bucket={}"),
        ('curl "$KEEPA_BASE_URL/token?key=$KEEPA_API_KEY"', 'curl "$KEEPA_BASE_URL/token?key=$KEEPA_API_KEY"'),
        ("no key was found; set KEEPA_API_KEY", "no key was found; set KEEPA_API_KEY"),
        ("https://api.keepa.com/token?domain=1", "https://api.keepa.com/token?domain=1"),
    ],
)
def test_secret_names_in_texts(text: str, clean: str) -> None:
    assert Redactor().text(text) == clean
    assert Redactor(KEY).text(clean) == clean


def test_data_by_name_and_by_value() -> None:
    numbers = list(range(1000))
    data = {
        "key": "x",
        "API_KEY": 5,
        "ApiKey": ["x"],
        "token": {"a": "x"},
        "Authorization": None,
        "tokensLeft": 3,
        "token_bucket": {"tokens_left": 2},
        "csv": numbers,
        "nested": [({"key": "x"},), f"https://api.keepa.com/product?key=x&u={KEY}"],
        f"name {KEY}": True,
        "bytes": b"key=x",
        "schema": {"properties": {"token": {"type": "string"}}},
    }
    clean = REDACTOR.data(data)
    assert clean == {
        "key": REDACTED,
        "API_KEY": REDACTED,
        "ApiKey": REDACTED,
        "token": REDACTED,
        "Authorization": None,
        "tokensLeft": 3,
        "token_bucket": {"tokens_left": 2},
        "csv": numbers,
        "nested": [[{"key": REDACTED}], f"https://api.keepa.com/product?key={REDACTED}&u={REDACTED}"],
        f"name {REDACTED}": True,
        "bytes": b"key=[REDACTED]",
        "schema": {"properties": {"token": {"type": "string"}}},
    }
    assert clean["csv"] is numbers
    assert data["key"] == "x"


def test_data_of_any_depth_and_with_cycles() -> None:
    deep: Any = KEY
    for _ in range(100_000):
        deep = [deep, "x"]
    clean = REDACTOR.data(deep)
    for _ in range(100_000):
        clean = clean[0]
    assert clean == REDACTED
    ring: dict[str, Any] = {"token": "x"}
    ring["self"] = ring
    copy = REDACTOR.data(ring)
    assert copy["self"] is copy
    assert copy["token"] == REDACTED


def test_a_body_is_cleaned_by_name_and_otherwise_kept_byte_for_byte() -> None:
    body = b'{"b": 1.10, "Key" :\t"x\\"y", "big":12345678901234567890123,"b":1e5, "token":{"a":[1,"}"]},"token":null}'
    clean = (
        b'{"b": 1.10, "Key" :\t"[REDACTED]", "big":12345678901234567890123,"b":1e5, "token":"[REDACTED]","token":null}'
    )
    assert Redactor().body(body) == clean
    assert Redactor().body(clean) is clean
    assert Redactor().body(b'{"\\u006bey":"x"}') == b'{"\\u006bey":"[REDACTED]"}'
    assert Redactor().body(b'{"m":"\\"key\\": x"}') == b'{"m":"\\"key\\": x"}'


def test_a_text_is_redacted_before_it_is_cut() -> None:
    text = f"failed: {KEY} at the end"
    for limit in range(len(text) + 3):
        cut = REDACTOR.redact_then_cut(text, limit)
        assert len(cut) <= max(limit, 1)
        assert not any(KEY[i : i + 6] in cut for i in range(len(KEY) - 5))


def test_log_records_are_clean_before_a_handler_sees_them(caplog: pytest.LogCaptureFixture) -> None:
    from keepa_cli.core.logs import RedactingFilter

    logger = logging.getLogger("test.redact")
    logger.addFilter(RedactingFilter(REDACTOR))
    with caplog.at_level(logging.DEBUG, "test.redact"):
        try:
            raise ValueError(f"no {KEY}")
        except ValueError:
            logger.exception("url %s and %d", f"/p?key={KEY}", 3, stack_info=True)
        logger.info("wrong %d", KEY)
    assert "url /p?key=[REDACTED] and 3" in caplog.text
    assert "ValueError: no [REDACTED]" in caplog.text
    assert KEY not in caplog.text
    assert KEY not in repr(REDACTOR)


def _seconds(text: str) -> float:
    start = time.process_time()
    REDACTOR.text(text)
    REDACTOR.body(text.encode())
    return time.process_time() - start


@pytest.mark.parametrize(
    "unit",
    ["\\", '\\"', '"', "%25", "%", "&#0", "key=", "key:", "token: ", "https://", "https://a@", "A", "{", '"key":',
     '"key":[', "cookie:", "\\u00", "Bearer ", "'key':'", "@", '"a', "=", " ", "key ", "&"],
)  # fmt: skip
def test_time_grows_with_the_length_only(unit: str) -> None:
    small, large = (min(_seconds(unit * (n // len(unit))) for _ in range(2)) for n in (20_000, 160_000))
    assert large < 8 * 4 * small + 0.05


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_text_never_raises_and_is_stable(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_body_never_raises_and_is_stable(data: bytes) -> None:
    once = REDACTOR.body(data)
    assert REDACTOR.body(once) == once


def test_a_name_that_was_harmless_is_not_once_it_holds_a_new_secret() -> None:
    redactor = Redactor()
    assert redactor.data({"abcdefghijklmnop": 1}) == {"abcdefghijklmnop": 1}
    redactor.add_secret("abcdefghijklmnop")
    assert redactor.data({"abcdefghijklmnop": 1}) == {REDACTED: 1}
