"""Snapshots: what is known as pages to look through."""
