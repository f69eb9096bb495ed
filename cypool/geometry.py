"""From a checked call to what a kernel needs: one function an operator, found by its name.

Apart from the kernels, which know arrays and numbers only, and from the checks, which know no arithmetic: what is left is where the windows
lie. All of it follows the rulings of the operator's spec file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cypool.plan import Call, widened


class Work(NamedTuple):
    """A kernel, by its mathematical name, and its arguments but for the output and the threads."""

    kernel: str
    arguments: tuple[Any, ...]


def global_lp_pool(call: Call) -> Work:
    """The window is the plane."""
    return Work("lp", (call.inputs[0], float(call.attributes["p"])))


def max_roi_pool(call: Call) -> Work:
    """The windows are the bins of each region of interest; coordinates are computed in double where X is, in float otherwise."""
    x, rois = call.inputs
    table = widened(rois).astype(np.float64 if x.dtype == np.float64 else np.float32, copy=False)
    return Work("box_max", (x, table, call.attributes["spatial_scale"], call.attributes["pooled_shape"]))
