from __future__ import annotations

import re
import string
from typing import Any

import pytest

from keepa_cli.core.errors import ERRORS
from keepa_cli.interfaces.cli.texts import EN, ZH, ZH_MEANINGS


def test_both_languages_have_the_same_words_with_the_same_places() -> None:
    def places(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    assert {k: places(v) for k, v in EN.items()} == {k: places(v) for k, v in ZH.items()}
    assert set(ZH_MEANINGS) == set(ERRORS)


@pytest.mark.parametrize("args", [("products", "get"), ("products", "get", "B000000001", "--dry-run")])
def test_the_language_setting_changes_text_for_people_only(cli: Any, args: tuple[str, ...]) -> None:
    english, plain = cli(*args), cli("--json", *args)
    assert cli("config", "set-language", "zh-CN").returncode == 0
    chinese = cli(*args)
    assert re.search("[\u4e00-\u9fff]", chinese.stdout + chinese.stderr)
    assert not re.search("[\u4e00-\u9fff]", english.stdout + english.stderr)
    assert cli("--json", *args).stdout == plain.stdout
