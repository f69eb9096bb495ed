"""Turn a checked call into what a kernel needs: one function an operator, found by its name in snake case.

ONNX ends here. What follows is mathematics: a kernel by its mathematical name, and the numbers that say where its windows lie.
All of it follows the rulings of the operator's spec file.
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
    """The window is the plane."""
    return Work("lp", (float(call.attributes["p"]),))


def max_roi_pool(call: Signature) -> Work:
    """The windows are the bins of each region of interest, a row of the second array."""
    return Work("box_max", (call.attributes["spatial_scale"], call.attributes["pooled_shape"]))


def global_max_pool(call: Signature) -> Work:
    """The window is the plane."""
    return Work("window_max", (_planes(call), False))


def max_pool(call: Signature) -> Work:
    """The windows are those that the attributes make. Only Indices depend on the storage order."""
    return Work("window_max", (call.axes, bool(call.attributes.get("storage_order", 0))))


def global_average_pool(call: Signature) -> Work:
    """The window is the plane."""
    return Work("window_mean", (_planes(call), False))


def average_pool(call: Signature) -> Work:
    """The windows are those that the attributes make. Version 1 has no word for counting the padding, and does not."""
    return Work("window_mean", (call.axes, bool(call.attributes.get("count_include_pad", 0))))


def lp_pool(call: Signature) -> Work:
    """The windows are those that the attributes make."""
    return Work("window_lp", (call.axes, float(call.attributes["p"])))


def max_unpool(call: Signature) -> Work:
    """Indices say where elements go; the windows say no more than how large the output is."""
    return Work("scatter", ())


def roi_align(call: Signature) -> Work:
    """The windows are the bins of each region, a row of the second array; version 10 has no shift by half a pixel."""
    given = call.attributes
    half_pixel = given.get("coordinate_transformation_mode", "output_half_pixel") == "half_pixel"
    bins = given["output_height"], given["output_width"]
    return Work("bilinear", (given["spatial_scale"], half_pixel, bins, given["sampling_ratio"], given["mode"] == "max"))


def _planes(call: Signature) -> tuple[Axis, ...]:
    """One window that has all of a plane; a plane without axes is a row of one element."""
    (form, *_) = call.inputs
    assert form is not None
    return tuple(whole(size) for size in form[1][2:]) or (whole(1),)
