"""The command ``cypool``: where it is entered.

Without click, so that an installation without the command line's extra gets a sentence and not a
traceback.
"""

from __future__ import annotations

import importlib
import sys

MISSING = 3
INTERRUPTED = 130


def main() -> None:
    """Run the command line; every error that is the user's to mend comes as one line on standard
    error.
    """
    try:
        group = importlib.import_module("cypool.cli.group")
        group.run()
    except KeyboardInterrupt:
        print("cypool: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "cypool":
            raise
        print(f"cypool: this needs the package {error.name}: pip install 'cypool[check]'", file=sys.stderr)
        sys.exit(MISSING)
