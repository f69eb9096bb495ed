"""From a checked call to what a kernel needs: one function an operator, found by its name.

Apart from the kernels, which know arrays and numbers only, and from the checks, which know no arithmetic: what is left is where the windows
lie. All of it follows the rulings of the operator's spec file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cypool.plan import Signature


class Work(NamedTuple):
    """A kernel, by its mathematical name, and the numbers that it takes after the arrays."""

    kernel: str
    numbers: tuple[Any, ...]


def global_lp_pool(call: Signature) -> Work:
    """The window is the plane."""
    return Work("lp", (float(call.attributes["p"]),))


def max_roi_pool(call: Signature) -> Work:
    """The windows are the bins of each region of interest, a row of the second array."""
    return Work("box_max", (call.attributes["spatial_scale"], call.attributes["pooled_shape"]))
