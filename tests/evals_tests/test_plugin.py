"""The pytest plugin: evals become items where asked for, and reports hold no key."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest_plugins = ["pytester"]
KEY = "1f8k" + "0a9b8c7d6e5f4g3h2i1j" * 3

GOOD = {
    "id": "good",
    "description": "Marketplaces are listed.",
    "command": "domains.list",
    "assertions": [{"path": "$.data.domains[0].code", "equals": "US"}],
}


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project of somebody else, with evals in my-evals and a JSON file that is none of our business."""
    for name in ("CONFIG", "STATE_DIR", "DATA_DIR"):
        monkeypatch.setenv(f"KEEPA_CLI_{name}", str(pytester.path / "none" / name.lower()))
    monkeypatch.delenv("CI", raising=False)
    (pytester.path / "my-evals").mkdir()
    (pytester.path / "data.json").write_text("{}")
    pytester.makepyfile(test_own="def test_own(): pass")
    return pytester


def write(project: pytest.Pytester, name: str, content: Any) -> None:
    (project.path / "my-evals" / f"{name}.json").write_text(json.dumps(content))


def run(project: pytest.Pytester, *args: str) -> pytest.RunResult:
    return project.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:randomly", *args)


def test_a_project_that_does_not_ask_gets_no_items(project: pytest.Pytester) -> None:
    write(project, "good", GOOD)
    run(project).assert_outcomes(passed=1)


def test_the_ini_option_collects_below_the_folders_that_are_run(project: pytest.Pytester) -> None:
    write(project, "good", GOOD)
    project.makeini("[pytest]\nkeepa_evals = my-evals\n")
    done = run(project, "-v")
    done.assert_outcomes(passed=2)
    done.stdout.fnmatch_lines(["*my-evals/good.json::good PASSED*"])


def test_the_option_names_a_place_by_itself(project: pytest.Pytester) -> None:
    write(project, "good", GOOD)
    run(project, "--keepa-evals", "my-evals").assert_outcomes(passed=1)
    run(project, "--keepa-evals", "my-evals/good.json", "test_own.py").assert_outcomes(passed=2)


def test_a_place_that_is_not_there_is_a_usage_error(project: pytest.Pytester) -> None:
    done = run(project, "--keepa-evals", "nowhere")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*no file or folder 'nowhere'*"])


def test_a_failure_shows_path_expected_and_actual(project: pytest.Pytester) -> None:
    write(project, "bad", GOOD | {"id": "bad", "assertions": [{"path": "$.data.domains[0].code", "equals": "XX"}]})
    done = run(project, "--keepa-evals", "my-evals")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "*eval bad: 1 of 2 assertions do not hold",
            "*$.data.domains[[]0].code",
            '*expected: equals "XX"',
            '*actual: *"US"',
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")


ODD = {
    "key": (GOOD | {"asserts": []}, "did you mean 'assertions'"),
    "kind": ({**GOOD, "kind": "mcp_session"}, "the key 'command' is not known"),
    "command": (GOOD | {"command": "domains.lst"}, "There is no command 'domains.lst'"),
    "writes": (GOOD | {"command": "config.set-mode", "params": {"mode": "live"}}, "writes; an eval may only"),
    "itself": (GOOD | {"command": "evals.run"}, "cannot run evals"),
}


def test_what_cannot_be_judged_fails(project: pytest.Pytester) -> None:
    for name, (content, _) in ODD.items():
        write(project, name, content)
    done = run(project, "--keepa-evals", "my-evals")
    done.assert_outcomes(failed=len(ODD))
    for _, says in ODD.values():
        done.stdout.fnmatch_lines_random([f"*{says}*"])


LEAKS = f"""
    import logging, pytest
    URL = "https://api.keepa.com/token?key={KEY}&domain=1"

    def test_traceback():
        raise RuntimeError("no recording for " + URL)

    def test_captured():
        print(URL)
        logging.getLogger("vcr").warning("%s", URL)
        assert URL == "{KEY[:30]}"

    @pytest.fixture
    def broken():
        raise ValueError(URL)

    def test_setup(broken):
        pass

    def test_skipped():
        pytest.skip(URL)

    def test_printed():
        print(URL)
"""


@pytest.mark.parametrize(
    "options",
    [(), ("-rA", "--color=yes"), ("--tb=native", "-vv"), ("--tb=line", "-n", "1")],
    ids=" ".join,
)
def test_the_key_is_in_no_report(
    options: tuple[str, ...], project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPA_API_KEY", KEY)
    project.makepyfile(test_leaks=LEAKS)
    done = run(project, "-p", "no:vcr", "--junitxml=report.xml", "-ra", *options, "test_leaks.py")
    done.assert_outcomes(failed=2, errors=1, skipped=1, passed=1)
    shown = done.stdout.str() + done.stderr.str() + (project.path / "report.xml").read_text(encoding="utf-8")
    assert "test_leaks" in shown
    assert KEY not in shown
    assert "[REDACTED]" in shown


def test_an_error_while_collecting_shows_no_key(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPA_API_KEY", KEY)
    project.makepyfile(test_own=f"raise RuntimeError('https://api.keepa.com/token?key={KEY}')")
    done = run(project)
    done.assert_outcomes(errors=1)
    assert KEY not in done.stdout.str() + done.stderr.str()


def test_a_key_of_the_config_file_and_keys_by_name_are_hidden(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = project.path / "config.toml"
    config.write_text(f'api_key = "{KEY}"\n')
    monkeypatch.setenv("KEEPA_CLI_CONFIG", str(config))
    other = "z" * 64
    project.makepyfile(
        test_own=f"def test_one(): raise RuntimeError('{KEY} https://api.keepa.com/token?key={other}&x=1')"
    )
    shown = run(project).stdout.str()
    assert KEY not in shown
    assert other not in shown


def test_a_run_that_passes_loads_nothing_of_the_product(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_own="""
        import sys
        def test_light():
            assert "keepa_cli.testing.plugin" in sys.modules
            loaded = [m for m in sys.modules if m.startswith("keepa_cli.")]
            assert set(loaded) <= {"keepa_cli.testing", "keepa_cli.testing.plugin"}, loaded
        """
    )
    run(project, "test_own.py").assert_outcomes(passed=1)
