"""Whether an adapter, or a program that speaks the protocol, is right apart from the runtime behind
it.

Every runtime can do what is asked here, so that a wrong answer is the adapter's. Tensors go through
``Identity``; a runtime that has none but pools is asked for the 1-norm of single elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from cypool.conformance.asking.isolation import Isolated
from cypool.conformance.asking.pipes import Process
from cypool.conformance.asking.protocol import Outcome, encode, run_request
from cypool.conformance.tensors import DTYPES, Tensor

OK, WRONG, UNTOLD = "ok", "wrong", "untold"
FLOATS = ("float", "double", "float16", "bfloat16")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
MANY = 1 << 20


@dataclass(frozen=True, slots=True)
class Check:
    """A fact about an adapter, and whether it holds: ``ok``, ``wrong``, or ``untold`` where the
    runtime lacks what it takes to see.
    """

    fact: str
    verdict: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Carrier:
    """A way to send tensors through a runtime that gives them back as they were."""

    node: Callable[[str, str], onnx.NodeProto]
    opset: int
    types: tuple[str, ...]
    shaped: Callable[[tuple[int, ...]], bool]  # the shapes it can carry
    plain: bool  # only finite values, and none below zero

    def carries(self, tensors: Sequence[Tensor]) -> bool:
        """Tell whether it can carry these."""
        return all(
            tensor.type in self.types and self.shaped(tensor.shape) and not (self.plain and _is_special(tensor.array)) for tensor in tensors
        )

    def model(self, tensors: Sequence[Tensor]) -> bytes:
        """Return a model that gives each input, such as ``a``, back as an output, ``a_out``."""
        nodes = [self.node(tensor.name, f"{tensor.name}_out") for tensor in tensors]
        return _model(nodes, tensors, [Tensor(f"{tensor.name}_out", tensor.type, tensor.shape, b"") for tensor in tensors], self.opset)


CARRIERS = (
    Carrier(lambda x, y: helper.make_node("Identity", [x], [y]), 13, tuple(DTYPES), lambda shape: True, False),
    Carrier(lambda x, y: helper.make_node("GlobalLpPool", [x], [y], p=1), 2, FLOATS[:3], lambda shape: set(shape[2:]) == {1}, True),
    Carrier(lambda x, y: helper.make_node("GlobalLpPool", [x], [y], p=1), 22, FLOATS, lambda shape: set(shape[2:]) == {1}, True),
)


def _is_special(array: np.ndarray[Any, Any]) -> bool:
    return bool(not np.isfinite(array).all() or np.signbit(array).any())


def _model(nodes: Sequence[onnx.NodeProto], inputs: Sequence[Tensor], outputs: Sequence[Tensor], opset: int) -> bytes:
    ins, outs = (
        [helper.make_tensor_value_info(t.name, TensorProto.DataType.Value(t.type.upper()), t.shape) for t in tensors]
        for tensors in (inputs, outputs)
    )
    graph = helper.make_graph(list(nodes), "smoke", ins, outs)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7, producer_name="cypool")
    return made.SerializeToString(deterministic=True)


class Smoke:
    """The checks of one runtime, which has to be there already."""

    def __init__(self, runtime: Isolated) -> None:
        """Nothing is asked yet."""
        self.runtime = runtime
        self.came = False

    def checks(self) -> Iterator[Check]:
        """Yield each check, as it is done."""
        named = all((self.runtime.description.name, self.runtime.description.version))
        yield Check("it says its name and its version", OK if named else WRONG, "" if named else str(self.runtime.description))
        for type in (*FLOATS, *INTEGERS, "bool"):
            yield self._unchanged(f"{type} comes back unchanged", [_ordinary("a", type)])
        for type in FLOATS:
            yield self._unchanged(f"{type} keeps zeros, subnormals, infinities and NaN", [_special("a", type)])
        for shape in ((), (0, 3), (2, 1, 3, 1, 2, 1)):
            yield self._unchanged(f"shape {list(shape)} comes back", [_ordinary("a", "float", shape)])
        yield self._unchanged(f"{MANY * 4 >> 20} MiB come back", [_ordinary("a", "float", (1, MANY, 1))])
        yield self._inputs_in_order()
        two = [_ordinary("b", "float"), _ordinary("a", "float", (1, 2, 1))]
        yield self._unchanged("outputs come as they are asked for, not in the model's order", two, ("a_out", "b_out"))
        yield self._unchanged("an output that is not asked for does not come", two, ("a_out",))
        yield self._nothing_kept()
        yield self._unchanged("an id comes back, whatever is in it", [_ordinary("a", "float")], id='Ünï "\\/\u2028\t€ 1')
        if "optimize" in self.runtime.options:
            yield self._unchanged("it heeds the option it says it has", [_ordinary("a", "float")], options={"optimize": False})
        yield self._refuses("what is no model is an error while loading", b"this is no model")
        x = _ordinary("a", "float")
        unknown = _model([helper.make_node("NobodyHasThis", ["a"], ["b"])], [x], [Tensor("b", *_kind(x), b"")], 13)
        yield self._refuses("an operator that nobody has is unsupported, or an error while loading", unknown, may_lack=True)
        yield self._ends("it ends when it is told to stop", encode({"cmd": "stop"}))
        yield self._ends("it ends when its input ends", b"")
        yield Check("at least one tensor went through", *((OK,) if self.came else (WRONG, "it has neither Identity nor a pool")))

    def _unchanged(
        self,
        fact: str,
        tensors: Sequence[Tensor],
        wanted: Sequence[str] = (),
        id: str = "smoke",
        options: dict[str, bool] | None = None,
    ) -> Check:
        """Send tensors through whatever carries them."""
        expected = {f"{tensor.name}_out": tensor for tensor in tensors}
        names = wanted or tuple(expected)
        untold = Check(fact, UNTOLD, "nothing that the runtime may have can show it")
        for carrier in (carrier for carrier in CARRIERS if carrier.carries(tensors)):
            outcome = self.runtime.run(id, run_request(id, carrier.model(tensors), tensors, names, options or {}))
            self.came |= outcome.status == "ok"
            if outcome.status != "unsupported":
                return _told(fact, outcome, [Tensor(name, *_kind(expected[name]), expected[name].data) for name in names])
            untold = Check(fact, UNTOLD, outcome.message)
        return untold

    def _inputs_in_order(self) -> Check:
        """By a difference, or by a maximum over a region, whose two inputs are not alike."""
        fact = "inputs go in as the model orders them"
        b, a = (_tensor(name, "float", values) for name, values in (("b", [5, 7]), ("a", [1, 2])))
        x, rois = _tensor("b", "float", [1, 2, 3, 4], (1, 1, 2, 2)), _tensor("a", "float", [0, 1, 0, 1, 0], (1, 5))
        difference = _tensor("y", "float", [4, 5])
        largest = _tensor("y", "float", [2], (1, 1, 1, 1))
        pool = helper.make_node("MaxRoiPool", ["b", "a"], ["y"], pooled_shape=[1, 1])
        outcome = Outcome("unsupported")
        for node, inputs, expected, opset in (
            (helper.make_node("Sub", ["b", "a"], ["y"]), [b, a], difference, 13),
            (pool, [x, rois], largest, 1),
            (pool, [x, rois], largest, 22),
        ):
            outcome = self.runtime.run("smoke", run_request("smoke", _model([node], inputs, [expected], opset), inputs, ["y"]))
            if outcome.status != "unsupported":
                return _told(fact, outcome, [expected])
        return Check(fact, UNTOLD, outcome.message)

    def _nothing_kept(self) -> Check:
        """Other shapes and values in between change nothing."""
        fact = "nothing is kept from one case to the next"
        for tensor in (_ordinary("a", "float"), _ordinary("a", "float", (2, 2, 1)), _ordinary("c", "float"), _ordinary("a", "float")):
            found = self._unchanged(fact, [tensor])
            if found.verdict != OK:
                break
        return found

    def _refuses(self, fact: str, model: bytes, may_lack: bool = False) -> Check:
        """Ask for what can't be run; *unsupported*, where it may be, can come in either phase."""
        outcome = self.runtime.run("smoke", run_request("smoke", model, [_ordinary("a", "float")], ["b"]))
        if (outcome.status == "unsupported" and may_lack) or (outcome.status, outcome.phase) == ("error", "load"):
            return Check(fact, OK)
        return Check(fact, WRONG, _in_words(outcome))

    def _ends(self, fact: str, farewell: bytes) -> Check:
        process = Process(self.runtime.command)
        process.ask(encode({"cmd": "describe"}), 60)
        by_itself = process.close(farewell)
        return Check(fact, OK if by_itself else WRONG, "" if by_itself else "it had to be killed")


