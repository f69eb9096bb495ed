"""Operators over regions on dask arrays: each region is sent to the chunks that hold its image."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np

import cypool
from cypool.dask.checked import checked, whole_planes
from cypool.plan import Array


def max_roi_pool(
    X: Any,
    rois: Any,
    pooled_shape: Sequence[int],
    spatial_scale: float | None = None,
    *,
    opset: int | None = None,
    threads: int | None = 1,
) -> Any:
    """Return the maximum of every bin of every region of interest, lazily.

    Parameters
    ----------
    X:
        A dask array, as ``cypool.max_roi_pool`` takes it. Chunks of its spatial axes are made one.
    rois:
        An array, as ``cypool.max_roi_pool`` takes it, of dask or not. All of it is checked in one
        task.
    pooled_shape, spatial_scale:
        As for ``cypool.max_roi_pool``.
    opset, threads:
        As for ``cypool.dask.global_average_pool``.

    Returns
    -------
    dask array
        Shape (num_rois, C, pooled_shape[0], pooled_shape[1]), chunks along num_rois as those of
        rois, along C as X's.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``, at once; when computed, for an image index or coordinate out of
        range.

    Examples
    --------
    >>> import dask.array as da, numpy as np, cypool.dask
    >>> x = da.arange(128, dtype=np.float32).reshape(2, 1, 8, 8).rechunk((1, 1, 8, 8))
    >>> rois = np.array([[1, 0, 0, 7, 7]], dtype=np.float32)
    >>> cypool.dask.max_roi_pool(x, rois, pooled_shape=(2, 2)).compute()
    array([[[[ 91.,  95.],
             [123., 127.]]]], dtype=float32)
    """
    attributes = {"pooled_shape": pooled_shape, "spatial_scale": spatial_scale}
    return _regions("MaxRoiPool", [X, rois], attributes, opset, threads, _images_of_rois, _rois_on_one)


def roi_align(
    X: Any,
    rois: Any,
    batch_indices: Any,
    *,
    output_height: int | None = None,
    output_width: int | None = None,
    mode: str | None = None,
    sampling_ratio: int | None = None,
    spatial_scale: float | None = None,
    coordinate_transformation_mode: str | None = None,
    opset: int | None = None,
    threads: int | None = 1,
) -> Any:
    """Return the mean, or the maximum, of points that are sampled in every bin of every region of
    interest, lazily.

    Parameters
    ----------
    X:
        A dask array, as ``cypool.roi_align`` takes it. Chunks of its spatial axes are made one.
    rois, batch_indices:
        Arrays, as ``cypool.roi_align`` takes them, of dask or not. All of them is checked in one
        task.
    output_height, output_width, mode, sampling_ratio, spatial_scale,
    coordinate_transformation_mode:
        As for ``cypool.roi_align``.
    opset, threads:
        As for ``cypool.dask.global_average_pool``.

    Returns
    -------
    dask array
        Shape (num_rois, C, output_height, output_width), chunks along num_rois as those of rois,
        along C as X's.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``, at once; when computed, for an image index or coordinate out of
        range.

    Examples
    --------
    >>> import dask.array as da, numpy as np, cypool.dask
    >>> x = da.arange(1, 33, dtype=np.float32).reshape(2, 1, 4, 4).rechunk((1, 1, 4, 4))
    >>> rois, batch_indices = np.array([[0.5, 0.5, 2.5, 2.5]], np.float32), np.array([1])
    >>> cypool.dask.roi_align(x, rois, batch_indices, sampling_ratio=1).compute()
    array([[[[22.]]]], dtype=float32)
    """
    attributes = {
        "output_height": output_height,
        "output_width": output_width,
        "mode": mode,
        "sampling_ratio": sampling_ratio,
        "spatial_scale": spatial_scale,
        "coordinate_transformation_mode": coordinate_transformation_mode,
    }
    return _regions("RoiAlign", [X, rois, batch_indices], attributes, opset, threads, _images_of_indices, _indices_on_one)


Tables = Sequence[Array]
"""The inputs after X, with a row a region."""


def _images_of_rois(tables: Tables) -> Array:
    """Return the image of each region of MaxRoiPool."""
    return tables[0][:, 0].astype(np.int64)


def _rois_on_one(tables: Tables) -> Tables:
    """Return the regions of MaxRoiPool as those of an array with one image."""
    table = tables[0].copy()
    table[:, 0] = 0
    return [table]


def _images_of_indices(tables: Tables) -> Array:
    """Return the image of each region of RoiAlign."""
    return tables[1].astype(np.int64)


def _indices_on_one(tables: Tables) -> Tables:
    """Return the regions of RoiAlign as those of an array with one image."""
    return [tables[0], np.zeros_like(tables[1])]


def _regions(
    op: str,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
    opset: int | None,
    threads: int | None,
    images: Callable[[Tables], Array],
    on_one: Callable[[Tables], Tables],
) -> Any:
    """Return an operator on the planes of X and the rows of tables.

    A chunk of the output comes from a chunk of rows and, image by image, from all chunks of X with
    these channels.
    """
    (x, *tables), call = checked(op, inputs, attributes, opset)
    ((dtype, shape),) = call.outputs
    run = partial(cypool.run, op, attributes=dict(call.attributes), opset=opset, threads=threads)
    x = whole_planes(x)
    blocks = x.to_delayed().reshape(x.numblocks[:2])
    checked_tables = dask.delayed(_checked_tables, nout=len(tables))(
        [dask.delayed(np.asarray)(table) for table in tables], x.shape, x.dtype, run
    )
    pool, assemble, rows_from = dask.delayed(_pooled), dask.delayed(_assembled), dask.delayed(_rows)
    columns = []
    for c, channels in enumerate(x.chunks[1]):
        column = []
        for start, count in _spans(tables[0].chunks[0]):
            rows = rows_from(checked_tables, start, start + count)
            here = (count, channels, *shape[2:])
            pieces = [pool(blocks[n, c], rows, first, run, images, on_one) for n, (first, _) in enumerate(_spans(x.chunks[0]))]
            column.append(da.from_delayed(assemble(pieces, here, dtype), here, dtype))
        columns.append(da.concatenate(column))
    return da.concatenate(columns, axis=1)


def _spans(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return where each chunk starts, and its size."""
    starts = np.cumsum([0, *sizes])[:-1]
    return [(int(start), int(size)) for start, size in zip(starts, sizes, strict=True)]


