"""List the runtimes that have a short name, and find any other.

This is data: looking a name up imports no runtime, and a further runtime is one row.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import shlex
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import cast

from cypool.conformance.asking.runtimes.base import Runtime

GROUP = "cypool.runtimes"
"""The entry-point group in which a package registers runtimes: a name, and a function that is given
that name and gives a ``Runtime``.
"""

EXEC = "exec:"
"""What a name starts with that goes on with a program, and its arguments, that speaks the worker's
protocol by itself.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A runtime's name, the adapter module that reaches it, what the adapter is pointed at, and how
    to install it.

    ``module`` is what has to be importable for it; "" where that can't be told beforehand.
    """

    name: str
    adapter: str
    target: str
    install: str
    module: str = ""

    @property
    def command(self) -> tuple[str, ...]:
        """The program that serves it: a worker of ours with the adapter in it, or one
        of its own.
        """
        if self.adapter:
            return sys.executable, "-m", "cypool.conformance.asking.worker", self.name
        return tuple(shlex.split(self.target))


BUILT_IN = {
    entry.name: entry
    for entry in (
        Entry("cypool", "onnx_backend", "cypool.backend", "pip install 'cypool[onnx]'", "cypool"),
        Entry("onnxruntime", "onnxruntime", "CPUExecutionProvider", "pip install onnxruntime", "onnxruntime"),
        Entry("onnxruntime+cypool", "onnxruntime_cypool", "cypool.ort", "pip install 'cypool[onnx,ort]'", "onnxruntime"),
        Entry("openvino", "openvino", "CPU", "pip install openvino", "openvino"),
        Entry("tract", "tract", "", "pip install tract", "tract"),
        Entry("reference", "reference", "onnx.reference", "pip install onnx", "onnx"),
    )
}


def registered() -> dict[str, Entry]:
    """Return the runtimes that installed packages bring, by name; a built-in name can't
    be taken.
    """
    found = entry_points(group=GROUP)
    return {
        point.name: Entry(point.name, "registered", point.name, f"it is registered by {point.dist.name if point.dist else point.value}")
        for point in found
        if point.name not in BUILT_IN
    }


def installed() -> tuple[str, ...]:
    """Return the names of all runtimes that are there: built in and importable, or registered.

    >>> "cypool" in installed()
    True
    """
    here = [name for name, entry in BUILT_IN.items() if importlib.util.find_spec(entry.module)]
    return (*here, *registered())


def find(name: str) -> Entry:
    """Return the entry of a built-in or registered name, or of a program; anything else is an ONNX
    Backend, as module or ``module:attribute``.

    >>> find("onnxruntime").install
    'pip install onnxruntime'
    >>> find("mylib.onnx:Backend").adapter
    'onnx_backend'
    >>> find("exec:./harness --quiet").command
    ('./harness', '--quiet')
    """
    if name.startswith(EXEC):
        return Entry(name, "", name.removeprefix(EXEC), "is the program there, and may it be run?")
    entry = BUILT_IN.get(name) or registered().get(name)
    if entry is not None:
        return entry
    names = [*BUILT_IN, *registered()]
    nearly = difflib.get_close_matches(name, names, n=1)
    install = f"did you mean {nearly[0]!r}? else " if nearly else ""
    install += f"install what provides the module {name.partition(':')[0]!r}, or name one of: {', '.join(names)}"
    return Entry(name, "onnx_backend", name, install)


def connect(name: str) -> Runtime:
    """Return the runtime of that name, imported into this process; ImportError or AttributeError
    where it is not there.
    """
    entry = find(name)
    adapter = importlib.import_module(f"cypool.conformance.asking.runtimes.{entry.adapter}")
    return cast(Runtime, adapter.connect(entry.target))