def _kind(tensor: Tensor) -> tuple[str, tuple[int, ...]]:
    return tensor.type, tensor.shape


def _tensor(name: str, type: str, values: Sequence[float], shape: tuple[int, ...] = (-1,)) -> Tensor:
    return Tensor.of(name, np.array(values).astype(DTYPES[type]).reshape(shape))


def _ordinary(name: str, type: str, shape: tuple[int, ...] = (2, 3, 1)) -> Tensor:
    """Return numbers that every type holds exactly, no two neighbours alike."""
    return _tensor(name, type, [n % 2 if type == "bool" else 1 + n % 100 for n in range(int(np.prod(shape)))], shape)


def _special(name: str, type: str) -> Tensor:
    dtype = DTYPES[type]
    smallest = np.array([1, 3], f"u{dtype.itemsize}").view(dtype)
    values = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.5]
    return Tensor.of(name, np.concatenate([np.array(values).astype(dtype), smallest, -smallest]).reshape(2, 5, 1))


def _told(fact: str, outcome: Outcome, expected: Sequence[Tensor]) -> Check:
    """Tell whether just these tensors came, bit by bit but for NaN."""
    if outcome.status != "ok":
        return Check(fact, WRONG, _in_words(outcome))
    came, wanted = ([(t.name, *_kind(t)) for t in tensors] for tensors in (outcome.outputs, expected))
    if came != wanted:
        return Check(fact, WRONG, f"{_listed(came)} came, expected {_listed(wanted)}")
    for got, right in zip(outcome.outputs, expected, strict=True):
        a, b = (np.where(array != array, np.nan, array).tobytes() for array in (got.array, right.array))
        if a != b:
            return Check(fact, WRONG, f"{got.name} is {_some(got)}, expected {_some(right)}")
    return Check(fact, OK)


def _in_words(outcome: Outcome) -> str:
    return " ".join(filter(None, (outcome.status, outcome.phase and f"({outcome.phase})", outcome.message))).strip()


def _listed(tensors: Sequence[tuple[str, str, tuple[int, ...]]]) -> str:
    return ", ".join(f"{name}: {type}{list(shape)}" for name, type, shape in tensors) or "nothing"


def _some(tensor: Tensor) -> str:
    elements = [str(element) for element in tensor.array.ravel()[:12]]
    return f"[{', '.join(elements)}{', …' * (tensor.array.size > 12)}]"
