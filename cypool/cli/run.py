"""``cypool run``: a model on files of arrays."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from google.protobuf.message import DecodeError

from cypool.errors import SpecError
from cypool.session import Session


def _read(value: str) -> tuple[str, np.ndarray[Any, Any]]:
    """NAME=FILE.npy as name and array."""
    name, equals, file = value.partition("=")
    if not equals:
        raise click.UsageError(f"--input {value}: expected NAME=FILE.npy")
    try:
        return name, np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise click.UsageError(f"--input {value}: {error}") from None


def _write(path: Path, array: np.ndarray[Any, Any]) -> None:
    """The whole file or none: it takes its name once it is complete."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, array)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _typed(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """numpy's files hold bfloat16 as two-byte records without a name; where the model says bfloat16, that is what they are."""
    return array.view(dtype) if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize else array


@click.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="An input of the model; repeat for each.")
@click.option(
    "--output-dir",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="Where NAME.npy is written for each output.",
)
def command(model: Path, inputs: Sequence[str], output_dir: Path) -> None:
    """Run MODEL on arrays: cypool's operators by its kernels, other nodes by ONNX's reference evaluator."""
    feeds = dict(map(_read, inputs))
    try:
        session = Session(model)
        types = {declared.name: declared.dtype for declared in session.inputs}
        outputs = session.run({name: _typed(array, types.get(name, array.dtype)) for name, array in feeds.items()})
    except DecodeError:
        raise click.ClickException(f"{model} is no ONNX model") from None
    except (SpecError, NotImplementedError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    try:
        output_dir.mkdir(parents=True, exist_ok=True)
        for name, array in outputs.items():
            path = output_dir / f"{name.replace('/', '_')}.npy"
            _write(path, array)
            click.echo(f"{path}: {array.dtype.name}{list(array.shape)}")
    except OSError as error:
        raise click.ClickException(f"{output_dir}: {error.strerror}") from None
