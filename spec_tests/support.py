"""What several test modules share: builds, element types, distances, a way to run on one build."""

import contextlib

import ml_dtypes
import numpy as np

from cypool import dispatch, ops

DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float": np.float32, "double": np.float64}
BUILDS = {name: dispatch.load(name) for name in dispatch.usable()}


@contextlib.contextmanager
def on_build(build):
    """Inside the block, the functions run on this build, a name or a ``Build``.

    Calls are prepared anew, as each is bound to the build of its time.
    """
    before = dispatch.chosen
    dispatch.chosen = BUILDS[build] if isinstance(build, str) else build
    ops.CALLS.clear()
    try:
        yield
    finally:
        dispatch.chosen = before
        ops.CALLS.clear()


def bits(array):
    """The bits of floats as integers."""
    return np.ascontiguousarray(array).view(f"i{array.dtype.itemsize}")


def ulps(got, expected):
    """How many representable values lie between, element by element (object integers); NaN is 0
    from NaN and far from the rest.
    """
    assert got.dtype == expected.dtype and got.shape == expected.shape, (got.dtype, got.shape, expected.dtype, expected.shape)
    distance = np.abs(ordinals(got) - ordinals(expected))
    if got.dtype.kind in "iu":
        return distance
    with np.errstate(invalid="ignore"):  # ml_dtypes flags signalling NaNs
        nan, other = np.isnan(got.ravel()), np.isnan(expected.ravel())
    distance[nan & other] = 0
    distance[nan != other] = 1 << 64
    return distance


def ordinals(array):
    """The place of each float among its type's values, both zeros at 0."""
    if array.dtype.kind in "iu":
        return array.ravel().astype(object)
    n = bits(array).ravel().astype(object)
    return np.where(n >= 0, n, -(n + (1 << (8 * array.dtype.itemsize - 1))))
