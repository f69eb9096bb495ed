"""The settings: what is raced against what, and what is asked of it.

Apart from the code that runs them so that the tables of targets are read, and changed, in one
place.
"""

from __future__ import annotations

from benchmarks.settings import family, first_two
from benchmarks.settings.goals import Setting

SLOW_TO_COMPILE = {"GlobalLpPool": ("OpenVINO",)}
"""Peers that a quick run leaves out, by operator.

OpenVINO takes seconds to compile a GlobalLpPool of thousands of channels, and is never the fastest.
"""


def all_settings() -> tuple[Setting, ...]:
    """Every setting, in the order of the tables of targets."""
    return (*first_two.SETTINGS, *family.SETTINGS)
