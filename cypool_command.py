"""The command ``cypool``, as it is installed: the command line of the package, or a line on why that can't be imported.

A module of its own, outside the package, because importing that fails where CYPOOL_ISA asks for a build that can't run.
"""

from __future__ import annotations

import importlib
import sys

WRONG_USAGE = 2
FORCED = "CYPOOL_ISA="
"""How the message begins that refuses a forced build."""


def main() -> None:
    """Run the command line."""
    try:
        cli = importlib.import_module("cypool.cli")
    except ImportError as error:
        if not str(error).startswith(FORCED):
            raise
        print(f"cypool: {error}", file=sys.stderr)
        sys.exit(WRONG_USAGE)
    cli.main()


if __name__ == "__main__":
    main()
