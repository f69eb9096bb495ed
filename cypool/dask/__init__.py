"""The pooling operators on dask arrays: lazy, chunk by chunk, on as many machines as the scheduler
has.

The functions have the names and parameters of cypool's own, less ``out``. A call is checked at
once; nothing is computed. Chunks may be any. Along N and C they are computed one by one. Along
spatial axes, windows take what they need from neighbouring chunks, and global operators combine the
results of a plane's chunks.

>>> import dask.array as da, numpy as np, cypool.dask
>>> x = da.from_array(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4), chunks=(1, 1, 2, 3))
>>> cypool.dask.max_pool(x, (2, 2), strides=(2, 2)).compute()
array([[[[ 5.,  7.],
         [13., 15.]]]], dtype=float32)
"""

try:
    import dask.array as _  # noqa: F401
except ImportError as error:
    raise ImportError(f"cypool.dask needs dask.array: {' '.join(str(error).split())} (pip install 'cypool[dask]')") from None

from cypool.dask.planes import global_average_pool, global_lp_pool, global_max_pool
from cypool.dask.regions import max_roi_pool, roi_align
from cypool.dask.unpool import max_unpool
from cypool.dask.windows import average_pool, lp_pool, max_pool

__all__ = [
    "average_pool",
    "global_average_pool",
    "global_lp_pool",
    "global_max_pool",
    "lp_pool",
    "max_pool",
    "max_roi_pool",
    "max_unpool",
    "roi_align",
]
