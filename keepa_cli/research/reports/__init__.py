"""Reports: what is known, for people to read."""
