"""Tensors as files: those that others write are read, in every type and both forms, and what is no
tensor is refused.
"""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from cypool.conformance.cases.protos import FIELDS, from_bytes, to_bytes
from cypool.conformance.tensors import DTYPES, Tensor

VALUES = {
    "float": [0.1, -0.0, np.inf, np.nan],
    "double": [0.1, -0.0, np.inf, 5e-324],
    "float16": [0.1, -0.0, 65504, 6e-8],
    "bfloat16": [0.1, -0.0, np.inf, 3e38],
    "bool": [True, False, False, True],
    **{type: [0, 1, np.iinfo(dtype).min, np.iinfo(dtype).max] for type, dtype in DTYPES.items() if dtype.kind in "iu"},
}


def tensor(type):
    return Tensor.of("X", np.array(VALUES[type], DTYPES[type]).reshape(2, 1, 2))


def test_every_type_has_a_field_and_is_tried():
    assert set(FIELDS) == set(VALUES) == set(DTYPES)


@pytest.mark.parametrize("type", DTYPES)
def test_onnx_reads_what_is_written(type):
    proto = onnx.load_tensor_from_string(to_bytes(tensor(type)))
    assert (proto.name, proto.data_type) == ("X", TensorProto.DataType.Value(type.upper()))
    read = numpy_helper.to_array(proto)
    assert read.dtype == DTYPES[type] and read.tobytes() == tensor(type).data


@pytest.mark.parametrize("raw", [True, False], ids=["raw", "typed"])
@pytest.mark.parametrize("type", DTYPES)
def test_what_onnx_writes_is_read(type, raw):
    array = tensor(type).array
    if raw:
        proto = numpy_helper.from_array(array, "another name")
    else:
        values = array.astype(np.float32) if type == "bfloat16" else array
        proto = helper.make_tensor("another name", TensorProto.DataType.Value(type.upper()), array.shape, values.ravel().tolist())
    assert proto.HasField("raw_data") == raw
    assert from_bytes(proto.SerializeToString(), "X") == tensor(type)


def test_an_empty_tensor_is_read():
    assert from_bytes(numpy_helper.from_array(np.zeros((2, 0, 3), ml_dtypes.bfloat16)).SerializeToString(), "Y").shape == (2, 0, 3)


ELSEWHERE = TensorProto(dims=[1], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
ELSEWHERE.external_data.add(key="location", value="weights")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"five\xff", "no TensorProto"),
        (b"", "a TensorProto of type undefined"),
        (TensorProto(dims=[1], data_type=99, raw_data=bytes(4)).SerializeToString(), "a TensorProto of type 99"),
        (helper.make_tensor("x", TensorProto.STRING, [1], [b"five"]).SerializeToString(), "a TensorProto of type string"),
        (TensorProto(dims=[2], data_type=TensorProto.FLOAT, raw_data=bytes(4)).SerializeToString(), r"of 4 bytes for float\[2\]"),
        (TensorProto(dims=[-1, -1], data_type=TensorProto.FLOAT, raw_data=bytes(4)).SerializeToString(), "4 bytes for float"),
        (TensorProto(dims=[1], data_type=TensorProto.UINT8, int32_data=[300]).SerializeToString(), "a TensorProto of uint8 with"),
        (ELSEWHERE.SerializeToString(), "a TensorProto whose data are elsewhere"),
    ],
)  # fmt: skip
def test_what_is_no_tensor_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        from_bytes(data, "Y")
