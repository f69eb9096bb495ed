"""Read models, and refuse other bytes, before anything looks for operators in them.

ONNX's evaluator relies on it: on a graph whose values are all given, on data inside, and on the
default domain by its empty name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, cast

import onnx
from google.protobuf.message import DecodeError
from onnx.external_data_helper import uses_external_data

from cypool.errors import SpecTypeError, SpecValueError

OLDEST = 1, 19
"""The first onnx with arrays of bfloat16; before it, those are of three other types, depending on
where they come from.
"""

if tuple(map(int, onnx.__version__.split(".")[:2])) < OLDEST:
    raise ImportError(f"cypool runs models with onnx {'.'.join(map(str, OLDEST))} or newer, and {onnx.__version__} is installed")

Source = onnx.ModelProto | bytes | str | os.PathLike[str]
"""What a model can be given as."""

Proto = TypeVar("Proto", bound=onnx.ModelProto | onnx.GraphProto | onnx.FunctionProto | onnx.NodeProto)

SPELLED_OUT = "ai.onnx"
"""The other name of the default domain."""


def name_of(source: Source) -> str:
    """Name a model in a message: by its file, if it has one."""
    return os.fspath(source) if isinstance(source, str | os.PathLike) else "the model"


def load(source: Source) -> onnx.ModelProto:
    """Read a model from a file, from bytes, or take a ModelProto as it is, and see that it has what
    a model needs to run.

    Raises
    ------
    cypool.SpecValueError
        It is no ONNX model, or an empty one; its data are elsewhere; a node or an output has the
        name of no value.
    cypool.SpecTypeError
        It is none of the three.
    OSError
        The file can't be read.

    Examples
    --------
    >>> load(b"")
    Traceback (most recent call last):
    cypool.errors.SpecValueError: the model is empty: it has no graph
    """
    name = name_of(source)
    model = _read(source, name)
    if not model.HasField("graph"):
        raise SpecValueError(f"{name} is empty: it has no graph")
    if not model.graph.output:
        raise SpecValueError(f"{name} is empty: its graph has no outputs")
    for tensor in model.graph.initializer:
        if uses_external_data(tensor):
            raise SpecValueError(
                f"{name}: the data of {tensor.name} are in another file; expected the model's path, by which they are found"
            )
    if model.graph.sparse_initializer:
        raise NotImplementedError(f"{name}: {model.graph.sparse_initializer[0].values.name} is a sparse initializer")
    _check_names(model.graph, frozenset(), name)
    return model


def _read(source: Source, name: str) -> onnx.ModelProto:
    if isinstance(source, onnx.ModelProto):
        return source
    try:
        if isinstance(source, str | os.PathLike):
            return onnx.load(source)
        if isinstance(source, bytes | bytearray | memoryview):
            return onnx.load_model_from_string(bytes(source))
    except DecodeError:
        raise SpecValueError(f"{name} is no ONNX model") from None
    except OSError:
        raise
    except Exception as error:  # of a parser of text or JSON, by the file's ending, or of external data
        raise SpecValueError(f"{name} is no ONNX model: {first_line(error)}") from None
    raise SpecTypeError(f"the model is a {type(source).__name__}, expected a path, bytes or a ModelProto")


def first_line(error: BaseException) -> str:
    """Return what an error says, without the pages that may follow."""
    return str(error).strip().partition("\n")[0]


def _check_names(graph: onnx.GraphProto, outside: frozenset[str], name: str) -> None:
    """Refuse a node or an output with a value that nothing before it gives."""
    known = {"", *outside, *(info.name for info in graph.input), *(tensor.name for tensor in graph.initializer)}
    for node in graph.node:
        for value in node.input:
            if value not in known:
                raise SpecValueError(f"{name}: {place(node)} reads {value}, which nothing before it gives")
        for inner in _graphs(node):
            _check_names(inner, frozenset(known), name)
        known.update(node.output)
    for info in graph.output:
        if info.name not in known:
            raise SpecValueError(f"{name}: the output {info.name} is given by no node")


def place(node: onnx.NodeProto) -> str:
    """Name a node in a message: by its name, or by its first output.

    >>> place(onnx.helper.make_node("Foo", ["x"], ["y"], domain="mine"))
    'node of y (mine.Foo)'
    """
    operator = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    return f"node {node.name or 'of ' + ', '.join(filter(None, node.output))} ({operator})"


def nodes_of(proto: Proto) -> Iterator[onnx.NodeProto]:
    """Walk over all nodes, those of branches, loops and functions too."""
    if isinstance(proto, onnx.NodeProto):
        nodes: Iterable[onnx.NodeProto] = [proto]
    elif isinstance(proto, onnx.ModelProto):
        nodes = [*proto.graph.node, *(node for function in proto.functions for node in function.node)]
    else:
        nodes = proto.node
    for node in nodes:
        yield node
        for graph in _graphs(node):
            yield from nodes_of(graph)


def _graphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def canonical(proto: Proto) -> Proto:
    """Return the proto with the default domain by its empty name everywhere; itself where it has no
    other.

    >>> model = onnx.parser.parse_model('''
    ...     <ir_version: 8, opset_import: ["ai.onnx" : 18]>
    ...     g (float[2] x) => (float[2] y) { y = ai.onnx.Neg (x) }''')
    >>> canonical(model).opset_import[0].domain, canonical(model).graph.node[0].domain
    ('', '')
    """
    if not any(part.domain == SPELLED_OUT for part in _with_domain(proto)):
        return proto
    copy: Any = type(proto)()
    copy.CopyFrom(proto)
    for part in _with_domain(copy):
        if part.domain == SPELLED_OUT:
            part.domain = ""
    for imports in _imports(copy):
        versions = {entry.version for entry in imports if not entry.domain}
        if len(versions) > 1:
            raise SpecValueError(f"the model imports opsets {' and '.join(map(str, sorted(versions)))} of one domain, the default one")
    return cast(Proto, copy)


def _with_domain(proto: Proto) -> Iterator[Any]:
    yield from nodes_of(proto)
    for imports in _imports(proto):
        yield from imports
    if isinstance(proto, onnx.ModelProto):
        yield from proto.functions


def _imports(proto: Proto) -> Iterator[Any]:
    if isinstance(proto, onnx.ModelProto):
        yield proto.opset_import
        for function in proto.functions:
            yield function.opset_import
    elif isinstance(proto, onnx.FunctionProto):
        yield proto.opset_import
