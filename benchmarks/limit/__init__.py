"""What memory itself allows: plain reads and writes of as many bytes with as many threads.

Apart from the peers because it computes nothing: it is the line that no kernel crosses. Built on
first use, for this very processor.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.work import Array, Work

SOURCE = Path(__file__).with_name("memory.pyx")
BUILD = Path(__file__).parents[2] / "build" / "benchmarks"


@cache
def memory() -> ModuleType:
    """The compiled module, built if it is absent or older than its source."""
    name = "benchmarks.limit.memory"
    built = sorted(BUILD.rglob("memory.*.so"), key=lambda path: path.stat().st_mtime)
    if not built or built[-1].stat().st_mtime < SOURCE.stat().st_mtime:
        built = [_build(name)]
    spec = importlib.util.spec_from_file_location(name, built[-1])
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _build(name: str) -> Path:
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    flags = ["-O3", "-march=native", "-fopenmp"]
    extension = Extension(name, [str(SOURCE)], extra_compile_args=flags, extra_link_args=["-fopenmp"])
    modules = cythonize([extension], build_dir=str(BUILD), language_level=3, quiet=True)
    command: Any = Distribution({"ext_modules": modules}).get_command_obj("build_ext")
    command.build_lib = command.build_temp = str(BUILD)
    command.ensure_finalized()
    command.run()
    return Path(command.get_ext_fullpath(name))


def prepare(work: Work, arrays: tuple[Array, ...], threads: int) -> Callable[[], object] | None:
    """A call that moves the bytes which the work has to move: one read of the inputs, one write of
    the outputs. None below 4 KB.
    """
    if work.read_bytes < 1 << 12:
        return None
    module = memory()
    read = module.read
    inputs = [words(x) for x in arrays]
    if work.op == "GlobalLpPool":
        return partial(read, inputs[0], threads)
    output = np.empty(-(-work.written_bytes // 8), np.uint64)

    def move() -> None:
        module.write(output, threads)
        for x in inputs:
            read(x, threads)

    return move


def words(x: Array) -> Array:
    """An array's memory, in whole words."""
    flat = (x if x.flags.c_contiguous else np.moveaxis(x, 1, -1)).reshape(-1).view(np.uint8)
    return flat[: flat.size // 8 * 8].view(np.uint64)
