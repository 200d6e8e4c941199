"""What an eval file says and what running it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from keepa_cli.core.paths import Path as JsonPath

Call = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
"""Runs a command: (operation name, parameters, mode flags) -> envelope."""

Status = Literal["passed", "failed", "error"]


@dataclass(frozen=True)
class Assertion:
    path: JsonPath
    check: str
    expected: Any


@dataclass(frozen=True)
class Step:
    """One command with its parameters, mode flags and assertions."""

    command: str
    params: Mapping[str, Any]
    flags: Mapping[str, Any]
    assertions: tuple[Assertion, ...]


@dataclass(frozen=True)
class Exchange:
    """What is sent to a server in one go, and what must come back.

    `sent` are frames, objects or raw lines, or one HTTP request. `answers` are the ids that are waited for; where
    `many`, assertions look at the list of answers. `end` closes the input after sending. `captured` are values of the
    answer that later exchanges use as ${name}; `noted` are assertions on the notifications that came meanwhile.
    """

    what: str
    sent: tuple[Any, ...]
    answers: tuple[Any, ...] = ()
    many: bool = False
    end: bool = False
    captured: Mapping[str, JsonPath] = field(default_factory=dict)
    assertions: tuple[Assertion, ...] = ()
    noted: tuple[Assertion, ...] = ()


@dataclass(frozen=True)
class Eval:
    """One eval: steps that run commands, or exchanges with a server that is started with the options `server`."""

    id: str
    description: str
    file: Path
    kind: str = "command"
    steps: tuple[Step, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    server: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """One assertion that does not hold. `expected` and `actual` are short JSON texts without secrets."""

    step: int
    command: str
    path: str
    check: str
    expected: str
    actual: str
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if v != ""}

    def sentence(self) -> str:
        place = f"step {self.step}, {self.command}: " if self.step else ""
        note = f" ({self.note})" if self.note else ""
        return f"{place}{self.path}: expected {self.check} {self.expected}, got {self.actual}{note}"


@dataclass(frozen=True)
class Verdict:
    """`error` means that the eval could not be judged; it is never a pass."""

    id: str
    status: Status
    file: str
    checked: int = 0
    failures: tuple[Failure, ...] = field(default=())
    message: str = ""

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"id": self.id, "status": self.status, "file": self.file, "checked": self.checked}
        if self.failures:
            found["failures"] = [f.as_dict() for f in self.failures]
        return found | ({"message": self.message} if self.message else {})
