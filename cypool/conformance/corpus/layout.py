"""Write a case as a directory in ONNX's own test layout, and read it back.

``model.onnx``, ``test_data_set_0/input_0.pb`` and ``output_0.pb`` are ONNX's, and so is
``data.json`` with the tolerance. Beside them stand ``model_opset21.onnx``, the same at a later
opset, and ``readings/NAME/output_0.pb``, the answers of other readings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import onnx
from onnx import AttributeProto, helper

from cypool import spec
from cypool.conformance.cases import models, protos
from cypool.conformance.cases.case import Case, TypedValue
from cypool.conformance.judging.compare import tolerance
from cypool.conformance.tensors import Tensor

MODEL = "model.onnx"
DATA = "test_data_set_0"


def directory_name(id: str) -> str:
    """Return the name of a case's directory: as ONNX's runner wants names to begin, and without
    slashes.

    >>> directory_name("GlobalLpPool-22/bfloat16/rank4/p3/mixed-signs")
    'test_GlobalLpPool-22__bfloat16__rank4__p3__mixed-signs'
    """
    return "test_" + id.replace("/", "__")


def model_files(case: Case, opsets: Iterable[int] = ()) -> dict[str, int]:
    """Return the files that hold the case's model, each with its opset: its own, and
    further ones.
    """
    return {MODEL: case.opset or case.version.since_version} | {f"model_opset{opset}.onnx": opset for opset in opsets}


def files(case: Case, opsets: Iterable[int] = ()) -> dict[str, bytes]:
    """Return a case's directory: what each file holds, by its path.

    The model is there at its own opset, and at the ones given.
    """
    found = {name: models.model(case, opset).SerializeToString(deterministic=True) for name, opset in model_files(case, opsets).items()}
    found |= tensor_files(f"{DATA}/input", models.feeds(case))
    if case.fault is None:
        found |= tensor_files(f"{DATA}/output", case.expected)
        for reading, outputs in case.readings.items():
            found |= tensor_files(f"readings/{reading}/output", outputs)
        found["data.json"] = json.dumps(case_tolerance(case)).encode() + b"\n"
    return found


def tensor_files(stem: str, tensors: Iterable[Tensor]) -> dict[str, bytes]:
    """Tensors as files, ``stem`` and a number being their paths."""
    return {f"{stem}_{i}.pb": protos.to_bytes(tensor) for i, tensor in enumerate(tensors)}


def case_tolerance(case: Case) -> dict[str, float]:
    """``rtol`` and ``atol`` for all outputs: those of the strictest."""
    rtols, atols = zip(*(tolerance(output.array) for output in case.expected), strict=True)
    return {"rtol": min(rtols), "atol": min(atols)}


def describe(case: Case, opsets: Iterable[int] = ()) -> dict[str, Any]:
    """Return what a manifest says of a case beside what its directory holds: plain
    data, for JSON.
    """
    version = case.version
    models_at = model_files(case, opsets)
    facts = {
        "id": case.id,
        "operator": version.op,
        "version": version.since_version,
        "opset": models_at[MODEL],
        "models": models_at,
        "type": case.type,
        "inputs": [tensor.name for tensor in models.feeds(case)],
        "outputs": list(case.outputs),
        "tags": sorted(case.tags),
        "ruling": list(case.rulings),
    }
    if case.fault is not None:
        return facts | {"fault": case.fault}
    readings = [
        {"name": reading.name, "ruling": ruling.id, "legitimate": reading.legitimate}
        for ruling in version.rulings
        for reading in ruling.readings
        if ruling.id in case.rulings and reading.name in case.alternatives
    ]
    return facts | {"readings": readings, "tolerance": case_tolerance(case)}


def case_of(facts: Mapping[str, Any], read: Callable[[str], bytes]) -> Case:
    """Return the case that ``describe`` and ``files`` were made from; ``read`` gives what a file of
    its directory holds, by its path.

    Inputs and attributes are those of the operator's node, wherever in the model it stands, be they
    fed or constants. Answers are read when they are asked for. KeyError where a fact is missing,
    ValueError where a file is not what it should be, and what ``read`` raises.
    """
    model = onnx.load_model_from_string(read(MODEL))
    node = _node(model, facts["operator"])
    constants = [protos.from_bytes(tensor.SerializeToString(), tensor.name) for tensor in model.graph.initializer]
    given = {tensor.name: tensor for tensor in (*_tensors(read, f"{DATA}/input", facts["inputs"]), *constants)}

    def answer(reading: str | None) -> tuple[Tensor, ...]:
        where = DATA if reading is None else f"readings/{reading}"
        return _tensors(read, f"{where}/output", facts["outputs"])

    fault = facts.get("fault")
    return Case(
        facts["id"],
        spec.version(f"{facts['operator']}-{facts['version']}"),
        facts["type"],
        tuple(given[name] for name in node.input if name),
        tuple(_attributes(node)),
        frozenset(facts["tags"]),
        tuple(facts["ruling"]),
        () if fault else tuple(reading["name"] for reading in facts["readings"]),
        fault,
        opset=facts["opset"],
        asked=tuple(facts["outputs"]),
        answer=None if fault else answer,
    )


def _tensors(read: Callable[[str], bytes], stem: str, names: Iterable[str]) -> tuple[Tensor, ...]:
    found = []
    for i, name in enumerate(names):
        path = f"{stem}_{i}.pb"
        try:
            found.append(protos.from_bytes(read(path), name))
        except ValueError as error:
            raise ValueError(f"{path} holds {error}") from error
    return tuple(found)


def _node(model: onnx.ModelProto, op: str) -> onnx.NodeProto:
    """Return the node of that operator: in the graph, in a function, or in a branch of a node."""
    nodes = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    nodes += [inner for node in model.graph.node for attribute in node.attribute for inner in attribute.g.node]
    for node in nodes:
        if node.op_type == op:
            return node
    raise ValueError(f"{MODEL} holds no {op}")


def _attributes(node: onnx.NodeProto) -> Iterator[tuple[str, TypedValue]]:
    for attribute in node.attribute:
        value = helper.get_attribute_value(attribute)
        plain = value.decode() if isinstance(value, bytes) else tuple(value) if isinstance(value, list) else value
        yield attribute.name, TypedValue(AttributeProto.AttributeType.Name(attribute.type), plain)
