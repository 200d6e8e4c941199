"""The docs generator: command output in pages is real, current, and free of this machine's paths."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import REPO

sys.path.insert(0, str(REPO / "scripts"))

from docgen import blocks, reference
from docgen.scratch import Scratch, shape

PAGE = "# Title\n\n<!-- run{options}: kc demo -->\n{body}<!-- end -->\ntail\n"


class Said(Scratch):
    """Answers with a text instead of running anything."""

    def __init__(self, text: str, code: int = 0) -> None:
        self.text, self.code = text, code

    def shell(self, line: str) -> tuple[int, str]:
        return self.code, self.text


def page(body: str = "", options: str = "") -> str:
    return PAGE.format(body=body, options=options)


def test_a_block_holds_the_output_and_the_rest_of_the_page_stays() -> None:
    wanted = page("```console\n$ kc demo\nhello\n```\n")
    assert blocks.refresh(page(), Said("hello"), name="x") == wanted
    assert blocks.refresh(page("old\n"), Said("hello"), name="x") == wanted


def test_new_figures_alone_change_nothing_but_a_new_line_does() -> None:
    old = page("```console\n$ kc demo\ntook 3.2 s, 14 files, sha 0123456789abcdef\n```\n")
    assert blocks.refresh(old, Said("took 12 s, 9 files, sha fedcba9876543210"), name="x") == old
    assert "extra" in blocks.refresh(old, Said("took 12 s, 9 files, sha 00aa00aa\nextra"), name="x")


def test_a_command_that_does_not_work_stops_the_build() -> None:
    with pytest.raises(blocks.BrokenExample, match="ended with 6"):
        blocks.refresh(page(), Said("no recording", 6), name="x")
    assert "no recording" in blocks.refresh(page(options=" fails"), Said("no recording", 6), name="x")
    with pytest.raises(blocks.BrokenExample, match="expected to fail"):
        blocks.refresh(page(options=" fails"), Said("fine"), name="x")


def test_layouts() -> None:
    assert '{\n  "ok": true\n}' in blocks.refresh(page(options=" json"), Said('{"ok": true}'), name="x")
    assert "1\n2\n...\n" in blocks.refresh(page(options=" lines=2"), Said("1\n2\n3"), name="x")


def test_output_names_no_folder_of_this_machine(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    code, output = scratch.shell("kc config show")
    assert code == 0
    assert str(tmp_path.resolve()) not in output
    assert "~" in output
    assert str(REPO) not in scratch.clean(f"{REPO}/docs")


def test_only_kc_is_run(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="only kc"):
        Scratch(tmp_path).shell("rm -rf x")


def test_the_shape_of_a_text_ignores_figures_only() -> None:
    assert shape("a 1.5 ms  b") == shape("a 12 ms  b")
    assert shape("a ms") != shape("b ms")


def test_tables_survive_bars_in_cells() -> None:
    assert "a\\|b" in reference.table(("x",), [("a|b",)])
