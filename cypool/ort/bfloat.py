"""Give numpy, which has no bfloat16, a type of its bits under that name.

ml_dtypes has one too, but people who install cypool and ONNX Runtime need not have ml_dtypes. The
rest of cypool goes by a type's name, and kernels read bits.
"""

from __future__ import annotations

import struct

import numpy as np


class bfloat(np.void):  # type: ignore[misc] # numpy keeps void open for subclasses, and names a type by its class and its bits
    """An element: the upper half of a float32."""

    def __float__(self) -> float:
        """Return the number that the bits stand for."""
        number: float = struct.unpack("<f", struct.pack("<I", (int(self["bfloat16"]) & 0xFFFF) << 16))[0]
        return number


BFLOAT16: np.dtype[np.void] = np.dtype((bfloat, [("bfloat16", np.int16)]))
