"""The options of ``pytest --pyargs cypool.conformance.suite --cypool-runtime NAME``.

A module of its own, outside the package, because pytest wants options before it knows what is
collected: it imports this in every run where cypool is installed, and must not import cypool for
that.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options; nothing else happens unless the suite is collected."""
    group = parser.getgroup("cypool", "cypool's conformance suite (--pyargs cypool.conformance.suite)")
    group.addoption("--cypool-runtime", metavar="NAME", help="The runtime to check, named as for `cypool check`.")
    group.addoption("--cypool-timeout", metavar="SECONDS", type=float, default=10.0, help="Seconds for a case (default: 10).")
    group.addoption(
        "--cypool-ulp", metavar="N", type=int, help="Decide by distance, at most N representable values, not by ONNX's tolerance."
    )
    group.addoption("--cypool-expect", metavar="FILE", help="What the runtime is expected to do other than conform: a list as for check.")
