"""Amazon marketplaces that Keepa serves."""

from __future__ import annotations

from typing import Any

from keepa_cli.core.registry import operation
from keepa_cli.keepa import domains


@operation("domains.list", toolset="research", examples=("kc domains list", "kc --json domains list"))
def list_domains() -> dict[str, Any]:
    """List the marketplaces: id, code, host, currency and what each one serves."""
    return {
        "domains": [
            {
                "id": d.id,
                "code": d.code,
                "host": d.host,
                "currency": d.currency,
                "decimals": d.digits,
                "locale": d.locale,
                "not_served_at": sorted(d.missing),
            }
            for d in domains.DOMAINS.values()
        ]
    }
