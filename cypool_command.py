"""The command ``cypool``, as it is installed: the command line of the package, or a line on why
that can't be imported.

A module of its own, outside the package, because importing that fails where CYPOOL_ISA asks for a
build that can't run, and where nothing was built.
"""

from __future__ import annotations

import importlib
import sys
import traceback

WRONG_USAGE = 2
MISSING = 3
INTERRUPTED = 130
FORCED = "CYPOOL_ISA="
"""How the message begins that refuses a forced build."""


def main() -> None:
    """Run the command line."""
    try:
        cli = importlib.import_module("cypool.cli")
        cli.main()
    except KeyboardInterrupt:
        _end("interrupted", INTERRUPTED)
    except ImportError as error:
        if not str(error).startswith((FORCED, "cypool")):  # not our own words
            traceback.print_exc()
        _end(str(error), WRONG_USAGE if str(error).startswith(FORCED) else MISSING)


def _end(message: str, code: int) -> None:
    print(f"cypool: {message}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
