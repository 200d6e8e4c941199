"""Build, run and check keepa-cli from a checkout: python scripts/dev.py demo | test | check | gates | docs | bench.

This file parses on every Python 3, so that an old one gets a sentence instead of a syntax error.
"""

import os
import sys

OLDEST = (3, 11)

if sys.version_info < OLDEST:
    have = ".".join(str(part) for part in sys.version_info[:2])
    sys.stderr.write(
        "This is Python " + have + "; keepa-cli needs Python 3.11 or newer.\n"
        "Next: install one from https://www.python.org/downloads/ and run this with it, for example:\n"
        "    python3.13 scripts/dev.py demo\n"
    )
    sys.exit(2)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

if __name__ == "__main__":
    from devtools.commands import main

    sys.exit(main(sys.argv[1:]))
