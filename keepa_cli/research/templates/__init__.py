"""Ready-made selections for common research: what to look for, with parameters that have sensible defaults."""
