"""State how each runtime is used without cypool: a few lines of Python for the scripts.

The lines are for a runtime's developers, and use that runtime's own interface only. A runtime
that a package registers is reached through that package.
"""

from __future__ import annotations

from dataclasses import dataclass

from cypool.conformance.asking.runtimes.table import GROUP


@dataclass(frozen=True, slots=True)
class Recipe:
    """Lines that import a runtime, load the bytes ``model``, and list the outputs for ``inputs`` by
    name.

    ``unoptimized`` replaces ``load`` where a variant asks for the graph as it is, and the runtime
    needs more lines for that. ``$target`` is the adapter's target in quotes, ``$module`` and
    ``$path`` its module and the dotted path in it; ``$outputs`` lists the names of the outputs,
    ``$dtypes`` their numpy types, and ``$options`` the further options of the request.
    """

    imports: str
    load: str
    run: str
    unoptimized: str = ""


_ORT = "import onnxruntime as ort", "session = ort.InferenceSession(model, providers=[$target])"
_ORT_UNOPTIMIZED = """options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
session = ort.InferenceSession(model, options, providers=[$target])"""
_PLUGIN = (
    "import onnxruntime as ort\nimport $module",
    'session = ort.InferenceSession(model, $module.options(), disabled_optimizers=["ConstantFolding"])',
)
_PLUGIN_UNOPTIMIZED = """options = $module.options()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
session = ort.InferenceSession(model, options)"""
_ORT_VALUES = """
def value(a):
    half = a.dtype == ml_dtypes.bfloat16
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(a.view(np.uint16), 16) if half else ort.OrtValue.ortvalue_from_numpy(a)
values = session.run_with_ort_values($outputs, {name: value(array) for name, array in inputs.items()})"""
_ORT_OUTPUTS = (
    "[np.frombuffer(ctypes.string_at(v.data_ptr(), v._ortvalue.tensor_size_in_bytes()), t).reshape(v.shape()) "
    "for v, t in zip(values, $dtypes)]"
)
_OPENVINO = (
    "import openvino as ov",
    'core = ov.Core()\ncompiled = core.compile_model(core.read_model(model), $target, {"INFERENCE_PRECISION_HINT": "f32"})',
)

RECIPES = {
    "onnxruntime": Recipe(*_ORT, "session.run($outputs, inputs)", _ORT_UNOPTIMIZED),
    "onnxruntime bfloat16": Recipe(f"import ctypes\n{_ORT[0]}", _ORT[1] + _ORT_VALUES, _ORT_OUTPUTS, _ORT_UNOPTIMIZED + _ORT_VALUES),
    "onnxruntime_cypool": Recipe(*_PLUGIN, "session.run($outputs, inputs)", _PLUGIN_UNOPTIMIZED),
    "onnxruntime_cypool bfloat16": Recipe(
        f"import ctypes\n{_PLUGIN[0]}", _PLUGIN[1] + _ORT_VALUES, _ORT_OUTPUTS, _PLUGIN_UNOPTIMIZED + _ORT_VALUES
    ),
    "openvino": Recipe(*_OPENVINO, "[compiled(inputs)[name] for name in $outputs]"),
    "openvino bfloat16": Recipe(
        *_OPENVINO,
        "[y.view(ml_dtypes.bfloat16) if of.element_type == ov.Type.bf16 else y for of, y in compiled(inputs).items()]",
    ),
    "tract": Recipe(
        "import tract\nfrom pathlib import Path",
        'Path("model.onnx").write_bytes(model)\nrunnable = tract.onnx().load("model.onnx").into_model().into_runnable()',
        "[output.to_numpy() for output in runnable.run(list(inputs.values()))]",
    ),
    "reference": Recipe(
        "import onnx\nfrom onnx.reference import ReferenceEvaluator",
        "evaluator = ReferenceEvaluator(onnx.load_model_from_string(model))",
        "evaluator.run($outputs, inputs)",
    ),
    "onnx_backend": Recipe(
        "import onnx\nimport $module",
        'prepared = $path.prepare(onnx.load_model_from_string(model), "CPU")',
        "prepared.run(list(inputs.values()))",
    ),
    "registered": Recipe(
        "from importlib.metadata import entry_points\nfrom cypool.conformance.tensors import Tensor",
        f'(point,) = entry_points(group="{GROUP}", name=$target)\nrun = point.load()($target).load(model)',
        "[output.array for output in run([Tensor.of(name, array) for name, array in inputs.items()], $outputs)]",
        f'(point,) = entry_points(group="{GROUP}", name=$target)\nrun = point.load()($target).load_unoptimized(model)',
    ),
    "": Recipe(
        "import json\nimport shlex\nimport subprocess",
        """def tensor(name, array):
    type = {"float32": "float", "float64": "double"}.get(array.dtype.name, array.dtype.name)
    return {"name": name, "type": type, "shape": array.shape, "data": base64.b64encode(array.tobytes()).decode()}
request = {"cmd": "run", "id": "1", "model": base64.b64encode(model).decode(), "outputs": $outputs,
           "inputs": [tensor(name, array) for name, array in inputs.items()], **$options}
answer = json.loads(subprocess.check_output(shlex.split($target), input=json.dumps(request) + "\\n", text=True))""",
        '[np.frombuffer(base64.b64decode(y["data"]), dtype).reshape(y["shape"]) '
        'for y, dtype in zip(answer.get("outputs", []), $dtypes)] or [answer]',
    ),
}
"""By adapter ("" for programs that speak the worker's protocol); by adapter and type where numpy's
own types do not suffice.
"""
