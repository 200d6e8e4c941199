"""The canary battery: a key in every place of an exchange, in every spelling, through sanitize, dump and scan."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes.codec import dump_cassette, parse_cassette
from keepa_cli.cassettes.fingerprint import fingerprint
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.sanitize import sanitize
from keepa_cli.cassettes.scan import scan_bytes, scan_exchange
from keepa_cli.core.redact import Redactor
from tests.cassettes.canary import KEY, PERSONAL, encodings, leaked, placements

PLACES = placements()
FORMS = encodings()
REDACTOR = Redactor(KEY)
KEEPA_KEY = "k3e9p4a7" * 8


def dumped(exchange: Exchange) -> bytes:
    return b"".join(dump_cassette([exchange]))


def parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


@pytest.mark.parametrize("key", [KEY, KEEPA_KEY], ids=["canary", "64 characters"])
@pytest.mark.parametrize("place", PLACES)
def test_no_form_is_left_anywhere(place: str, key: str, record_property: Any) -> None:
    redactor = Redactor(key)
    left = {}
    for form, encode in FORMS.items():
        dirty = PLACES[place](encode(key))
        clean, counts = sanitize(dirty, redactor)
        data = dumped(clean)
        found = leaked(data, key) + [p for p in PERSONAL if p.encode() in data]
        found += [f.as_dict() for f in scan_bytes(data, "a.yaml", redactor) + scan_exchange(clean, "a.yaml", redactor)]
        if found or sanitize(clean, redactor) != (clean, {}):
            left[form] = (found, counts)
    checked = f"{len(PLACES)} placements x {len(FORMS)} encodings = {len(PLACES) * len(FORMS)}"
    record_property("canary", checked)
    assert not left, f"{place}, of {checked}"


def test_the_battery_is_big_enough_and_its_detector_sees_each_case() -> None:
    assert len(PLACES) >= 60
    assert len(PLACES) * len(FORMS) >= 3000
    unseen = [
        (place, form)
        for place, build in PLACES.items()
        for form, encode in FORMS.items()
        if not leaked(repr(build(encode(KEY))).encode() + build(encode(KEY)).body + build(encode(KEY)).request_body)
        and place not in {"deflate bare", "gzip twice"}
    ]
    assert not unseen


@pytest.mark.parametrize("place", PLACES)
def test_the_scan_finds_each_case_before_sanitizing_and_never_shows_it(place: str) -> None:
    for form, encode in FORMS.items():
        dirty = PLACES[place](encode(KEY))
        findings = scan_exchange(dirty, "a.yaml", REDACTOR)
        if dirty.url.startswith("http"):
            findings += scan_bytes(dumped(dirty), "a.yaml", REDACTOR)
        assert "configured_key" in {f.rule for f in findings}, form
        assert not leaked(json.dumps([f.as_dict() for f in findings]).encode())


@pytest.mark.parametrize("place", PLACES)
def test_a_sanitized_cassette_can_still_be_used(place: str) -> None:
    for encode in FORMS.values():
        dirty = PLACES[place](encode(KEY))
        clean, counts = sanitize(dirty, REDACTOR)
        (read,) = parse_cassette(dumped(clean), "a.yaml")
        assert (read.method, read.url, read.status, read.reason) == (
            clean.method,
            clean.url,
            clean.status,
            clean.reason,
        )
        assert parsed(read.body) == parsed(clean.body)
        assert clean.status == dirty.status
        if parsed(dirty.body) is not None:
            assert parsed(clean.body) is not None
        assert clean.headers["Content-Length"] == [str(len(clean.body))]
        assert len(fingerprint(clean.method, clean.url, clean.request_body)) == 16
        if b'"big"' in dirty.body and "opaque" not in counts:
            assert clean.body == dirty.body


@pytest.mark.parametrize("place", PLACES)
def test_plain_vcrpy_replays_a_sanitized_cassette(place: str, tmp_path: Path) -> None:
    import requests
    import vcr

    clean, _ = sanitize(PLACES[place](FORMS["percent"](KEY)), REDACTOR)
    (tmp_path / "a.yaml").write_bytes(dumped(clean))
    with warnings.catch_warnings(), vcr.use_cassette(str(tmp_path / "a.yaml"), record_mode="none") as cassette:
        answer = requests.request(clean.method, clean.url, data=clean.request_body, allow_redirects=False, timeout=5)
    assert answer.status_code == clean.status
    assert cassette.all_played
    assert parsed(answer.content) == parsed(clean.body)
    assert parsed(clean.body) is not None or answer.content == clean.body


@settings(max_examples=60, deadline=None)
@given(
    key=st.text(
        st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="%\\&"), min_size=20, max_size=64
    ),
    place=st.sampled_from(sorted(PLACES)),
    form=st.sampled_from(sorted(FORMS)),
)
def test_a_random_key_never_survives(key: str, place: str, form: str) -> None:
    redactor = Redactor(key)
    clean, _ = sanitize(PLACES[place](FORMS[form](key)), redactor)
    data = dumped(clean)
    assert not leaked(data, key)
    assert not redactor.find(data)
