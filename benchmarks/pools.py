"""Work of the operators over windows and regions, as data: their ONNX attributes, and arrays to run
them on.

Apart from GlobalLpPool and MaxRoiPool because these are called, by everybody, as the operator's
attributes say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.arrays import Array, elements, item_bytes, laid_out, normal, numpy_type


@dataclass(frozen=True)
class Pool:
    """An operator that reduces windows of planes, or whole planes: then ``kernel`` is empty."""

    op: str
    shape: tuple[int, ...]
    kernel: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    pads: tuple[int, ...] = ()
    dilations: tuple[int, ...] = ()
    p: int = 2  # of LpPool
    indices: bool = False  # of MaxPool
    dtype: str = "float32"
    layout: str = "contiguous"  # or "channels last": the memory of NHWC seen as NCHW

    @property
    def attributes(self) -> dict[str, Any]:
        """What the node says, by ONNX's names."""
        given = {"kernel_shape": self.kernel, "strides": self.strides, "pads": self.pads, "dilations": self.dilations}
        return {name: list(value) for name, value in given.items() if value} | ({"p": self.p} if self.op == "LpPool" else {})

    @property
    def outputs(self) -> int:
        return 2 if self.indices else 1

    @property
    def windows(self) -> int:
        """How many outputs there are."""
        if not self.kernel:
            return math.prod(self.shape[:2])
        n = len(self.kernel)
        sides = zip(
            self.shape[2:],
            self.kernel,
            self.strides or (1,) * n,
            self.pads[:n] or (0,) * n,
            self.pads[n:] or (0,) * n,
            self.dilations or (1,) * n,
            strict=True,
        )
        return math.prod(self.shape[:2]) * math.prod(
            (size + before + after - (taps - 1) * dilation - 1) // stride + 1 for size, taps, stride, before, after, dilation in sides
        )

    @property
    def taps(self) -> int:
        """How many elements a window has inside the plane, at most."""
        return math.prod(self.kernel or self.shape[2:])

    @property
    def read_bytes(self) -> int:
        return math.prod(self.shape) * item_bytes(self.dtype)

    @property
    def written_bytes(self) -> int:
        return self.windows * (item_bytes(self.dtype) + 8 * self.indices)

    def arrays(self) -> tuple[Array]:
        return (laid_out(elements(self.shape, self.dtype), self.layout),)


class OverRegions:
    """An operator that reads an image's planes and writes bins for each region."""

    shape: tuple[int, int, int, int]
    rois: int
    bins: tuple[int, int]
    dtype: str

    @property
    def read_bytes(self) -> int:
        return math.prod(self.shape) * item_bytes(self.dtype)

    @property
    def written_bytes(self) -> int:
        return self.rois * self.shape[1] * math.prod(self.bins) * item_bytes(self.dtype)


@dataclass(frozen=True)
class Align(OverRegions):
    """A RoiAlign."""

    shape: tuple[int, int, int, int]
    rois: int
    bins: tuple[int, int] = (7, 7)
    sampling: int = 2
    scale: float = 1 / 4
    mode: str = "avg"
    dtype: str = "float32"
    layout: str = "contiguous"

    op = "RoiAlign"
    outputs = 1

    @property
    def attributes(self) -> dict[str, Any]:
        return {
            "output_height": self.bins[0],
            "output_width": self.bins[1],
            "sampling_ratio": self.sampling,
            "spatial_scale": self.scale,
            "mode": self.mode,
        }

    def arrays(self) -> tuple[Array, Array, Array]:
        """Regions of up to half the image a side, anywhere in it."""
        rng = np.random.default_rng(6)
        size = np.array(self.shape[:1:-1])  # width, height
        extent = rng.uniform(1, np.maximum(size / 2, 1), (self.rois, 2))
        corner = rng.uniform(0, size - extent)
        rois = np.concatenate([corner, corner + extent], axis=1) / self.scale
        x = laid_out(elements(self.shape, self.dtype), self.layout)
        return x, rois.astype(numpy_type(self.dtype)), rng.integers(0, self.shape[0], self.rois)


@dataclass(frozen=True)
class Unpool:
    """A MaxUnpool of 2x2 windows, with indices as MaxPool gives them."""

    shape: tuple[int, int, int, int]  # of X
    dtype: str = "float32"

    op = "MaxUnpool"
    outputs = 1
    layout = "contiguous"
    attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}  # noqa: RUF012

    @property
    def read_bytes(self) -> int:
        return math.prod(self.shape) * (item_bytes(self.dtype) + 8)

    @property
    def written_bytes(self) -> int:
        return 4 * math.prod(self.shape) * item_bytes(self.dtype)

    def arrays(self) -> tuple[Array, Array]:
        n, c, height, width = self.shape
        of_window = np.argmax(normal((*self.shape, 4)), axis=-1)
        plane, row, column = np.ogrid[: n * c, :height, :width]
        row, column = 2 * row + of_window.reshape(-1, height, width) // 2, 2 * column + of_window.reshape(-1, height, width) % 2
        return elements(self.shape, self.dtype), ((plane * 2 * height + row) * 2 * width + column).reshape(self.shape)
