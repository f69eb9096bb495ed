"""Fixtures for all tests."""

import os

import pytest
from support import BUILDS, on_build

from cypool.kernels.baseline import cpu


def pytest_sessionstart():
    """Under CYPOOL_DEBUG it is the checked build that is tested, else the one that users get; never the other by accident."""
    if cpu.checked() != (os.environ.get("CYPOOL_DEBUG", "0") not in ("", "0")):
        raise pytest.UsageError(f"{cpu.__file__} is {'' if cpu.checked() else 'not '}a build with CYPOOL_DEBUG=1")


@pytest.fixture(params=list(BUILDS))
def build(request):
    with on_build(request.param):
        yield request.param
