"""Adapters of ONNX's reference evaluator that are right, or wrong in one way each: what
``cypool smoke`` is tried on.

A package would register them in the entry-point group ``cypool.runtimes``; ``connect`` is given the
name.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Sequence

import numpy as np
import onnx

from cypool.conformance.asking.protocol import Description
from cypool.conformance.asking.runtimes.base import Run, Unsupported
from cypool.conformance.asking.runtimes.reference import Reference
from cypool.conformance.tensors import Tensor


class Sound(Reference):
    def describe(self) -> Description:
        return Description("sound", "1.0")

    def load(self, model: bytes) -> Run:
        run = super().load(model)
        return lambda inputs, outputs: self.after(run(self.before(inputs), self.wanted(outputs)))

    def load_unoptimized(self, model: bytes) -> Run:
        return self.load(model)

    def before(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        return inputs

    def wanted(self, outputs: Sequence[str]) -> Sequence[str]:
        return outputs

    def after(self, outputs: Sequence[Tensor]) -> Sequence[Tensor]:
        return outputs


class Nameless(Sound):
    def describe(self) -> Description:
        return Description("nameless", "")


class HalvesAlike(Sound):
    """As where numpy's views of both are called float16."""

    def after(self, outputs: Sequence[Tensor]) -> Sequence[Tensor]:
        return [dataclasses.replace(output, type=output.type.replace("bfloat16", "float16")) for output in outputs]


class ThroughFloat(Sound):
    """Doubles lose their tail, and what is smaller than a float goes to 0."""

    def before(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        return [self.narrow(tensor) if tensor.type == "double" else tensor for tensor in inputs]

    def narrow(self, tensor: Tensor) -> Tensor:
        return Tensor.of(tensor.name, tensor.array.astype(np.float32).astype(np.float64))


class NoScalars(Sound):
    def before(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        return [dataclasses.replace(tensor, shape=tensor.shape or (1,)) for tensor in inputs]


class ByName(Sound):
    """Feeds the inputs in the order of their names."""

    def before(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        names = sorted(tensor.name for tensor in inputs)
        return [dataclasses.replace(tensor, name=name) for name, tensor in zip(names, inputs, strict=True)]


class Shuffles(Sound):
    def wanted(self, outputs: Sequence[str]) -> Sequence[str]:
        return sorted(outputs, reverse=True)


class AllOutputs(Sound):
    def load(self, model: bytes) -> Run:
        every = [output.name for output in onnx.load_model_from_string(model).graph.output]
        run = super().load(model)
        return lambda inputs, outputs: run(inputs, every)


class Remembers(Sound):
    """Keeps loaded models by the names of their inputs."""

    def __init__(self) -> None:
        self.loaded: dict[tuple[str, ...], Sequence[Tensor]] = {}

    def load(self, model: bytes) -> Run:
        run = super().load(model)

        def remembered(inputs: Sequence[Tensor], outputs: Sequence[str]) -> Sequence[Tensor]:
            return self.loaded.setdefault((*(tensor.name for tensor in inputs), *outputs), run(inputs, outputs))

        return remembered


class LoadsLate(Sound):
    def load(self, model: bytes) -> Run:
        return lambda inputs, outputs: Reference().load(model)(inputs, outputs)


class Guesses(Sound):
    """Takes whatever goes wrong for a claim."""

    def load(self, model: bytes) -> Run:
        try:
            return super().load(model)
        except Exception as error:
            raise Unsupported(str(error)) from error


class AcceptsAll(Sound):
    def load(self, model: bytes) -> Run:
        try:
            return super().load(model)
        except Exception:
            return lambda inputs, outputs: [dataclasses.replace(inputs[0], name=name) for name in outputs]


class SmallOnly(Sound):
    def before(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        return [dataclasses.replace(tensor, data=tensor.data[: 1 << 16].ljust(len(tensor.data), b"\0")) for tensor in inputs]


class NoSwitch(Sound):
    def load_unoptimized(self, model: bytes) -> Run:
        raise NotImplementedError


class HasNothing(Sound):
    def load(self, model: bytes) -> Run:
        onnx.load_model_from_string(model)
        raise Unsupported("not even that")


class LivesOn(Sound):
    def __init__(self) -> None:
        if os.fork() == 0:
            return
        time.sleep(60)
        sys.exit()


def connect(name: str) -> Sound:
    return globals()[name]()
