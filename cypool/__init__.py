"""The ONNX pooling operators as compiled kernels: exact, fast, every version and type.

>>> import numpy as np, cypool
>>> cypool.global_lp_pool(np.array([[[3.0, -4.0]]]), p=2)
array([[[5.]]])
"""

from cypool import spec, unbuilt
from cypool.errors import SpecError, SpecTypeError, SpecValueError

try:
    from cypool.operators import (
        average_pool,
        global_average_pool,
        global_lp_pool,
        global_max_pool,
        lp_pool,
        max_pool,
        max_roi_pool,
        max_unpool,
        roi_align,
    )
    from cypool.ops import run
except ImportError as error:
    raise unbuilt.explain(error) from None

__all__ = [
    "SpecError",
    "SpecTypeError",
    "SpecValueError",
    "__version__",
    "average_pool",
    "global_average_pool",
    "global_lp_pool",
    "global_max_pool",
    "lp_pool",
    "max_pool",
    "max_roi_pool",
    "max_unpool",
    "roi_align",
    "run",
    "spec",
]

__version__ = "0.1.0"
