"""cypool's operators inside ONNX Runtime: an execution provider that plain
``onnxruntime.InferenceSession`` takes.

Importing registers it, once a process. A session takes it by name (ONNX Runtime 1.25 and newer) or
by session options (1.24 and newer):

>>> import numpy as np, onnx, onnxruntime, cypool.ort
>>> model = onnx.parser.parse_model('''
...     <ir_version: 10, opset_import: ["" : 22]>
...     g (float[N, 1, 2] x) => (float[N, 1, 1] y) { y = GlobalLpPool (x) }''')
>>> session = onnxruntime.InferenceSession(model.SerializeToString(), cypool.ort.options())
>>> session.run(None, {"x": np.array([[[3, 4]]], np.float32)})
[array([[[5.]]], dtype=float32)]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

OLDEST = (1, 24)


def _onnxruntime() -> Any:
    """Return the module onnxruntime; ImportError, in one line, where there is none that can load
    the plug-in.
    """
    try:
        import onnxruntime  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError(f"cypool.ort needs onnxruntime 1.24 or newer: {error} (pip install 'cypool[ort]')") from None
    version = str(getattr(onnxruntime, "__version__", "unknown"))
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if len(numbers) < 2 or numbers < OLDEST:
        raise ImportError(f"cypool.ort needs onnxruntime 1.24 or newer, this is {version} (pip install --upgrade onnxruntime)")
    return onnxruntime


_ort = _onnxruntime()

from cypool import unbuilt  # noqa: E402 - all of this only where there is an ONNX Runtime to load it
from cypool.errors import SpecValueError  # noqa: E402
from cypool.ort import rows, settings  # noqa: E402

try:
    import cypool.ort.plugin as plugin
except ImportError as error:
    raise unbuilt.explain(error) from None

__all__ = ["NAME", "devices", "options", "register", "supported"]

NAME = settings.PROVIDER
"""The provider's name."""


def register() -> None:
    """Register the provider with ONNX Runtime, unless that is done; importing this module has done
    it.
    """
    if not _found():
        _ort.register_execution_provider_library(NAME, plugin.__file__)


def devices() -> list[Any]:
    """Return the devices to hand to ``SessionOptions.add_provider_for_devices``: the CPU, as the
    provider offers it.
    """
    register()
    return _found()


def _found() -> list[Any]:
    return [device for device in _ort.get_ep_devices() if device.ep_name == NAME]


def options(
    session_options: Any = None,
    *,
    only_missing: bool = False,
    ops: Iterable[str] | None = None,
    threads: int = 1,
) -> Any:
    """Return session options that let cypool run its operators in a session, ONNX Runtime all
    others.

    Parameters
    ----------
    session_options:
        An ``onnxruntime.SessionOptions`` to add to, which is returned; None makes one. The session
        is then made without ``providers``.
    only_missing:
        Leave to ONNX Runtime every node that it has a kernel for, by type and version.
    ops:
        Names of operators: leave all others to ONNX Runtime. None: all that there are.
    threads:
        How many threads a node uses, at least 1. They are beside those of ONNX Runtime, which wait
        for work spinning.

    Returns
    -------
    onnxruntime.SessionOptions

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        An unknown operator, a number of threads that is none.

    Examples
    --------
    >>> import cypool.ort
    >>> cypool.ort.options(ops=["GlobalLpPol"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    cypool.errors.SpecValueError: unknown operator 'GlobalLpPol'; there are ...
    """
    strings = settings.written(ops, threads)
    if session_options is None:
        session_options = _ort.SessionOptions()
    elif _taken(session_options):
        raise SpecValueError("these session options have the CypoolExecutionProvider already")
    own, cpu = devices(), [device for device in _ort.get_ep_devices() if device.ep_name == "CPUExecutionProvider"]
    if only_missing:
        session_options.add_provider_for_devices(cpu, {})
    session_options.add_provider_for_devices(own, strings)
    return session_options


def _taken(session_options: Any) -> bool:
    """Tell whether options were handed on to the provider before: ONNX Runtime would only say so
    when a session is made.
    """
    try:
        session_options.get_session_config_entry(f"{settings.PREFIX}threads")
    except RuntimeError:
        return False
    return True


def supported() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return what the provider computes: for each operator version the element types of its type
    constraints.

    >>> supported()["MaxRoiPool-22"]
    {'T': ('float16', 'float', 'double', 'bfloat16')}
    """
    return {row.version.name: {each.name: each.allowed for each in row.version.types} for row in rows.rows()}


register()
