"""Turn a checked call into what a kernel needs: one function an operator, found by its name in
snake case.

ONNX ends here. What follows is mathematics: a kernel by its mathematical name, and the numbers that
say where its windows lie. All of it follows the rulings of the operator's spec file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cypool.plan import Signature
from cypool.spec.model import snake
from cypool.spec.windows import Axis, whole


class Work(NamedTuple):
    """A kernel, by its mathematical name, and the numbers that it takes after the arrays."""

    kernel: str
    numbers: tuple[Any, ...]


def work(call: Signature) -> Work:
    """Return the kernel of a call and its numbers."""
    found: Work = globals()[snake(call.version.op)](call)
    return found


def global_lp_pool(call: Signature) -> Work:
    """Return the work for windows that are whole planes."""
    return Work("lp", (float(call.attributes["p"]),))


def max_roi_pool(call: Signature) -> Work:
    """Return the work for the bins of each region of interest, a row of the second array."""
    return Work("box_max", (call.attributes["spatial_scale"], call.attributes["pooled_shape"]))


def global_max_pool(call: Signature) -> Work:
    """Return the work for windows that are whole planes."""
    return Work("window_max", (_planes(call), False))


def max_pool(call: Signature) -> Work:
    """Return the work for the windows that the attributes make.

    Only Indices depend on storage_order.
    """
    return Work("window_max", (call.axes, bool(call.attributes.get("storage_order", 0))))


def global_average_pool(call: Signature) -> Work:
    """Return the work for windows that are whole planes."""
    return Work("window_mean", (_planes(call), False))


def average_pool(call: Signature) -> Work:
    """Return the work for the windows that the attributes make.

    Version 1 does not count the padding.
    """
    return Work("window_mean", (call.axes, bool(call.attributes.get("count_include_pad", 0))))


def lp_pool(call: Signature) -> Work:
    """Return the work for the windows that the attributes make."""
    return Work("window_lp", (call.axes, float(call.attributes["p"])))


def max_unpool(call: Signature) -> Work:
    """Return the work of placing elements by Indices; windows only tell the size of the output."""
    return Work("scatter", ())


def roi_align(call: Signature) -> Work:
    """Return the work for the bins of each region, a row of the second array.

    Version 10 has no shift by half a pixel.
    """
    given = call.attributes
    half_pixel = given.get("coordinate_transformation_mode", "output_half_pixel") == "half_pixel"
    bins = given["output_height"], given["output_width"]
    return Work("bilinear", (given["spatial_scale"], half_pixel, bins, given["sampling_ratio"], given["mode"] == "max"))


def _planes(call: Signature) -> tuple[Axis, ...]:
    """Return one window that holds all of a plane; a plane without axes is a row of one element."""
    (form, *_) = call.inputs
    assert form is not None
    return tuple(whole(size) for size in form[1][2:]) or (whole(1),)
