"""pytest plugin: eval files as test items where a project asks for them, and no API key in reports.

It is loaded by every pytest run of an environment that holds keepa-cli, so it imports nothing until it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

OPTION = "--keepa-evals"
INI = "keepa_evals"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("keepa-cli", "keepa-cli")
    group.addoption(
        OPTION,
        action="append",
        default=[],
        metavar="PATH",
        help="collect the eval files (JSON) of this file or folder as tests; can be given several times",
    )
    parser.addini(INI, "files and folders whose eval files (JSON) are collected as tests", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """`pytest --keepa-evals PATH` collects PATH, and only PATH when no other place was named."""
    asked = config.getoption(OPTION)
    missing = [path for path in asked if not (config.invocation_params.dir / path).exists()]
    if missing:
        raise pytest.UsageError(f"{OPTION}: there is no file or folder {missing[0]!r}")
    if asked:
        named = [] if config.args_source is not config.ArgsSource.ARGS else config.args
        config.args = [*named, *(str(path) for path in asked)]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".json":
        return None
    places = _places(parent.config)
    if not any(file_path == place or place in file_path.parents for place in places):
        return None
    from keepa_cli.testing.eval_items import EvalFile

    return EvalFile.from_parent(parent, path=file_path)


def _places(config: pytest.Config) -> list[Path]:
    asked = [(config.invocation_params.dir / path).resolve() for path in config.getoption(OPTION)]
    return [*asked, *config.getini(INI)]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    return _clean(report, item.config)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    report = yield
    return _clean(report, collector.config)


def _clean(report: Any, config: pytest.Config) -> Any:
    if report.longrepr or report.sections:
        from keepa_cli.testing.clean_reports import clean

        clean(report, config)
    return report
