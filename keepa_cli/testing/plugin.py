"""pytest plugin: eval files as test items."""

from __future__ import annotations
