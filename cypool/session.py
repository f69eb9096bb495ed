"""Run a whole ONNX model: cypool's operators by its kernels, any other node by ONNX's reference
evaluator.

A model also states its inputs' names, types and shapes, and what is fed is held to them here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

from cypool.declared import Declared, NodeArg
from cypool.errors import SpecTypeError, SpecValueError
from cypool.loading import Source, load, name_of
from cypool.reference import NodeError, ReferenceEvaluator

PROVIDERS = "CypoolExecutionProvider", "CPUExecutionProvider"
"""What of ONNX Runtime's providers this stands for."""


class InferenceSession:
    """A loaded model, with the methods of ONNX Runtime's class of that name.

    Parameters
    ----------
    path_or_bytes:
        The path of a file, a model's serialised bytes, or a ModelProto.
    sess_options, provider_options:
        Ignored.
    providers:
        Names of ONNX Runtime's execution providers, by preference, or None. Those that are not of
        the CPU are passed over, as ONNX Runtime does where they are not available;
        "CPUExecutionProvider" or "CypoolExecutionProvider" has to be one.

    Raises
    ------
    cypool.SpecError
        It is no model; or a node does not fit the operator version that the model's opset means.
    NotImplementedError
        A node is of an operator that neither cypool nor ONNX's reference evaluator implements.
    RuntimeError
        A node of another operator than cypool's does not fit it.
    OSError
        The file can't be read.

    Examples
    --------
    >>> import numpy as np, onnx
    >>> model = onnx.parser.parse_model('''
    ...     <ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 1, 2] x) => (float[N, 1, 1] y) { y = GlobalLpPool (x) }''')
    >>> session = InferenceSession(model)
    >>> session.run(None, {"x": np.array([[[3, 4]]], np.float32)})
    [array([[[5.]]], dtype=float32)]
    >>> session.get_inputs()
    [NodeArg(name='x', type='tensor(float)', shape=['N', 1, 2])]
    """

    def __init__(
        self,
        path_or_bytes: Source,
        sess_options: Any = None,
        providers: Sequence[str | tuple[str, Mapping[str, Any]]] | None = None,
        provider_options: Any = None,
    ) -> None:
        """Load the model."""
        names = [provider if isinstance(provider, str) else provider[0] for provider in providers or PROVIDERS]
        if not set(names) & set(PROVIDERS):
            raise SpecValueError(f"providers are {', '.join(names)}, expected {' or '.join(PROVIDERS)} among them")
        self._name = name_of(path_or_bytes)
        loaded = load(path_or_bytes)
        self._declared = Declared(loaded)
        try:
            self._evaluator = ReferenceEvaluator(loaded)
        except NotImplementedError as error:
            raise NotImplementedError(f"{self._name}: {error}") from None
        except NodeError as error:
            raise NodeError(f"{self._name}: {error}") from error.__cause__

    def get_inputs(self) -> list[NodeArg]:
        """Return what must be fed, in the model's order."""
        return [given.argument for given in self._declared.required]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Return what may be fed and has a value in the model; there are none before IR
        version 4.
        """
        return [given.argument for given in self._declared.defaults]

    def get_outputs(self) -> list[NodeArg]:
        """Return what the model gives, in its order."""
        return list(self._declared.outputs)

    def get_providers(self) -> list[str]:
        """Return what runs the nodes, in ONNX Runtime's words: cypool's kernels, and the reference
        evaluator on the CPU.
        """
        return list(PROVIDERS)

    @overload
    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None) -> list[Any]: ...

    @overload
    def run(self, output_names: Mapping[str, Any]) -> dict[str, Any]: ...

    def run(self, output_names: Any, input_feed: Mapping[str, Any] | None = None, run_options: Any = None) -> list[Any] | dict[str, Any]:
        """Run the model.

        Parameters
        ----------
        output_names:
            The outputs that are wanted; None for all. With the feed in this place and nothing else,
            all outputs are given by name.
        input_feed:
            Arrays by input name: numpy's, or what numpy can view or make an array of; lists of them
            for sequences, None for an optional.
        run_options:
            Ignored.

        Raises
        ------
        cypool.SpecError
            The feed is not what the model declares; or a node does not fit its operator version.
        NotImplementedError, RuntimeError
            A node of another operator than cypool's could not be run.
        """
        if input_feed is None:
            if not isinstance(output_names, Mapping):
                raise SpecTypeError(f"the feed is a {type(input_feed).__name__}, expected arrays by input name")
            names = [output.name for output in self._declared.outputs]
            return dict(zip(names, self._run(names, output_names), strict=True))
        if not isinstance(input_feed, Mapping):
            raise SpecTypeError(f"the feed is a {type(input_feed).__name__}, expected arrays by input name")
        known = [output.name for output in self._declared.outputs]
        for name in output_names or ():
            if name not in known:
                raise SpecValueError(f"the model has no output {name}, expected {', '.join(known)}")
        return self._run(list(output_names or known), input_feed)

    def _run(self, output_names: list[str], feed: Mapping[str, Any]) -> list[Any]:
        checked = self._declared.feed(feed)
        try:
            return list(self._evaluator.run(output_names, checked))
        except NodeError as error:
            raise NodeError(f"{self._name}: {error}") from error.__cause__

    def __repr__(self) -> str:
        """Tell the model's inputs and outputs."""
        return f"<{type(self).__name__} of {self._name}: {_text(self.get_inputs())} -> {_text(self._declared.outputs)}>"


Session = InferenceSession
"""The class's first name."""


def _text(arguments: Sequence[NodeArg]) -> str:
    shapes = ("[" + ", ".join("?" if size is None else str(size) for size in argument.shape) + "]" for argument in arguments)
    return ", ".join(f"{argument.name}: {argument.type}{shape}" for argument, shape in zip(arguments, shapes, strict=True)) or "nothing"
