"""MaxUnpool on dask arrays: the planes of a chunk at a time, with indices counted anew from its
first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

import dask
import numpy as np

import cypool
from cypool.dask.checked import checked, empty, whole_planes
from cypool.errors import SpecTypeError, SpecValueError
from cypool.plan import Array


def max_unpool(
    X: Any,
    I: Any,  # noqa: E741 - ONNX's name
    kernel_shape: Sequence[int],
    *,
    output_shape: Any = None,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    opset: int | None = None,
    threads: int | None = 1,
) -> Any:
    """Put the elements of X at the places that I names, zeros elsewhere, lazily.

    Parameters
    ----------
    X:
        A dask array, as ``cypool.max_unpool`` takes it. Chunks of its spatial axes are made one.
    I:
        Places in the flattened output, int64 of X's shape; it gets X's chunks. A place must lie in
        the planes of the same chunk. Indices of ``max_pool`` do, as they stay within their plane.
    kernel_shape, strides, pads:
        As for ``cypool.max_unpool``.
    output_shape:
        Integers or an array that is no dask array, since the shape of the result must be known.
    opset, threads:
        As for ``cypool.dask.global_average_pool``.

    Returns
    -------
    dask array
        Of X's type, chunks along N and C as X's, each plane whole.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``, at once; when computed, for a place outside the output or the planes
        of its chunk.

    Examples
    --------
    >>> import dask.array as da, numpy as np, cypool.dask
    >>> x = da.from_array(np.array([[[[1, 5, 2, 0], [4, 3, 9, 1]]]], np.float32))
    >>> y, indices = cypool.dask.max_pool(x, (2, 2), strides=(2, 2), return_indices=True)
    >>> cypool.dask.max_unpool(y, indices, (2, 2), strides=(2, 2)).compute()
    array([[[[0., 5., 0., 0.],
             [0., 0., 9., 0.]]]], dtype=float32)
    """
    attributes = {"kernel_shape": kernel_shape, "strides": strides, "pads": pads}
    if dask.is_dask_collection(output_shape):
        name = cypool.spec.resolve("MaxUnpool", opset).name
        raise SpecTypeError(f"{name}: output_shape is a dask {type(output_shape).__name__}, expected integers, or an array in memory")
    if output_shape is not None and not hasattr(output_shape, "dtype"):
        output_shape = np.array(output_shape, np.int64)
    (x, index), call = checked("MaxUnpool", [X, I], attributes, opset, stated=output_shape)
    ((dtype, shape),) = call.outputs
    x = whole_planes(x)
    return x.map_blocks(
        partial(_placed, name=call.version.name, shape=shape, kernel=call.attributes["kernel_shape"], opset=opset, threads=threads),
        index.rechunk(x.chunks),
        dtype=dtype,
        chunks=(*x.chunks[:2], *((size,) for size in shape[2:])),
        meta=empty(dtype, x.ndim),
    )


def _placed(
    x: Array,
    index: Array,
    *,
    name: str,
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    opset: int | None,
    threads: int | None,
    block_info: Any = None,
) -> Array:
    """Return the planes of one chunk of the output."""
    (first_n, _), (first_c, _), *_ = block_info[0]["array-location"]
    images, channels = x.shape[:2]
    size = math.prod(shape[2:])
    plane, within = np.divmod(index, max(size, 1))
    n, c = np.divmod(plane, max(shape[1], 1))
    here = (index >= 0) & (n >= first_n) & (n < first_n + images) & (c >= first_c) & (c < first_c + channels)
    if size and not here.all():
        place = tuple(int(i) for i in np.argwhere(~here)[0])
        _refuse(name, [place[0] + first_n, place[1] + first_c, *place[2:]], int(index[place]), shape)
    local = ((n - first_n) * channels + (c - first_c)) * size + within
    stated = np.array([images, channels, *shape[2:]], np.int64)
    return cypool.run("MaxUnpool", [x, local, stated], {"kernel_shape": kernel}, opset=opset, threads=threads)[0]


def _refuse(name: str, place: list[int], value: int, shape: tuple[int, ...]) -> NoReturn:
    """Raise SpecValueError for an index outside the output, or outside the planes of its chunk."""
    if not 0 <= value < math.prod(shape):
        raise SpecValueError(f"{name}: I{place} is {value}, expected an integer from 0 to {math.prod(shape) - 1}")
    n, c = divmod(value // math.prod(shape[2:]), shape[1])
    raise SpecValueError(
        f"{name}: I{place} is {value}, a place in plane ({n}, {c}), which is in another chunk; "
        "rechunk X and I so that one chunk has both planes, such as X.rechunk(-1)"
    )
