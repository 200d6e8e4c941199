"""Trackings: what is watched, what it notices, and how that is told."""
