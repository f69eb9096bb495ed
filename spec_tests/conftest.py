"""Fixtures for all tests."""

import pytest
from support import BUILDS, on_build


@pytest.fixture(params=list(BUILDS))
def build(request):
    with on_build(request.param):
        yield request.param
