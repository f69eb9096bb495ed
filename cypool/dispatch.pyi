from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Form = tuple[np.dtype[Any], tuple[int, ...]]

class Build(NamedTuple):
    name: str
    rows: dict[str, Callable[..., None]]
    planes: dict[str, Callable[..., None]]
    box_max: dict[str, Callable[..., None]]
    inclusive_boxes: dict[str, Callable[..., int]]

class Launch:
    def __call__(self, arrays: tuple[Array, ...], out: Array, threads: int | None) -> bool: ...

class lp(Launch):
    def __init__(self, forms: Sequence[Form], p: float) -> None: ...

class box_max(Launch):
    def __init__(self, forms: Sequence[Form], scale: float, counts: tuple[int, int]) -> None: ...

class maxima(Launch):
    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], regions: int, counts: tuple[int, int]) -> None: ...

chosen: Build
MOST: int

def load(name: str) -> Build: ...
def present() -> tuple[str, ...]: ...
def usable() -> tuple[str, ...]: ...
def choose(wish: str | None) -> str: ...
def available_threads() -> int: ...
def threads_for(elements: float, wish: int | None) -> int: ...
