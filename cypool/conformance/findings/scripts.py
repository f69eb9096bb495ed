"""Write a finding as a Python script of some ten lines.

The script needs numpy and the runtime alone: model and inputs are written out in it.
"""

from __future__ import annotations

import base64
import io
import json
from string import Template
from typing import NamedTuple

import numpy as np

from cypool.conformance.asking.runtimes.table import Entry
from cypool.conformance.cases import models
from cypool.conformance.cases.case import Case
from cypool.conformance.findings.recipes import RECIPES
from cypool.conformance.tensors import DTYPES, Tensor

LONGEST = 256
"""How many elements are written out."""

WORDS = {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf", "-0": "-0.0"}  # bfloat16 has no point after its zero


class Place(NamedTuple):
    """The first wrong element: the number of the output that holds it, and its indices there."""

    output: int
    indices: tuple[int, ...]


def script(title: str, entry: Entry, case: Case, place: Place | None = None) -> tuple[str, dict[str, bytes]]:
    """Return the script for a case on a runtime, and the files beside it that it reads: none,
    unless an array is too long to be written out.

    It prints the outputs and what was expected, or the element at ``place``, where that is known.
    """
    model, inputs = models.model(case).SerializeToString(deterministic=True), models.feeds(case)
    half = any(tensor.type == "bfloat16" for tensor in (*inputs, *(() if case.fault else case.expected)))
    recipe = RECIPES.get(f"{entry.adapter} bfloat16" if half else entry.adapter) or RECIPES[entry.adapter]
    options = models.variant(case).options
    module, _, attribute = entry.target.partition(":")
    words = {
        "target": json.dumps(entry.target),
        "module": module,
        "path": f"{module}.{attribute}".rstrip("."),
        "outputs": json.dumps(case.outputs),
        "dtypes": f"[{', '.join(_dtype(models.output_type(case, name)) for name in case.outputs)}]",
        "options": repr(dict(options)),
    }
    steps = recipe.imports, (options and recipe.unoptimized) or recipe.load, recipe.run
    imports, load, run = (Template(text).substitute(words) for text in steps)
    got, expected, shown = _compared(case, place)
    lines = [
        f"# {' '.join(title.split())}",
        *sorted(["import base64", "import numpy as np", *["import ml_dtypes"] * half, *imports.split("\n")], key=_imports_first),
        "",
        f'model = base64.b64decode("{base64.b64encode(model).decode()}")',
        "inputs = {",
        *(f'    "{tensor.name}": {expression(tensor)},' for tensor in inputs),
        "}",
        load,
        f"got = {run}",
        f'print("got     ", {got})',
        f'print("expected", {expected})',
    ]
    return "\n".join(lines) + "\n", {file_name(tensor): _file(tensor) for tensor in (*inputs, *shown) if _is_long(tensor)}


def _compared(case: Case, place: Place | None) -> tuple[str, str, tuple[Tensor, ...]]:
    """Return the expressions to print as got and as expected, and the tensors written
    out for them.
    """
    if case.fault is not None:
        return "*got", f'"an error, because {case.fault}"', ()
    if place is None:
        return "*got", ", ".join(map(expression, case.expected)), case.expected
    right = str(case.expected[place.output].array[place.indices])
    return f"got[{place.output}][{', '.join(map(str, place.indices))}]", WORDS.get(right, right), ()


def _imports_first(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line


def expression(tensor: Tensor) -> str:
    """Return a Python expression for the array of a tensor.

    >>> expression(Tensor.of("X", np.array([[0.1, np.nan]], np.float32)))
    'np.array([0.1, np.nan], np.float32).reshape((1, 2))'
    >>> expression(Tensor.of("X", np.ones((1000, 7))))
    'np.full((1000, 7), 1.0, np.float64)'
    """
    dtype = _dtype(tensor.type)
    if _is_long(tensor):
        return f'np.load("{file_name(tensor)}")' + f".view({dtype})" * (tensor.type == "bfloat16")
    values = [WORDS.get(str(value), str(value)) for value in tensor.array.reshape(-1)[:LONGEST]]
    if len(values) == LONGEST and _is_uniform(tensor):
        return f"np.full({tensor.shape}, {values[0]}, {dtype})"
    return f"np.array([{', '.join(values)}], {dtype}).reshape({tensor.shape})"


def _is_long(tensor: Tensor) -> bool:
    """Tell whether it takes a file: it has many elements, and not all the same."""
    return len(tensor.data) > LONGEST * DTYPES[tensor.type].itemsize and not _is_uniform(tensor)


def _is_uniform(tensor: Tensor) -> bool:
    size = DTYPES[tensor.type].itemsize
    return tensor.data == tensor.data[:size] * (len(tensor.data) // size)


def file_name(tensor: Tensor) -> str:
    """Return the name of the file that holds a tensor."""
    return f"{tensor.name}.npy"


def _file(tensor: Tensor) -> bytes:
    """Return the array as numpy's file, which knows no bfloat16: that goes as its bits."""
    file = io.BytesIO()
    np.save(file, tensor.array.view(np.uint16) if tensor.type == "bfloat16" else tensor.array)
    return file.getvalue()


def _dtype(type: str) -> str:
    return f"ml_dtypes.{type}" if type == "bfloat16" else f"np.{DTYPES[type].name}"
