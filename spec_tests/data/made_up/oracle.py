"""The made-up GlobalMinPool by its definition."""

import numpy as np

READINGS = ("skipped",)
IN_FLOAT32 = ()


def global_min_pool(x, *, reading=None):
    """The least of each channel."""
    least = np.nanmin if reading == "skipped" else np.min
    return (least(x, axis=tuple(range(2, x.ndim)), keepdims=True),)
