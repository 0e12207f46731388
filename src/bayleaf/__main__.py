"""Run the command line by ``python -m bayleaf``."""

import sys

from bayleaf.cli import main

if __name__ == "__main__":
    sys.exit(main())
