"""Runs models in ONNX Runtime with the plug-in, where numpy and onnxruntime are all there is:
``python ort_program.py WORK``.

WORK has a model a line, with inputs and what must come of it, as ``ort_work`` writes them. Every
position that the plug-in leaves to later versions of ONNX Runtime ends the process, so that none is
read unnoticed. Prints versions and the number of models; ends with 1 and says what is wrong where
something is.
"""

import base64
import ctypes
import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime as ort

ULPS = 4


def poisoned(name, path):
    """Register the plug-in with poison in it."""
    from cypool.ort import plugin

    plugin.poison()
    REGISTER(name, path)


REGISTER = ort.register_execution_provider_library
ort.register_execution_provider_library = poisoned

import cypool.ort  # noqa: E402 - registers


def value(tensor):
    """A tensor as ONNX Runtime takes it, of any type."""
    elements = np.frombuffer(base64.b64decode(tensor["data"]), np.dtype(tensor["holds"])).reshape(tensor["shape"])
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(elements, tensor["type"])


def far(got, expected, holds):
    """Whether bits of floats (or integers) are further apart than they may be; NaN is near NaN."""
    bits = np.dtype(f"i{np.dtype(holds).itemsize}")
    a, b = (np.frombuffer(data, bits).astype(object) for data in (got, expected))
    if not holds.startswith(("float", "uint16")):  # bfloat16 is held as uint16
        return list(a) != list(b)
    half = 1 << (8 * bits.itemsize - 1)
    infinity = {"float16": 0x7C00, "uint16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF0000000000000}[holds]
    for x, y in zip(a, b, strict=True):
        magnitudes = x & (half - 1), y & (half - 1)
        if max(magnitudes) > infinity:
            if min(magnitudes) <= infinity:
                return True
        elif abs((x if x >= 0 else -(x + half)) - (y if y >= 0 else -(y + half))) > ULPS:
            return True
    return False


def wrong(work):
    """What is wrong with what a model gives, or None."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    cypool.ort.options(options)
    try:
        session = ort.InferenceSession(base64.b64decode(work["model"]), options)
        if "CypoolExecutionProvider" not in session.get_providers():
            return "the plug-in is not in the session"
        names = [output.name for output in session.get_outputs()]
        values = session.run_with_ort_values(names, {tensor["name"]: value(tensor) for tensor in work["inputs"]})
    except Exception as error:
        return None if "error" in work and work["error"] in str(error) else f"{type(error).__name__}: {error}"
    if "error" in work:
        return "an error was expected"
    for name, got, tensor in zip(names, values, work["outputs"], strict=True):
        if list(got.shape()) != tensor["shape"]:
            return f"{name} has shape {got.shape()}"
        size = got._ortvalue.tensor_size_in_bytes()
        if far(ctypes.string_at(got.data_ptr(), size) if size else b"", base64.b64decode(tensor["data"]), tensor["holds"]):
            return f"{name} is wrong"
    return None


def main(path):
    count = 0
    for line in Path(path).read_text().splitlines():
        work = json.loads(line)
        if fault := wrong(work):
            sys.exit(f"{work['id']}: {fault}")
        count += 1
    print(f"onnxruntime {ort.__version__}, numpy {np.__version__}: {count} models")


main(sys.argv[1])
