"""Tensors of other libraries, as far as cypool sees them, whether or not the libraries are
installed.
"""

import numpy as np


class ByDLPack:
    """A tensor on the CPU that numpy takes by DLPack."""

    def __init__(self, array):
        self.array = array
        self.dtype = array.dtype

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return 1, 0


class Bfloat16OfJax(ByDLPack):
    """An array of JAX's: numpy lacks bfloat16 in DLPack, and has it of ``__array__``."""

    def __dlpack__(self, **options):
        raise RuntimeError("Unsupported dtype in DLTensor.")

    def __array__(self, dtype=None, copy=None):
        return self.array


class OnAnotherDevice(Bfloat16OfJax):
    """One whose ``__array__`` copies from a device."""

    def __dlpack_device__(self):
        return 2, 0


class Bfloat16OfTorch(Bfloat16OfJax):
    """A tensor of torch, which has no bfloat16 for numpy at all."""

    def __init__(self):
        super().__init__(np.zeros(2))
        self.dtype = "torch.bfloat16"

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Got unsupported ScalarType BFloat16")
