import sys

from keepa_cli.cli import main

if __name__ == "__main__":
    sys.exit(main())
