"""What is taken as an array: tensors of other libraries without a copy, and a refusal that says
how.
"""

import ml_dtypes
import numpy as np
import pytest
from foreign import Bfloat16OfJax, Bfloat16OfTorch, ByDLPack, OnAnotherDevice

import cypool
from cypool import arrays

X = np.array([[[3, -4]]], np.float32)


@pytest.mark.parametrize(
    "given", [X, ByDLPack(X), memoryview(X), Bfloat16OfJax(X.astype(ml_dtypes.bfloat16))], ids=lambda x: type(x).__name__
)
def test_arrays_are_views(given):
    view = arrays.view(given)
    assert np.shares_memory(view, getattr(given, "array", X))


def test_bfloat16_comes_by_array_where_dlpack_lacks_it():
    y = cypool.global_lp_pool(Bfloat16OfJax(X.astype(ml_dtypes.bfloat16)), p=1)
    assert y.dtype == ml_dtypes.bfloat16 and y.item() == 7


def test_what_is_elsewhere_is_not_copied_behind_the_callers_back():
    with pytest.raises(cypool.SpecTypeError, match=r"X is a OnAnotherDevice that numpy cannot view \(Unsupported dtype"):
        cypool.global_lp_pool(OnAnotherDevice(X))


def test_the_refusal_of_torchs_bfloat16_says_how_it_becomes_an_array():
    with pytest.raises(
        cypool.SpecTypeError,
        match=r"^GlobalLpPool-22: X is a Bfloat16OfTorch .*x\.view\(torch\.uint16\)\.numpy\(\)\.view\(ml_dtypes\.bfloat16\)",
    ):
        cypool.global_lp_pool(Bfloat16OfTorch())
    with pytest.raises(cypool.SpecTypeError) as caught:
        cypool.global_lp_pool({})
    assert "bfloat16" not in str(caught.value)
