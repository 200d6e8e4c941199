"""What keepa-cli keeps in SQLite on this machine; the only package that imports sqlite3."""
