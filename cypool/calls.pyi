from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cypool.dispatch import Launch
from cypool.plan import Array, Signature

class Calls:
    def __init__(
        self,
        prepare: Callable[[str, int | None, Mapping[str, Any], Sequence[Array | None], int | None], tuple[Signature, Launch]],
    ) -> None: ...
    def clear(self) -> None: ...
    def run(
        self,
        op: str,
        arrays: tuple[Any, ...],
        attributes: tuple[Any, ...],
        opset: int | None,
        outputs: int | None,
        out: Array | tuple[Array, ...] | None,
        threads: int | None,
    ) -> tuple[Array, ...]: ...
