"""Servers start without looking for garbage, and collect it afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from keepa_cli.interfaces.cli.serving import _collecting_later


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()
    gc.enable()


def test_garbage_is_collected_again_after_the_imports() -> None:
    with _collecting_later():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def test_also_when_an_import_fails() -> None:
    with pytest.raises(ImportError), _collecting_later():
        raise ImportError
    assert gc.isenabled()


def test_who_switched_the_collector_off_keeps_it_off() -> None:
    gc.disable()
    with _collecting_later():
        pass
    assert not gc.isenabled()
