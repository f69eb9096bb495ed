"""A tensor as it crosses process borders: type, shape and raw little-endian bytes.

numpy arrays do not serve: bfloat16 has no numpy type of its own, and several runtimes hand it out
under another name.
"""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

DTYPES: dict[str, np.dtype[Any]] = {
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "int8": np.dtype(np.int8),
    "uint8": np.dtype(np.uint8),
    "int32": np.dtype(np.int32),
    "int64": np.dtype(np.int64),
    "int16": np.dtype(np.int16),
    "uint16": np.dtype(np.uint16),
    "uint32": np.dtype(np.uint32),
    "uint64": np.dtype(np.uint64),
    "bool": np.dtype(np.bool_),
}
"""ONNX's short type names and the numpy types that hold them."""

TYPES: dict[np.dtype[Any], str] = {dtype: name for name, dtype in DTYPES.items()}


@dataclass(frozen=True, slots=True)
class Tensor:
    """A named tensor: ``type`` is ONNX's short name, ``data`` the elements row-major,
    little-endian.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, name: str, array: np.ndarray[Any, Any]) -> Tensor:
        """Return the tensor that holds ``array``; TypeError where its elements are of no type
        above.
        """
        if array.dtype not in TYPES:
            raise TypeError(f"{name} holds {array.dtype}, which is none of {', '.join(DTYPES)}")
        return cls(name, TYPES[array.dtype], array.shape, np.ascontiguousarray(array).tobytes())

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """A fresh, writable array of the elements."""
        return np.frombuffer(self.data, DTYPES[self.type]).reshape(self.shape).copy()

    def to_json(self) -> dict[str, Any]:
        """Return the form of the worker protocol: bytes as base64."""
        return {"name": self.name, "type": self.type, "shape": list(self.shape), "data": base64.b64encode(self.data).decode("ascii")}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Tensor:
        """Return the inverse of ``to_json``; ValueError where the bytes do not fill the shape."""
        tensor = cls(
            str(record["name"]), str(record["type"]), tuple(map(int, record["shape"])), base64.b64decode(record["data"], validate=True)
        )
        expected = math.prod(tensor.shape) * DTYPES[tensor.type].itemsize
        if any(size < 0 for size in tensor.shape) or len(tensor.data) != expected:
            raise ValueError(f"{tensor.name}: {len(tensor.data)} bytes for {tensor.type}{list(tensor.shape)}")
        return tensor
