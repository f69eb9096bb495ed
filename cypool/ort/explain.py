"""Tell which node of a model runs where: in ONNX Runtime alone, and with cypool in it.

No table of operators is used: ONNX Runtime is asked, by sessions of the model that differ in one
thing each.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import onnx
import onnxruntime as ort  # type: ignore[import-untyped]

from cypool import spec
from cypool.errors import SpecValueError
from cypool.ort import NAME, options

CPU = "CPUExecutionProvider"
ASSIGNMENTS = "session.record_ep_graph_assignment_info"
FOLDER = "session.model_external_initializers_file_folder_path"
OPTIMIZERS = "optimization.disable_specified_optimizers"
FOLDING = "ConstantFolding"
SILENT = 4

ONNX_RUNTIME, CYPOOL, NOBODY, GONE = "ONNX Runtime", "cypool", "nobody", "-"


class Placement(NamedTuple):
    """The place where a node runs, in ONNX Runtime alone and with cypool, and the reason."""

    node: str
    op: str
    alone: str
    together: str
    why: str


def explain(path: str | os.PathLike[str]) -> list[Placement]:
    """Return where the nodes of a model run, those of branches, loops and functions among them.

    SpecValueError where ONNX Runtime refuses the model even with cypool; the message is its own.
    """
    try:
        model = onnx.load(os.fspath(path), load_external_data=False)
    except OSError:
        raise
    except Exception as error:
        raise SpecValueError(f"{os.fspath(path)} is no ONNX model: {error}") from None
    taken: set[str] = set()
    named = dict(_name(model.graph.node, taken))
    for function in model.functions:
        list(_name(function.node, taken))  # ONNX Runtime puts these in the place of each call
    folder = str(Path(path).resolve().parent)
    first = _assigned(model, folder)
    missing = _assigned(model, folder, only_missing=True)
    unfolded = _assigned(model, folder, without=FOLDING)
    every = [*named, *(name for name in first if name not in named)]
    return [_placement(name, named.get(name) or first[name][0], first, missing, unfolded) for name in every]


def _placement(name: str, op: str, *places: dict[str, tuple[str, str]]) -> Placement:
    """Say where a node runs, by where it is in three sessions: cypool first, ONNX Runtime first,
    without folding.
    """
    first, missing, unfolded = (place.get(name, ("", ""))[1] for place in places)
    if first == NAME and missing == NAME:
        return Placement(name, op, NOBODY, CYPOOL, "ONNX Runtime lacks this version or type")
    if first == NAME:
        return Placement(name, op, ONNX_RUNTIME, CYPOOL, "both have it; cypool is first")
    if first:
        known = op in spec.operators()
        why = "cypool lacks this version or type" if known else "no operator of cypool"
        return Placement(name, op, ONNX_RUNTIME, ONNX_RUNTIME, why)
    if unfolded:
        return Placement(name, op, ONNX_RUNTIME, ONNX_RUNTIME, "its inputs are constants: computed when the session is made")
    return Placement(name, op, GONE, GONE, "removed, fused or inlined")


def _name(nodes: Iterable[onnx.NodeProto], taken: set[str]) -> Iterator[tuple[str, str]]:
    """Give each node a name of its own, where it has none; yield names and operators."""
    for node in nodes:
        name, number = node.name or node.op_type, 1
        while not node.name or node.name in taken:
            node.name = name if name not in taken else f"{name}#{(number := number + 1)}"
        taken.add(node.name)
        yield node.name, node.op_type
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from _name(inner.node, taken)


def _assigned(model: onnx.ModelProto, folder: str, *, only_missing: bool = False, without: str = "") -> dict[str, tuple[str, str]]:
    """Return operator and provider of each node that is in the session, by name."""
    settings: Any = ort.SessionOptions()
    settings.log_severity_level = SILENT
    entries = {ASSIGNMENTS: "1", FOLDER: folder, **({OPTIMIZERS: without} if without else {})}
    for key, value in entries.items():
        settings.add_session_config_entry(key, value)
    try:
        session = ort.InferenceSession(model.SerializeToString(), options(settings, only_missing=only_missing))
    except Exception as error:
        raise SpecValueError(f"ONNX Runtime does not take the model: {error}") from None
    found: dict[str, tuple[str, str]] = {}
    seen: Counter[str] = Counter()  # a node of a function is there once for each call
    for part in session.get_provider_graph_assignment_info():
        for node in part.get_nodes():
            seen[node.name] += 1
            found[node.name if seen[node.name] == 1 else f"{node.name} ({seen[node.name]})"] = node.op_type, part.ep_name
    return found
