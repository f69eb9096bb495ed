"""A case as a directory in ONNX's own test layout, there and back.

Apart from what is done with such directories: a corpus is many of them with a manifest, a bundle is one with what a runtime made of it.

``model.onnx``, ``test_data_set_0/input_0.pb`` and ``output_0.pb`` are ONNX's, and so is ``data.json`` with the tolerance. Beside them stand
``model_opset21.onnx``, for the last opset where the version is in force, and ``readings/NAME/output_0.pb``, the answers of other readings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import onnx
from onnx import AttributeProto, helper

from cypool import spec
from cypool.conformance import models, protos
from cypool.conformance.case import Case, TypedValue
from cypool.conformance.compare import tolerance
from cypool.conformance.tensors import Tensor

MODEL = "model.onnx"
DATA = "test_data_set_0"


def directory_name(id: str) -> str:
    """The name of a case's directory: as ONNX's runner wants names to begin, and without slashes.

    >>> directory_name("GlobalLpPool-22/bfloat16/rank4/p3/mixed-signs")
    'test_GlobalLpPool-22__bfloat16__rank4__p3__mixed-signs'
    """
    return "test_" + id.replace("/", "__")


def model_files(case: Case) -> dict[str, int]:
    """The files that hold the case's model, each with its opset: the version's first, and its last where it has one and that is another."""
    first, last = case.version.since_version, case.version.until_version
    return {MODEL: first} | ({} if last in (None, first) else {f"model_opset{last}.onnx": last})


def files(case: Case) -> dict[str, bytes]:
    """A case's directory: what each file holds, by its path."""
    found = {name: models.model(case, opset).SerializeToString(deterministic=True) for name, opset in model_files(case).items()}
    found |= _tensors(f"{DATA}/input", case.inputs)
    if case.fault is None:
        found |= _tensors(f"{DATA}/output", case.expected)
        for reading, outputs in case.readings.items():
            found |= _tensors(f"readings/{reading}/output", outputs)
        found["data.json"] = json.dumps(case_tolerance(case)).encode() + b"\n"
    return found


def _tensors(stem: str, tensors: tuple[Tensor, ...]) -> dict[str, bytes]:
    return {f"{stem}_{i}.pb": protos.to_bytes(tensor) for i, tensor in enumerate(tensors)}


def case_tolerance(case: Case) -> dict[str, float]:
    """``rtol`` and ``atol`` for all outputs: those of the strictest."""
    rtols, atols = zip(*(tolerance(output.array) for output in case.expected), strict=True)
    return {"rtol": min(rtols), "atol": min(atols)}


def describe(case: Case) -> dict[str, Any]:
    """What a manifest says of a case, beside what its directory holds: plain data, for JSON."""
    version = case.version
    facts = {
        "id": case.id,
        "operator": version.op,
        "version": version.since_version,
        "opset": version.since_version,
        "models": model_files(case),
        "type": case.type,
        "inputs": [tensor.name for tensor in case.inputs],
        "outputs": [operand.name for operand in version.outputs],
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
    """The case that ``describe`` and ``files`` were made from; ``read`` gives what a file of its directory holds, by its path.

    Answers are read when they are asked for. KeyError where a fact is missing, ValueError where a file is not what it should be, and what
    ``read`` raises.
    """

    def answer(reading: str | None) -> tuple[Tensor, ...]:
        where = DATA if reading is None else f"readings/{reading}"
        return tuple(protos.from_bytes(read(f"{where}/output_{i}.pb"), name) for i, name in enumerate(facts["outputs"]))

    fault = facts.get("fault")
    return Case(
        facts["id"],
        spec.version(f"{facts['operator']}-{facts['version']}"),
        facts["type"],
        tuple(protos.from_bytes(read(f"{DATA}/input_{i}.pb"), name) for i, name in enumerate(facts["inputs"])),
        tuple(_attributes(onnx.load_model_from_string(read(MODEL)))),
        frozenset(facts["tags"]),
        tuple(facts["ruling"]),
        () if fault else tuple(reading["name"] for reading in facts["readings"]),
        fault,
        None if fault else answer,
    )


def _attributes(model: onnx.ModelProto) -> Iterator[tuple[str, TypedValue]]:
    for attribute in model.graph.node[0].attribute:
        value = helper.get_attribute_value(attribute)
        plain = value.decode() if isinstance(value, bytes) else tuple(value) if isinstance(value, list) else value
        yield attribute.name, TypedValue(AttributeProto.AttributeType.Name(attribute.type), plain)
