"""Run the command line with `python -m unmask`."""

import sys

from unmask.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