def _checked_tables(tables: Tables, shape: tuple[int, ...], dtype: np.dtype[Any], run: Callable[..., Any]) -> Tables:
    """Return the tables, or raise for a number in them what the plain function would raise: it
    checks them before it looks at X.
    """
    run([np.broadcast_to(np.zeros((), dtype), (shape[0], 0, *shape[2:])), *tables])
    return tables


def _rows(tables: Tables, start: int, stop: int) -> Tables:
    return [table[start:stop] for table in tables]


def _pooled(
    block: Array,
    rows: Tables,
    first: int,
    run: Callable[..., tuple[Array, ...]],
    images: Callable[[Tables], Array],
    on_one: Callable[[Tables], Tables],
) -> list[tuple[Array, Array]]:
    """Return, for each image of the block that has regions, the places of these in ``rows`` and the
    operator's output for them.
    """
    on = images(rows) - first
    pieces = []
    for image in np.unique(on[(on >= 0) & (on < len(block))]):
        which = np.flatnonzero(on == image)
        (y,) = run([block[image : image + 1], *on_one([table[which] for table in rows])])
        pieces.append((which, y))
    return pieces


def _assembled(pieces: Sequence[Sequence[tuple[Array, Array]]], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return a chunk of the output, put together from pieces."""
    y = np.empty(shape, dtype)
    for which, piece in (piece for of_block in pieces for piece in of_block):
        y[which] = piece
    return y
