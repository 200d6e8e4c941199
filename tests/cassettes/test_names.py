"""Names never leave their folder, and two texts never share a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes.names import (
    check_name,
    file_name,
    is_cassette_name,
    safe_name,
    split_file_name,
)
from keepa_cli.core.errors import KeepaCliError, Kind

FINGERPRINT = "0123456789abcdef"


@pytest.mark.parametrize("name", ["a", "B0D8W1YVBX-us", "x.y_z", "price 2026", "caf\u00e9", "a" * 120, "console"])
def test_plain_names_are_accepted(name: str) -> None:
    assert check_name(name) == name
    assert check_name(name + ".json") == check_name(name + ".YAML") == name


@pytest.mark.parametrize(
    "name",
    ["", " ", ".", "..", "../x", "a/b", "/etc/x", "a\\b", "C:x", ".hidden", "-x", "a\x00", "a\nb", "con", "NUL.txt"],
)
def test_other_names_are_refused_with_the_reason(name: str) -> None:
    refused(name)


@pytest.mark.parametrize(
    "name", ["a" * 121, "\u4ef7" * 41, "a.", " a", "a ", "a*", ".yaml", "x\u2028", "\ud800", "aux.yaml", "com1"]
)
def test_long_and_unportable_names_are_refused(name: str) -> None:
    refused(name)


def refused(name: str) -> None:
    with pytest.raises(KeepaCliError) as failure:
        check_name(name, field="fixture")
    assert failure.value.kind is Kind.INVALID_ARGUMENTS
    assert failure.value.details["field"] == "fixture"
    assert "plain file name" in failure.value.details["allowed"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=300), unique=True, max_size=5))
def test_any_texts_become_distinct_plain_names(texts: list[str]) -> None:
    names = [safe_name(text) for text in texts]
    assert len(set(names)) == len(texts)
    for name in names:
        assert name.isascii() and len(name) <= 200
        assert check_name(name + ".yaml") == name
        assert Path("base", name).resolve().parent == Path("base").resolve()


def test_a_plain_name_stays_itself() -> None:
    assert safe_name("B0D8W1YVBX-us") == "B0D8W1YVBX-us"
    assert safe_name("a.yaml") not in ("a", "a.yaml")
    assert safe_name("CON").startswith("name-")


def test_file_names_carry_the_fingerprint() -> None:
    file = file_name("a.b", FINGERPRINT)
    assert file == "a.b.0123456789abcdef.yaml"
    assert split_file_name(file) == ("a.b", FINGERPRINT)
    assert split_file_name("foreign.yaml") == ("foreign", None)
    assert split_file_name("x.0123456789ABCDEF.yaml") == ("x.0123456789ABCDEF", None)


def test_sidecars_and_hidden_files_are_no_cassettes() -> None:
    assert [f for f in ("a.yaml", "b.YML", "c.json") if not is_cassette_name(f)] == []
    others = (".a.yaml", "a.evidence.json", "a.meta.json", "a.txt", "yaml", ".tmp-a.yaml")
    assert [f for f in others if is_cassette_name(f)] == []
