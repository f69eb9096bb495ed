"""Run any operator by name, through the layers below: spec, plan, geometry, dispatch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from cypool import calls, dispatch, geometry, plan
from cypool.plan import Array


def run(
    op: str,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any] | None = None,
    *,
    opset: int | None = None,
    outputs: int | None = None,
    out: Array | tuple[Array, ...] | None = None,
    threads: int | None = None,
) -> tuple[Array, ...]:
    """Run an operator of any version on arrays.

    Parameters
    ----------
    op:
        ONNX's name of the operator; ``cypool.spec.operators()`` lists them.
    inputs:
        A list of the operator's inputs in ONNX's order: numpy arrays, or anything numpy can view
        without a copy (DLPack on the CPU, ``__array__``, buffers); bfloat16 as numpy arrays of
        ml_dtypes' type. Any layout; contiguous ones are fastest. None stands for an optional input
        that is left out; those at the end need not be named.
    attributes:
        By ONNX's names; absent ones, and those given as None, take their default.
    opset:
        The opset of a model, which decides the operator's version; None is the newest version.
    outputs:
        How many outputs are wanted, the first ones of those that the version has. None: those that
        are not optional.
    out:
        An array of the output's shape and type to write to, or a tuple of such arrays, one for each
        output; None makes them.
    threads:
        How many threads to use, at least 1. None: OMP_NUM_THREADS if set, else what affinity and
        control group allow; one for small work.

    Returns
    -------
    tuple of arrays
        The outputs, as many as are wanted.

    Raises
    ------
    cypool.SpecValueError
        A value, shape, attribute or opset that the version does not allow. It is a ValueError.
    cypool.SpecTypeError
        A type that the version does not allow. It is a TypeError.

    Examples
    --------
    >>> import numpy as np, cypool
    >>> (y,) = cypool.run("GlobalLpPool", [np.array([[[3.0, -4.0]]])], {"p": 2}, opset=21)
    >>> y
    array([[[5.]]])
    """
    given = plan.attributes_of(op, opset, attributes)
    return call(op, plan.inputs_of(op, opset, inputs), tuple(chain.from_iterable(given.items())), opset, outputs, out, threads)


def _prepare(
    op: str, opset: int | None, attributes: Mapping[str, Any], inputs: Sequence[Array | None], outputs: int | None
) -> tuple[plan.Signature, dispatch.Launch]:
    """Return all that follows from a call before its arrays are read."""
    checked = plan.signature(op, opset, attributes, inputs, outputs)
    work = geometry.work(checked)
    return checked, dispatch.LAUNCHES[work.kernel](checked.inputs, checked.outputs, *work.numbers)


CALLS = calls.Calls(_prepare)
"""What all calls have in common: the cache of what was prepared for them."""

call = CALLS.run
"""Run an operator: name, inputs, attributes as names and values in turn, opset, how many outputs,
out, threads.
"""
