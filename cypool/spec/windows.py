"""The windows of an operator along each spatial axis: how many, where they start, which elements
they have.

One function for shapes, kernels and errors. The standard's text gives the rule; where it is silent,
the rulings do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from cypool.errors import SpecValueError
from cypool.spec.model import Version

FARTHEST = 1 << 62
"""No window starts, and no padding reaches, farther than this, so that sums of two such numbers are
64-bit integers.
"""


class Axis(NamedTuple):
    """The windows along one axis.

    Window o has the positions ``first + o * stride + k * dilation`` with k < ``taps``; those in [0,
    size) are elements, the others padding or beyond it.
    """

    size: int  # of the input
    count: int  # type: ignore[assignment]  # of the windows: the size of the output
    first: int  # position where window 0 starts: minus the padding before
    stride: int
    taps: int  # positions that a window has
    dilation: int
    padded: int  # end of the padded input


def whole(size: int) -> Axis:
    """Return the one window that has all elements of an axis, as global operators have it.

    >>> whole(7)
    Axis(size=7, count=1, first=0, stride=1, taps=7, dilation=1, padded=7)
    """
    return Axis(size, 1, 0, 1, max(size, 1), 1, size)  # a window has a tap, be it that no element is there


def axes(version: Version, sizes: Sequence[int], attributes: Mapping[str, Any]) -> tuple[Axis, ...]:
    """Return the windows along each spatial axis of an input with these sizes.

    ``attributes`` has the version's attributes, defaults filled in, each value checked already.
    SpecValueError where they contradict each other or leave less than no window.

    >>> import dataclasses
    >>> from cypool import spec
    >>> from cypool.spec.model import Windows
    >>> named = Windows("kernel_shape", "strides", "pads")
    >>> pool = dataclasses.replace(spec.version("GlobalLpPool-22"), windows=named)
    >>> axes(pool, [5], {"kernel_shape": (3,), "strides": (2,), "pads": (1, 1)})[0].count
    3
    """
    make = _maker(version, len(sizes), attributes)
    return tuple(make(i, size) for i, size in enumerate(sizes))


def counts(version: Version, sizes: Sequence[int | str | None], attributes: Mapping[str, Any]) -> tuple[int | None, ...]:
    """Return how many windows each spatial axis has; None where its size is no number."""
    make = _maker(version, len(sizes), attributes)
    return tuple(make(i, size).count if isinstance(size, int) else None for i, size in enumerate(sizes))


def _maker(version: Version, many: int, attributes: Mapping[str, Any]) -> Callable[[int, int], Axis]:
    """Return the function that makes the record of an axis from its place and size."""
    rule = version.windows
    assert rule is not None
    kernel = _kernel(version, attributes)
    strides, dilations = _list(attributes, rule.strides, 1, many), _list(attributes, rule.dilations, 1, many)
    pads = _list(attributes, rule.pads, 0, 2 * many)
    auto_pad = attributes.get(rule.auto_pad or "", "NOTSET")
    rounds_up = bool(attributes.get(rule.ceil_mode or "", 0)) and auto_pad == "NOTSET"
    if auto_pad != "NOTSET" and any(pads):
        raise SpecValueError(
            f"{version.name}: {rule.pads} is {list(pads)} beside {rule.auto_pad} {auto_pad}, expected one of the two: "
            f"{rule.pads} of zeros, or {rule.auto_pad} NOTSET"
        )

    def make(i: int, size: int) -> Axis:
        stride, taps, dilation = strides[i], kernel[i], dilations[i]
        before, after = pads[i], pads[many + i]
        extent = (taps - 1) * dilation + 1
        if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            count = -(-size // stride)
            total = max((count - 1) * stride + extent - size, 0) if count else 0
            before = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
            after = total - before
        else:
            room = size + before + after - extent
            count = (-(-room // stride) if rounds_up else room // stride) + 1
            if rounds_up and (count - 1) * stride >= size + before:
                count -= 1  # a window that would start in the padding after the input, or beyond it
        if count < 0:
            raise SpecValueError(
                f"{version.name}: a window of {extent} on spatial axis {i}, which has {size} elements and padding of "
                f"{before} and {after}, leaves {count} outputs, expected 0 or more"
            )
        if max(before, after, (count - 1) * stride - before, taps, dilation, stride) > FARTHEST:
            raise SpecValueError(
                f"{version.name}: windows on spatial axis {i} start at {-before} and {stride} apart, with {taps} elements "
                f"{dilation} apart and padding of {after} after the input, expected numbers up to 2^62"
            )
        return Axis(size, count, -before, stride, taps, dilation, size + after)

    return make


def inverse_sizes(version: Version, counts: Sequence[int], attributes: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the spatial sizes in which windows of these counts lie: the output of an unpooling
    operator.

    SpecValueError is raised where a size would be below 0.
    """
    rule = version.windows
    assert rule is not None and rule.inverse
    many = len(counts)
    kernel, strides = _kernel(version, attributes), _list(attributes, rule.strides, 1, many)
    pads = _list(attributes, rule.pads, 0, 2 * many)
    sizes = tuple(
        (count - 1) * stride + taps - pads[i] - pads[many + i]
        for i, (count, stride, taps) in enumerate(zip(counts, strides, kernel, strict=True))
    )
    for i, size in enumerate(sizes):
        if size < 0:
            raise SpecValueError(f"{version.name}: spatial axis {i} of the output would have size {size}, expected 0 or more")
    return sizes


def inverse_axes(version: Version, counts: Sequence[int], sizes: Sequence[int], attributes: Mapping[str, Any]) -> tuple[Axis, ...]:
    """Return the windows that an operator undoes, along each axis of an output of these sizes.

    They may end beyond it.
    """
    rule = version.windows
    assert rule is not None and rule.inverse
    many = len(counts)
    kernel, strides = _kernel(version, attributes), _list(attributes, rule.strides, 1, many)
    pads = _list(attributes, rule.pads, 0, 2 * many)
    found = zip(sizes, counts, pads[:many], strides, kernel, pads[many:], strict=True)
    return tuple(Axis(size, count, -before, stride, taps, 1, size + after) for size, count, before, stride, taps, after in found)


def _kernel(version: Version, attributes: Mapping[str, Any]) -> tuple[int, ...]:
    rule = version.windows
    assert rule is not None
    kernel: tuple[int, ...] | None = attributes.get(rule.kernel)
    if kernel is None:
        raise SpecValueError(
            f"{version.name}: attribute {rule.kernel} is missing, expected integers >= 1, one a spatial axis; "
            "the standard lets it be left out but does not say what that means"
        )
    return kernel


def _list(attributes: Mapping[str, Any], name: str | None, each: int, many: int) -> Sequence[int]:
    """Return the values of an attribute, or that many of one where the version has no such
    attribute.
    """
    found: Sequence[int] | None = attributes.get(name) if name else None
    return (each,) * many if found is None else found
