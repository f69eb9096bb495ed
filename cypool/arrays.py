"""Arrays on the memory of what callers pass: numpy's own, by DLPack, by ``__array__`` or by the
buffer protocol.

Apart from the checks because functions and models take the same objects, and refuse the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CPU = 1
"""The number of the CPU among DLPack's devices."""


def view(value: Any) -> np.ndarray[Any, Any]:
    """Return an array on the memory of ``value``, of numpy's class or a subclass; TypeError with
    the reason where numpy can't.

    >>> view(memoryview(b"ab"))
    array([97, 98], dtype=uint8)
    """
    if isinstance(value, np.ndarray):
        return value
    try:
        if hasattr(value, "__dlpack__"):
            return _exchanged(value)
        return np.asanyarray(value) if hasattr(value, "__array__") else np.asarray(memoryview(value))
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise TypeError(f"{error}{_cure(value)}") from None


def is_masked(array: Any) -> bool:
    """Tell whether some elements may be hidden: numpy's masked arrays, and other libraries'
    subclasses that have a mask.
    """
    return hasattr(type(array), "mask")


def _exchanged(value: Any) -> np.ndarray[Any, Any]:
    """Take the array by DLPack, which has types that numpy's side of it lacks, bfloat16 for one;
    then by ``__array__``.

    Not from another device: ``__array__`` would copy.
    """
    try:
        return np.from_dlpack(value)
    except (TypeError, ValueError, BufferError, RuntimeError):
        if not hasattr(value, "__array__") or value.__dlpack_device__()[0] != CPU:
            raise
        return np.asanyarray(value)


def _cure(value: Any) -> str:
    """Say how a tensor of a library that has bfloat16, but not numpy's, becomes an array."""
    if str(getattr(value, "dtype", "")) != "torch.bfloat16":
        return ""
    return "; as an array of bfloat16 it is x.view(torch.uint16).numpy().view(ml_dtypes.bfloat16), without a copy"
