"""The page on windows: how kernel, strides, pads, dilations, auto_pad and ceil_mode make them, with
pictures from the spec.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from cypool import spec
from cypool.pictures import BEYOND, ELEMENT, PADDING, divisors, picture
from cypool.spec.windows import axes


class Scene(NamedTuple):
    """A paragraph and the windows that it is about."""

    title: str
    text: str
    size: int
    attributes: dict[str, Any]


SCENES = (
    Scene(
        "Kernel and strides",
        "A window has `kernel_shape` elements; the next one starts `strides` further on. What is left at the end and is no whole "
        "window gives nothing: there are floor((n - k) / s) + 1 windows over n elements.",
        6,
        {"kernel_shape": (3,), "strides": (2,)},
    ),
    Scene(
        "Padding",
        "`pads` adds positions before and after the elements. They hold no value: they never are a maximum and add nothing to a "
        "sum. A window may lie in the padding alone; then a maximum is -inf, a norm 0, and a mean NaN, or 0 where padding counts.",
        6,
        {"kernel_shape": (3,), "strides": (2,), "pads": (1, 1)},
    ),
    Scene(
        "Dilation",
        "`dilations` is how far apart the elements of a window are. A window then reaches over e = (k - 1) d + 1 positions, and e "
        "takes the place of k wherever windows are counted.",
        6,
        {"kernel_shape": (2,), "dilations": (3,)},
    ),
    Scene(
        "ceil_mode",
        "With `ceil_mode` the number of windows is rounded up: the last one may go beyond the padded input.",
        6,
        {"kernel_shape": (3,), "strides": (2,), "pads": (1, 1), "ceil_mode": 1},
    ),
    Scene(
        "A window that would start in the padding after the elements is dropped",
        "It would hold no element. The text says so from version 22 on; before, its formula keeps the window, but nearly no "
        "runtime computes it (ruling `window-in-end-padding`).",
        5,
        {"kernel_shape": (2,), "strides": (3,), "pads": (1, 1), "ceil_mode": 1},
    ),
    Scene(
        "auto_pad: SAME_UPPER",
        "There are ceil(n / s) windows, whatever their size, and as much padding as they need. An odd position goes after the "
        "elements. `ceil_mode` changes nothing.",
        6,
        {"kernel_shape": (3,), "strides": (2,), "auto_pad": "SAME_UPPER"},
    ),
    Scene(
        "auto_pad: SAME_LOWER",
        "The same, with the odd position before the elements.",
        6,
        {"kernel_shape": (3,), "strides": (2,), "auto_pad": "SAME_LOWER"},
    ),
    Scene(
        "auto_pad: VALID",
        "No padding, and only windows that lie inside the input; `ceil_mode` changes nothing (ruling `valid-ceil`).",
        5,
        {"kernel_shape": (2,), "strides": (2,), "auto_pad": "VALID", "ceil_mode": 1},
    ),
)


def page() -> str:
    """Return the page in Markdown."""
    parts = [
        "<!-- Made by `python -m cypool.pages` from cypool/window_page.py, with pictures by cypool/spec/windows.py. -->",
        "# Windows",
        "Every pooling operator but the ones over regions reduces windows: AveragePool, LpPool, MaxPool, and the global ones, whose "
        "window is the whole plane. Along each spatial axis windows are made alike; `cypool.spec.windows` has the arithmetic, and "
        "the pictures here are drawn by it. Each operator's page tells which attributes a version has, and how silences are read.",
        f"In a picture `{ELEMENT}` is an element, `{PADDING}` a position of the padding, `{BEYOND}` one beyond the padded input.",
    ]
    for scene in SCENES:
        parts += _scene(scene)
    parts += _divisor()
    return "\n\n".join(parts) + "\n"


def _scene(scene: Scene) -> Iterator[str]:
    yield f"## {scene.title}"
    yield scene.text
    given = ", ".join(f"{name} {list(value) if isinstance(value, tuple) else value}" for name, value in scene.attributes.items())
    yield f"```\n{scene.size} elements, {given}\n\n{picture(spec.resolve('MaxPool'), scene.size, scene.attributes)}\n```"


def _divisor() -> Iterator[str]:
    """Return the divisor of a mean on the windows of the scene on ceil_mode."""
    scene = next(scene for scene in SCENES if scene.title == "ceil_mode")
    (axis,) = axes(spec.resolve("MaxPool"), [scene.size], scene.attributes)
    yield "## What a mean is divided by"
    yield (
        "AveragePool divides by the number of elements in the window or, with `count_include_pad`, by the number of its positions "
        "inside the padded input. What `ceil_mode` adds beyond that never counts. Along several axes the numbers of each are "
        "multiplied. For the windows under `ceil_mode` above:"
    )
    rows = [f"| {window} | {inside} | {padded} |" for window, (inside, padded) in enumerate(divisors(axis))]
    yield "\n".join(["| window | divisor | with count_include_pad |", "|---|---|---|", *rows])
