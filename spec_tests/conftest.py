"""Fixtures for all tests."""

import os

import pytest
from browser import program
from support import BUILDS, on_build

from cypool.kernels.baseline import cpu


def pytest_sessionstart():
    """Under CYPOOL_DEBUG it is the checked build that is tested, else the one that users get; never
    the other by accident.
    """
    if cpu.checked() != (os.environ.get("CYPOOL_DEBUG", "0") not in ("", "0")):
        raise pytest.UsageError(f"{cpu.__file__} is {'' if cpu.checked() else 'not '}a build with CYPOOL_DEBUG=1")


@pytest.fixture(params=list(BUILDS))
def build(request):
    with on_build(request.param):
        yield request.param


def pytest_collection_modifyitems(config, items):
    """Tests that look at a page need a browser.

    Where there is none they are left out, and said to be; CI has to have one.
    """
    if program() is None and "CI" not in os.environ:
        looking = [item for item in items if "browser" in getattr(item, "fixturenames", ())]
        if looking:
            config.hook.pytest_deselected(items=looking)
            items[:] = [item for item in items if item not in looking]
