"""The element types of ONNX's tensors: one table for everything that has to know a name, a width, a
kind or a number.

It imports nothing, so that the loader, plan, dispatch and the conformance suite can all read it.
"""

from __future__ import annotations

from typing import NamedTuple


class Element(NamedTuple):
    """An element type."""

    name: str  # ONNX's short name
    bits: int  # 0 where elements have no fixed width
    kind: str  # float, int, uint, bool, complex, string
    number: int  # in ONNX's TensorProto.DataType
    numpy: str  # numpy's name, or that of ml_dtypes; empty where numpy has no type for just these


ELEMENTS: dict[str, Element] = {
    row[0]: Element(*row)
    for row in (
        ("float16", 16, "float", 10, "float16"),
        ("bfloat16", 16, "float", 16, "bfloat16"),
        ("float", 32, "float", 1, "float32"),
        ("double", 64, "float", 11, "float64"),
        ("int8", 8, "int", 3, "int8"),
        ("int16", 16, "int", 5, "int16"),
        ("int32", 32, "int", 6, "int32"),
        ("int64", 64, "int", 7, "int64"),
        ("uint8", 8, "uint", 2, "uint8"),
        ("uint16", 16, "uint", 4, "uint16"),
        ("uint32", 32, "uint", 12, "uint32"),
        ("uint64", 64, "uint", 13, "uint64"),
        ("bool", 8, "bool", 9, "bool"),
        ("complex64", 64, "complex", 14, "complex64"),
        ("complex128", 128, "complex", 15, "complex128"),
        ("string", 0, "string", 8, ""),
    )
}
"""By ONNX's short name."""

BY_NUMPY: dict[str, str] = {element.numpy: element.name for element in ELEMENTS.values() if element.numpy}
"""ONNX's short name, by numpy's."""
