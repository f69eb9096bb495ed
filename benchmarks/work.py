"""A piece of work, as data, and the arrays that it stands for.

Apart from the settings because peers read it too: whoever takes part in a race is given the same
work and the same arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.arrays import Array, item_bytes, laid_out, normal, numpy_type, shape_name
from benchmarks.pools import Align, OverRegions, Pool, Unpool

__all__ = ["Align", "Array", "Lp", "Pool", "Roi", "Unpool", "Work", "numpy_type", "shape_name"]


@dataclass(frozen=True)
class Lp:
    """A GlobalLpPool."""

    shape: tuple[int, ...]
    p: float = 2
    dtype: str = "float32"
    values: str = "normal"  # "huge" and "tiny" leave the range when raised to p, "one huge row" does in one row only
    layout: str = "contiguous"  # or "channels last": the memory of NHWC seen as NCHW

    op = "GlobalLpPool"

    @property
    def exact_p(self) -> float:
        """The p that is meant: in the version that allows fractions it is a float32."""
        return self.p if float(self.p).is_integer() else float(np.float32(self.p))

    @property
    def read_bytes(self) -> int:
        return math.prod(self.shape) * item_bytes(self.dtype)

    @property
    def written_bytes(self) -> int:
        return math.prod(self.shape[:2]) * item_bytes(self.dtype)

    def arrays(self) -> tuple[Array]:
        x = normal(self.shape)
        if self.values != "normal":
            limits = np.finfo(self.dtype)
            scale = float(limits.tiny) * 1e6 if self.values == "tiny" else float(limits.max) * 1e-5
            rows = x.reshape(math.prod(self.shape[:2]), -1).astype(self.dtype)
            if self.values == "one huge row":
                rows[len(rows) // 2] *= np.dtype(self.dtype).type(scale)
            else:
                rows *= np.dtype(self.dtype).type(scale)
            x = rows.reshape(self.shape)
        return (laid_out(x.astype(numpy_type(self.dtype), copy=False), self.layout),)


@dataclass(frozen=True)
class Roi(OverRegions):
    """A MaxRoiPool."""

    shape: tuple[int, int, int, int]
    rois: int
    bins: tuple[int, int] = (7, 7)
    scale: float = 1 / 16
    dtype: str = "float32"
    boxes: str = "half"  # uniform, up to half the image a side; "whole": the image; or "PIXELS": squares of so many pixels a side
    layout: str = "contiguous"

    op = "MaxRoiPool"

    def arrays(self) -> tuple[Array, Array]:
        x = normal(self.shape)
        if self.dtype == "float64":
            x = x.astype("float64") + normal(self.shape) * 1e-9  # not representable in float32
        x = laid_out(x.astype(numpy_type(self.dtype), copy=False), self.layout)
        return x, self.regions().astype(x.dtype)

    def regions(self) -> Array:
        """The rois, redrawn until every reading of the bin bounds agrees, so that all peers have
        the same answer.
        """
        rng = np.random.default_rng(5)
        height, width = self.shape[2:]
        rois: list[list[float]] = []
        while len(rois) < self.rois:
            if self.boxes == "whole":
                x1, y1, x2, y2 = 0, 0, width - 1, height - 1
            elif self.boxes == "half":
                w, h = int(rng.integers(1, width // 2 + 1)), int(rng.integers(1, height // 2 + 1))
                x1, y1 = int(rng.integers(0, width - w + 1)), int(rng.integers(0, height - h + 1))
                x2, y2 = x1 + w - 1, y1 + h - 1
            else:
                side = int(self.boxes)
                x1, y1 = int(rng.integers(0, width - side + 1)), int(rng.integers(0, height - side + 1))
                x2, y2 = x1 + side - 1, y1 + side - 1
            corners = np.array([x1, y1, x2, y2]) / self.scale
            exact = np.array_equal(corners.astype(numpy_type(self.dtype)).astype("float64"), corners)
            if exact and agreed(y2 - y1 + 1, self.bins[0]) and agreed(x2 - x1 + 1, self.bins[1]):
                rois.append([len(rois) % self.shape[0], *corners])
        return np.array(rois, "float64").reshape(self.rois, 5)


def agreed(extent: int, bins: int) -> bool:
    """Whether bin bounds worked out in float32 are the exact ones."""
    size = np.float32(extent) / np.float32(bins)
    return all(
        math.floor(np.float32(i) * size) == i * extent // bins and math.ceil(np.float32(i + 1) * size) == -(-(i + 1) * extent // bins)
        for i in range(bins)
    )


Work = Lp | Roi | Pool | Align | Unpool
