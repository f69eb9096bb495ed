"""The table of kernel builds: one row a CPU level, read by ``setup.py`` when building and by
``dispatch`` when choosing.

A build cannot exist for one and be unknown to the other. It imports nothing of cypool, which does
not exist yet when the build runs it.
"""

from typing import NamedTuple


class CpuLevel(NamedTuple):
    """One build of the kernels."""

    name: str  # of the package under cypool.kernels
    level: int  # of x86-64 that it needs, as cpu.x86_64_level() counts
    machines: tuple[str, ...]  # platform.machine() values it is for; empty: all
    flags: tuple[str, ...]  # for the compiler, on top of the common ones


X86 = ("x86_64", "AMD64")

BUILDS = (
    CpuLevel("baseline", 0, (), ()),
    CpuLevel("x86_64_v3", 3, X86, ("-march=x86-64-v3",)),
    # gcc keeps to 256-bit vectors at this level unless told otherwise
    CpuLevel("x86_64_v4", 4, X86, ("-march=x86-64-v4", "-mprefer-vector-width=512")),
)
"""From the plainest to the fastest."""

KERNELS = ("lp", "bins", "box_max", "window_max", "scatter", "window_mean", "window_lp", "bilinear", "cpu")
"""The modules that every build has."""
