"""Read and write tensors as ONNX's files hold them.

It does not use ``onnx.numpy_helper``, as older releases of that turn bfloat16 into float32.
"""

from __future__ import annotations

import math

import numpy as np
from google.protobuf.message import DecodeError
from onnx import TensorProto

from cypool.conformance.tensors import DTYPES, Tensor

FIELDS = {
    "float16": ("int32_data", "<u2"),
    "bfloat16": ("int32_data", "<u2"),
    "float": ("float_data", "<f4"),
    "double": ("double_data", "<f8"),
    "int8": ("int32_data", "<i1"),
    "uint8": ("int32_data", "<u1"),
    "int16": ("int32_data", "<i2"),
    "uint16": ("int32_data", "<u2"),
    "int32": ("int32_data", "<i4"),
    "uint32": ("uint64_data", "<u4"),
    "int64": ("int64_data", "<i8"),
    "uint64": ("uint64_data", "<u8"),
    "bool": ("int32_data", "<u1"),
}
"""Where a file that does not use ``raw_data`` keeps the elements of each type, and what they are
there.
"""


def to_bytes(tensor: Tensor) -> bytes:
    """Return the file of a tensor: a TensorProto with raw data.

    The same tensor gives the same bytes.
    """
    type = TensorProto.DataType.Value(tensor.type.upper())
    proto = TensorProto(name=tensor.name, dims=tensor.shape, data_type=type, raw_data=tensor.data)
    return proto.SerializeToString(deterministic=True)


def from_bytes(data: bytes, name: str) -> Tensor:
    """Return the tensor that a file holds, under the name given; ValueError where it holds none, or
    one of another type than ``DTYPES`` has.

    >>> from_bytes(to_bytes(Tensor("X", "float", (1,), bytes(4))), "Y")
    Tensor(name='Y', type='float', shape=(1,), data=b'\\x00\\x00\\x00\\x00')
    """
    proto = TensorProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise ValueError("no TensorProto") from error
    type = TensorProto.DataType.Name(proto.data_type).lower() if proto.data_type in TensorProto.DataType.values() else str(proto.data_type)
    if type not in DTYPES:
        raise ValueError(f"a TensorProto of type {type}")
    if proto.data_location != TensorProto.DEFAULT:
        raise ValueError("a TensorProto whose data are elsewhere")
    shape = tuple(proto.dims)
    elements = proto.raw_data if proto.HasField("raw_data") else _typed(proto, type)
    if any(size < 0 for size in shape) or len(elements) != math.prod(shape) * DTYPES[type].itemsize:
        raise ValueError(f"a TensorProto of {len(elements)} bytes for {type}{list(shape)}")
    return Tensor(name, type, shape, elements)


def _typed(proto: TensorProto, type: str) -> bytes:
    field, dtype = FIELDS[type]
    values = list(getattr(proto, field))
    if np.dtype(dtype).kind in "iu":  # numpy 1 would take what does not fit, and cut it
        limits = np.iinfo(dtype)
        for value in values:
            if not limits.min <= value <= limits.max:
                raise ValueError(f"a TensorProto of {type} with {value}, which is out of bounds")
    return np.array(values, dtype).tobytes()
