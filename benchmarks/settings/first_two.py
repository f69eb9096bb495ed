"""The settings of GlobalLpPool and MaxRoiPool. Data only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.settings.goals import BOTH, FASTEST, LIMIT, ONE_THREAD, Goal, Setting, shape_name
from benchmarks.work import Lp, Roi, Work

SCALING = Goal(ONE_THREAD, 1.7, unless=(LIMIT, 0.9))
ORT_25 = Goal("ORT", 25)


def lp_float32() -> Iterator[Setting]:
    shapes = {
        (1, 64, 7, 7): (ORT_25,),
        (1, 2048, 7, 7): (Goal(FASTEST, 1.3), ORT_25),
        (32, 2048, 7, 7): (Goal(FASTEST, 1.3), ORT_25, SCALING),
        (8, 512, 14, 14): (Goal(FASTEST, 1), ORT_25, SCALING),
        (1, 64, 224, 224): (Goal(FASTEST, 1), ORT_25, SCALING),
        (16, 256, 56, 56): (Goal(FASTEST, 1), Goal(LIMIT, 0.9), ORT_25, SCALING),
        (8, 64, 512, 512): (Goal(FASTEST, 1), Goal(LIMIT, 0.9), ORT_25),
    }
    for shape, goals in shapes.items():
        for p in (2, 1):
            row = "float32 7x7" if shape[-1] == 7 else "float32"
            quick = shape != (8, 64, 512, 512) and (p == 2 or shape[:2] in ((32, 2048), (8, 512), (16, 256)))
            yield Setting(row, f"lp f32 p{p} {shape_name(shape)}", Lp(shape, p), goals, quick=quick)


def lp_types() -> Iterator[Setting]:
    for shape, quick in (((32, 2048, 7, 7), True), ((8, 512, 14, 14), True), ((16, 256, 56, 56), True), ((8, 64, 256, 256), False)):
        for p in (2, 1):
            goals = (Goal(LIMIT, 0.9),)
            yield Setting("float64", f"lp f64 p{p} {shape_name(shape)}", Lp(shape, p, "float64"), goals, quick=quick and p == 2)
    shape = (32, 256, 72, 72)  # 85 MB of halves
    for dtype, short in (("float16", "f16"), ("bfloat16", "bf16")):
        for p in (2, 1):
            goals = (Goal("float32", 1),)
            beside: dict[str, Work] = {"float32": Lp(shape, p)}
            yield Setting(f"{dtype} in memory", f"lp {short} p{p} {shape_name(shape)}", Lp(shape, p, dtype), goals, BOTH, beside, p == 2)
        small = (8, 512, 14, 14)
        beside = {"float32": Lp(small)}
        yield Setting(f"{dtype} in cache", f"lp {short} p2 {shape_name(small)}", Lp(small, 2, dtype), (), BOTH, beside)


def lp_powers() -> Iterator[Setting]:
    cached = (8, 512, 14, 14)
    streamed = (16, 256, 56, 56)
    for dtype, short in (("float32", "f32"), ("float64", "f64"), ("float16", "f16")):
        for p in (3, 4):
            beside: dict[str, Work] = {"p=2": Lp(cached, 2, dtype)}
            yield Setting(
                "p=3, 4",
                f"lp {short} p{p} {shape_name(cached)}",
                Lp(cached, p, dtype),
                (Goal("p=2", 0.5),),
                BOTH,
                beside,
                dtype == "float32",
            )
            if dtype == "float32":
                yield Setting("p=3, 4", f"lp f32 p{p} {shape_name(streamed)}", Lp(streamed, p), (Goal(LIMIT, 0.9),), quick=p == 3)
    for any_p, factor in ((0.5, 5), (1.5, 5), (7, 5), (50, 5), (3.7, 3)):
        for dtype, short in (("float32", "f32"), ("float64", "f64")):
            yield Setting(
                "any p",
                f"lp {short} p{any_p} {shape_name(cached)}",
                Lp(cached, any_p, dtype),
                (Goal("numpy", factor),),
                (1,),
                quick=dtype == "float32",
            )


def lp_range() -> Iterator[Setting]:
    shape = (8, 512, 14, 14)
    for dtype, short, p in (("float64", "f64", 2), ("float32", "f32", 50), ("float64", "f64", 3)):
        plain: dict[str, Work] = {"plain": Lp(shape, p, dtype)}
        for values in ("huge", "tiny", "one huge row"):
            goal = Goal("plain", 0.95 if values == "one huge row" else 0.5)
            work = Lp(shape, p, dtype, values)
            yield Setting("rescaling", f"lp {short} p{p} {values}", work, (goal,), (1,), plain, quick=p == 2, peers=False)
    wide = (1, 64, 224, 224)
    yield Setting(
        "rescaling",
        "lp f64 p2 huge 1,64,224,224",
        Lp(wide, 2, "float64", "huge"),
        (Goal("plain", 0.5),),
        (1,),
        {"plain": Lp(wide, 2, "float64")},
        peers=False,
    )


def lp_forms() -> Iterator[Setting]:
    long_row = (1, 1, 1 << 26)
    yield Setting("one long row", "lp f32 p2 1,1,64M", Lp(long_row), (SCALING, Goal(LIMIT, 0.9)), quick=False)
    yield Setting("one long row", "lp f32 p2 1,1,1M", Lp((1, 1, 1 << 20)), (SCALING,))
    yield Setting("few planes", "lp f32 p2 1,2,4096,4096", Lp((1, 2, 4096, 4096)), (Goal(LIMIT, 0.9),), quick=False)
    for side in (256, 512, 1024):
        yield Setting("few planes", f"lp f32 p2 1,2,{side},{side}", Lp((1, 2, side, side)), (Goal(ONE_THREAD, 1.7),), (2,))
    yield Setting("few planes", "lp f32 p2 1,3,512,512", Lp((1, 3, 512, 512)), (Goal(ONE_THREAD, 1.7),), (2,), quick=False)
    for shape, quick in (
        ((8, 512, 14, 14), True),
        ((1, 2048, 7, 7), True),
        ((1, 64, 224, 224), False),
        ((16, 256, 56, 56), True),
        ((8, 3, 512, 512), False),
    ):
        work = Lp(shape, layout="channels last")
        beside: dict[str, Work] = {"contiguous": Lp(shape)}
        yield Setting("channels last", f"lp f32 p2 {shape_name(shape)} NHWC", work, (Goal("contiguous", 1 / 1.5),), BOTH, beside, quick)
    for dtype, short in (("float16", "f16"), ("float64", "f64")):
        work = Lp((8, 512, 14, 14), 2, dtype, layout="channels last")
        beside = {"contiguous": replace(work, layout="contiguous")}
        yield Setting("channels last", f"lp {short} p2 8,512,14,14 NHWC", work, (Goal("contiguous", 1 / 1.5),), (1,), beside, quick=False)


def tiny() -> Iterator[Setting]:
    goals = (Goal("torch", 1), Goal("ORT", 2))
    for shape in ((1, 1, 2, 2),):
        yield Setting("tiny call", f"lp f32 p2 {shape_name(shape)}", Lp(shape), goals)
    yield Setting("tiny call", "roi f32 1,1,2,2", Roi((1, 1, 2, 2), 1, (1, 1), 1.0, boxes="whole"), (Goal("ORT", 2),))


ROI_SETTINGS = {
    "512,38,50 300 rois": Roi((1, 512, 38, 50), 300),
    "256,200,272 512 rois": Roi((1, 256, 200, 272), 512, scale=1 / 4),
    "2,1024,14,14 128 rois 6x6": Roi((2, 1024, 14, 14), 128, (6, 6)),
}


def roi_main() -> Iterator[Setting]:
    for name, work in ROI_SETTINGS.items():
        goals = (Goal("OpenVINO", 2), Goal("ORT", 8), Goal(ONE_THREAD, 1.7))
        yield Setting("MaxRoiPool", f"roi f32 {name}", work, goals)


def roi_others() -> Iterator[Setting]:
    never_slower = (Goal(FASTEST, 1), SCALING)
    row = "MaxRoiPool, others"
    for rois in (1, 2, 4, 8):
        yield Setting(
            row, f"roi f32 256,200,272 {rois} rois", Roi((1, 256, 200, 272), rois, scale=1 / 4), never_slower, quick=rois in (1, 4)
        )
    for shape in ((8, 256, 56, 56), (1, 512, 38, 50), (32, 2048, 7, 7)):
        for bins in ((1, 1), (2, 2)):
            work = Roi(shape, shape[0], bins, 1 / 16, boxes="whole")
            yield Setting(row, f"roi f32 {shape_name(shape)} whole {bins[0]}x{bins[1]}", work, never_slower, quick=shape[0] == 8)
    for name, work in (
        ("512,38,50 300 rois 14x14", Roi((1, 512, 38, 50), 300, (14, 14))),
        ("256,200,272 128 rois 14x14", Roi((1, 256, 200, 272), 128, (14, 14), 1 / 4)),
    ):
        yield Setting(row, f"roi f32 {name}", work, never_slower, quick=work.rois == 300)
    yield Setting(row, "roi f32 4,64,38,50 2000 rois", Roi((4, 64, 38, 50), 2000), never_slower)
    yield Setting(row, "roi f32 1,3,224,224 64 rois", Roi((1, 3, 224, 224), 64, scale=1.0), never_slower)
    yield Setting(row, "roi f32 8,3,640,640 256 rois", Roi((8, 3, 640, 640), 256, scale=1.0), never_slower, quick=False)
    yield Setting(row, "roi f32 1,64,32,32 8 rois 2x2", Roi((1, 64, 32, 32), 8, (2, 2)), (Goal(FASTEST, 1),))


def roi_types() -> Iterator[Setting]:
    for dtype, short, factor in (("float16", "f16", 1.0), ("bfloat16", "bf16", 1.0), ("float64", "f64", 0.5)):
        for name, work in ROI_SETTINGS.items():
            beside: dict[str, Work] = {"float32": work}
            quick = work.shape[1] == 512
            goals = (Goal("float32", factor),)
            yield Setting(
                "MaxRoiPool, types", f"roi {short} {name}", replace(work, dtype=dtype), goals, BOTH if quick else (1,), beside, quick
            )
    for name, work in ROI_SETTINGS.items():
        beside = {"contiguous": work}
        goals = (Goal("contiguous", 1 / 1.5),)
        last = replace(work, layout="channels last")
        yield Setting("channels last", f"roi f32 {name} NHWC", last, goals, BOTH, beside, work.shape[1] == 512)
    few = Roi((1, 256, 200, 272), 4, scale=1 / 4)
    yield Setting(
        "channels last",
        "roi f32 256,200,272 4 rois NHWC",
        replace(few, layout="channels last"),
        (Goal("contiguous", 1 / 1.5),),
        BOTH,
        {"contiguous": few},
        False,
    )


SETTINGS = tuple(
    setting for group in (lp_float32, lp_types, lp_powers, lp_range, lp_forms, tiny, roi_main, roi_others, roi_types) for setting in group()
)
