"""The settings of the operators over windows and regions, and of the two global ones.

Data only, row by row.

``asked`` is how many times as fast as the fastest peer cypool is to be, by the last side of the
shape where that makes a difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from benchmarks.settings.goals import BOTH, FASTEST, ONE_THREAD, Goal, Setting, shape_name
from benchmarks.work import Align, Pool, Unpool, Work

Shape = tuple[int, ...]
Asked = float | dict[int, float]

PLANES: tuple[Shape, ...] = ((1, 64, 112, 112), (8, 64, 56, 56), (8, 256, 28, 28), (8, 512, 14, 14), (1, 3, 640, 640))
"""What most rows are measured on; the last has three channels."""

MIDDLE: tuple[Shape, ...] = ((8, 64, 56, 56),)
OTHERWISE = 0
"""The side that stands for all sides not named."""

K2S2: dict[str, Any] = {"kernel": (2, 2), "strides": (2, 2)}
K3S2: dict[str, Any] = {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}
K3S2_INSIDE: dict[str, Any] = {"kernel": (3, 3), "strides": (2, 2)}
K3S1: dict[str, Any] = {"kernel": (3, 3), "pads": (1, 1, 1, 1)}
K3S1_INSIDE: dict[str, Any] = {"kernel": (3, 3)}
K5S1: dict[str, Any] = {"kernel": (5, 5), "pads": (2, 2, 2, 2)}

LAST = 0.67
"""The part of the contiguous speed that channels last must reach."""

TWO_THREADS = 1.6
"""How many times as fast two threads must be, where work takes above 100 us and stays inside the
cache.
"""


class Row(NamedTuple):
    """A row of the table: the same windows on several shapes."""

    name: str
    op: str
    windows: dict[str, Any]
    shapes: tuple[Shape, ...] = PLANES
    asked: Asked | None = None
    more: tuple[Goal, ...] = ()


def asked_of(asked: Asked | None, shape: Shape) -> tuple[Goal, ...]:
    """The goal of one shape."""
    if isinstance(asked, dict):
        asked = asked.get(shape[-1], asked.get(OTHERWISE))
    return () if asked is None else (Goal(FASTEST, asked),)


THREADS = (Goal(ONE_THREAD, TWO_THREADS),)
NHWC_12 = Goal("torch NHWC", 1.2)

WINDOWS = (
    Row("2x2/s2", "MaxPool", K2S2, asked={14: 1.3, OTHERWISE: 2.5}),
    Row("3x3/s2/p1", "MaxPool", K3S2, asked={14: 1.2, OTHERWISE: 1.5}),
    Row("3x3/s1/p1", "MaxPool", K3S1, asked={112: 1.4, 640: 1.4, OTHERWISE: 2}, more=THREADS),
    Row("5x5/s1/p2", "MaxPool", K5S1, asked={112: 1.4, 640: 1.4, OTHERWISE: 2}, more=THREADS),
    Row("Indices, 2x2/s2", "MaxPool", K2S2 | {"indices": True}, more=(Goal("ORT", 15), NHWC_12)),
    Row("Indices, 3x3/s2/p1", "MaxPool", K3S2 | {"indices": True}, more=(Goal("ORT", 15), NHWC_12, *THREADS)),
    Row("int8, 3x3/s2/p1", "MaxPool", K3S2 | {"dtype": "int8"}, asked=4),
    Row("uint8, 2x2/s2", "MaxPool", K2S2 | {"dtype": "uint8"}, asked=4),
    Row("float16, 3x3/s2/p1", "MaxPool", K3S2 | {"dtype": "float16"}, asked=2),
    Row("bfloat16, 3x3/s2/p1", "MaxPool", K3S2 | {"dtype": "bfloat16"}, asked=2),
    Row("float64, 3x3/s2/p1", "MaxPool", K3S2 | {"dtype": "float64"}, asked=1.3, more=(Goal("torch NHWC", 1.3),)),
    Row("1-D, 3/s2/p1", "MaxPool", {"kernel": (3,), "strides": (2,), "pads": (1, 1)}, ((8, 64, 4096),), 3),
    Row("3-D, 3x3x3/s2/p1", "MaxPool", {"kernel": (3,) * 3, "strides": (2,) * 3, "pads": (1,) * 6}, ((1, 16, 16, 56, 56),), 1.8),
    Row("3x3/s1/p1", "AveragePool", K3S1, asked={112: 1.3, 14: 1, 640: 8, OTHERWISE: 1.7}, more=THREADS),
    Row("2x2/s2", "AveragePool", K2S2, asked={14: 1, OTHERWISE: 1.5}),
    Row("3x3/s2/p1", "AveragePool", K3S2, asked={112: 1.1, 14: 0.8, OTHERWISE: 1.3}),
    Row("float64, 3x3/s1/p1", "AveragePool", K3S1 | {"dtype": "float64"}, PLANES[:4], 1.3, (Goal("torch NHWC", 1.3),)),
    Row("float16, 3x3/s1/p1", "AveragePool", K3S1 | {"dtype": "float16"}, PLANES[:4], 2),
    Row("1-D, 3/s2/p1", "AveragePool", {"kernel": (3,), "strides": (2,), "pads": (1, 1)}, ((8, 64, 4096),), 1),
    Row("3-D, 3x3x3/s2/p1", "AveragePool", {"kernel": (3,) * 3, "strides": (2,) * 3, "pads": (1,) * 6}, ((1, 16, 16, 56, 56),), 1),
    Row("p=2, 3x3/s2", "LpPool", K3S2_INSIDE, PLANES[:4], {14: 1, OTHERWISE: 2}, (Goal("ORT", 50), *THREADS)),
    Row("p=2, 3x3/s1", "LpPool", K3S1_INSIDE, PLANES[:4], {14: 1, OTHERWISE: 2}, (Goal("ORT", 50),)),
    Row("p=2, 2x2/s2", "LpPool", K2S2, PLANES[:4], {14: 1, OTHERWISE: 2}, (Goal("ORT", 50),)),
    Row("7x7, 14x14, 56x56", "GlobalMaxPool", {}, ((8, 2048, 7, 7), (8, 512, 14, 14), (8, 64, 56, 56)), {56: 1, OTHERWISE: 1.2}),
    Row(
        "7x7, 14x14, 56x56",
        "GlobalAveragePool",
        {},
        ((8, 2048, 7, 7), (8, 512, 14, 14), (8, 64, 56, 56)),
        more=(Goal("ORT", 1.5), Goal("torch", 0.7)),
    ),
)

ODD_SHAPE: Shape = (8, 64, 55, 57)
ODD: dict[str, dict[str, Any]] = {
    "3x3/s1/p1": K3S1,
    "3x3/s2/p1": K3S2,
    "2x2/s2": K2S2,
    "3x3/s3": {"kernel": (3, 3), "strides": (3, 3)},
    "3x3/s1/d2": {"kernel": (3, 3), "dilations": (2, 2)},
    "7x7/s2/p3": {"kernel": (7, 7), "strides": (2, 2), "pads": (3, 3, 3, 3)},
    "1x1/s2": {"kernel": (1, 1), "strides": (2, 2)},
    "3x3/s2, pads 0 and 1": {"kernel": (3, 3), "strides": (2, 2), "pads": (0, 0, 1, 1)},
}

SIDE_BY_SIDE = (
    Row("2x2/s2", "MaxPool", K2S2, PLANES[:4]),
    Row("3x3/s2/p1", "MaxPool", K3S2, PLANES[:4]),
    Row("3x3/s1/p1", "MaxPool", K3S1, PLANES[:4]),
    Row("Indices, 3x3/s2/p1", "MaxPool", K3S2 | {"indices": True}, PLANES[:4]),
    Row("3x3/s1/p1", "AveragePool", K3S1, PLANES[:4]),
    Row("3x3/s2/p1", "AveragePool", K3S2, PLANES[:4]),
    Row("p=2, 3x3/s2", "LpPool", K3S2_INSIDE, PLANES[:4]),
    Row("planes", "GlobalMaxPool", {}, ((8, 2048, 7, 7), (8, 64, 56, 56), (1, 64, 112, 112))),
    Row("planes", "GlobalAveragePool", {}, ((8, 2048, 7, 7), (8, 64, 56, 56), (1, 64, 112, 112))),
)

ALIGN = (
    ("7x7 of 1,256,200,272, 1000 rois", Align((1, 256, 200, 272), 1000), 8.0),
    ("7x7 of 1,256,50,68, 1000 rois", Align((1, 256, 50, 68), 1000, scale=1 / 16), 5.0),
    ("7x7 of 1,256,200,272, 50 rois", Align((1, 256, 200, 272), 50), 2.0),
    ("7x7, sampling_ratio 0", Align((1, 256, 50, 68), 1000, sampling=0, scale=1 / 16), 5.0),
    ("14x14", Align((1, 256, 100, 136), 100, (14, 14), scale=1 / 8), 8.0),
    ("7x7, max", Align((1, 256, 50, 68), 200, scale=1 / 16, mode="max"), 5.0),
    ("7x7, float64", Align((1, 256, 50, 68), 200, scale=1 / 16, dtype="float64"), 4.0),
)


def windows() -> Iterator[Setting]:
    for row in WINDOWS:
        for shape in row.shapes:
            goals = (*asked_of(row.asked, shape), *row.more)
            yield Setting(f"{row.op} {row.name}", f"{row.op} {row.name} {shape_name(shape)}", Pool(row.op, shape, **row.windows), goals)


def powers() -> Iterator[Setting]:
    """Other p beside p = 2."""
    for shape in PLANES[1:4]:
        for p in (1, 3):
            work = Pool("LpPool", shape, p=p, **K3S2_INSIDE)
            beside: dict[str, Work] = {"p=2": replace(work, p=2)}
            yield Setting(f"LpPool p={p}, 3x3/s2", f"LpPool p={p}, 3x3/s2 {shape_name(shape)}", work, (Goal("p=2", 0.5),), BOTH, beside)


def odd() -> Iterator[Setting]:
    for op in ("MaxPool", "AveragePool", "LpPool"):
        for name, given in ODD.items():
            yield Setting(f"{op} odd shapes", f"{op} {name} {shape_name(ODD_SHAPE)}", Pool(op, ODD_SHAPE, **given), (Goal(FASTEST, 1),))


def last() -> Iterator[Setting]:
    """Channels last, beside cypool on contiguous arrays and torch on the same ones."""
    goals = (Goal("contiguous", LAST), Goal("torch", 1))
    for row in SIDE_BY_SIDE:
        for shape in row.shapes:
            work = Pool(row.op, shape, layout="channels last", **row.windows)
            beside: dict[str, Work] = {"contiguous": replace(work, layout="contiguous")}
            name = f"{row.op} {row.name} {shape_name(shape)} NHWC"
            yield Setting(f"{row.op} channels last", name, work, goals, BOTH, beside)


def others() -> Iterator[Setting]:
    for name, align, asked in ALIGN:
        goals = (Goal(FASTEST, asked), *THREADS)
        yield Setting(f"RoiAlign {name}", f"RoiAlign {name}", align, goals)
    for unpool in (Unpool((8, 64, 28, 28)), Unpool((8, 64, 28, 28), "float64")):
        row = "MaxUnpool 2x2"
        yield Setting(row, f"{row} {unpool.dtype} {shape_name(unpool.shape)}", unpool, (Goal(FASTEST, 1), Goal(ONE_THREAD, 1.5)))


def small() -> Iterator[Setting]:
    shape = (1, 1, 4, 4)
    works: Sequence[Work] = (
        Pool("MaxPool", shape, **K2S2),
        Pool("MaxPool", shape, **K2S2, indices=True),
        Pool("AveragePool", shape, **K2S2),
        Pool("LpPool", shape, **K2S2),
        Pool("GlobalMaxPool", shape),
        Pool("GlobalAveragePool", shape),
        Align(shape, 1, (1, 1), scale=1.0),
        Unpool((1, 1, 2, 2)),
    )
    for work in works:
        name = f"{work.op}{', Indices' if isinstance(work, Pool) and work.indices else ''} 1,1,4,4"
        yield Setting(f"{work.op} small call", name, work, (Goal("ORT", 1),), (1,))


SETTINGS = tuple(setting for group in (windows, powers, odd, last, others, small) for setting in group())
