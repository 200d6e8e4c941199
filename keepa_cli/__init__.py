"""Record, sanitize, verify and replay Keepa API answers."""

__version__ = "0.1.0"
