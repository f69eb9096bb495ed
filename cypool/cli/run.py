"""``cypool run``: a model on files of arrays."""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import click
import ml_dtypes
import numpy as np
import onnx
from google.protobuf.message import DecodeError

from cypool.cli import codes, engines
from cypool.cli.output import not_written
from cypool.declared import Declared
from cypool.errors import SpecError
from cypool.loading import first_line, load

ACCEPTED = "a .npy file, or a TensorProto in a .pb file"
MAGIC = b"\x93NUMPY"


class Failure(click.ClickException):
    """A model or an input that doesn't fit."""

    exit_code = codes.WRONG_USAGE


EXIT = codes.told(
    "all outputs are written",
    {
        codes.WRONG_USAGE: "wrong usage, a model or an input that doesn't fit",
        codes.UNAVAILABLE: "no ONNX Runtime that runs the model, though --session asks for it",
    },
)


def _feeds(values: Iterable[str]) -> dict[str, np.ndarray[Any, Any]]:
    """Read each NAME=FILE."""
    feeds: dict[str, np.ndarray[Any, Any]] = {}
    for value in values:
        name, equals, file = value.partition("=")
        if not equals:
            raise click.UsageError(f"--input {value}: expected NAME=FILE.npy or NAME=FILE.pb")
        if name in feeds:
            raise click.UsageError(f"--input {value}: {name} is given twice")
        try:
            feeds[name] = _read(Path(file))
        except OSError as error:
            raise click.UsageError(f"--input {value}: {error.strerror or error}") from None
        except Exception as error:  # onnx's readers raise many
            raise click.UsageError(f"--input {value}: {first_line(error)}") from None
    return feeds


def _read(path: Path) -> np.ndarray[Any, Any]:
    """Read an array from a file of numpy's, which tells itself, or of ONNX's, which only its name
    can tell.
    """
    with path.open("rb") as file:
        if file.read(len(MAGIC)) == MAGIC:
            file.seek(0)
            array: np.ndarray[Any, Any] = np.lib.format.read_array(file, allow_pickle=False)
            return array
    if path.suffix != ".pb":
        raise ValueError(f"expected {ACCEPTED}")
    proto = onnx.TensorProto()
    with contextlib.suppress(DecodeError):
        proto.ParseFromString(path.read_bytes())
    if proto.data_type == onnx.TensorProto.UNDEFINED:
        raise ValueError(f"no TensorProto; expected {ACCEPTED}")
    if proto.data_location == onnx.TensorProto.EXTERNAL:
        raise ValueError("a TensorProto whose data are in another file")
    return onnx.numpy_helper.to_array(proto)


def _named(array: np.ndarray[Any, Any], type: str | None) -> np.ndarray[Any, Any]:
    """Return an array of the model's bfloat16, which numpy's files hold as two-byte records without
    a name.
    """
    unnamed = array.dtype.kind == "V" and array.dtype.itemsize == 2 and array.dtype.names is None
    return array.view(ml_dtypes.bfloat16) if unnamed and type == "tensor(bfloat16)" else array


class Writer:
    """A file that numpy knows nothing of: where it writes by itself, its error doesn't say whether
    the disk is full.
    """

    def __init__(self, file: IO[bytes]) -> None:
        """Keep the file."""
        self.write = file.write


def _write_all(files: dict[Path, np.ndarray[Any, Any]]) -> None:
    """Write all files or none; they take their names once all are complete."""
    for path in files:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, f"{path.name} is a directory")
    temporaries = {path: path.with_name(f".{path.name}.{uuid.uuid4().hex}.part") for path in files}
    try:
        for path, array in files.items():
            with temporaries[path].open("xb") as file:
                np.save(Writer(file), array.astype(str) if array.dtype == object else array, allow_pickle=False)
        for path, temporary in temporaries.items():
            temporary.replace(path)
    finally:
        for temporary in temporaries.values():
            with contextlib.suppress(OSError):
                temporary.unlink()


class Missing(click.ClickException):
    """There is no ONNX Runtime that runs the model, and it was asked for by name."""

    exit_code = codes.UNAVAILABLE


def _run(model: Path, feeds: dict[str, np.ndarray[Any, Any]], within: str | None) -> tuple[str, dict[str, Any]]:
    """Return what ran the model, and its outputs by name."""
    path = str(model)
    declared = Declared(load(path))
    types = {each.argument.name: each.argument.type for each in declared.inputs}
    feed = declared.feed({name: _named(array, types.get(name)) for name, array in feeds.items()})
    names = [output.name for output in declared.outputs]
    reason = ""
    if within != engines.CYPOOL:
        try:
            title, runner = engines.onnx_runtime(path, declared)
            return title, dict(zip(names, runner(feed), strict=True))
        except engines.Unable as error:
            if within == engines.ONNX_RUNTIME:
                raise Missing(str(error)) from None
            reason = f" ({error})"
    title, runner = engines.session(path, declared)
    return f"{title}{reason}", dict(zip(names, runner(feed), strict=True))


@click.command(epilog=EXIT)
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=FILE", help="An input of the model, .npy or a TensorProto in .pb; repeat for each."
)
@click.option(
    "--output-dir",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="Where NAME.npy is written for each output.",
)
@click.option(
    "--session",
    "within",
    type=click.Choice(engines.NAMES),
    help="What runs the nodes that are not of cypool's operators; default: ONNX Runtime, if it is installed and takes the model.",
)
def command(model: Path, inputs: Sequence[str], output_dir: Path, within: str | None) -> None:
    """Run MODEL on arrays: cypool's operators by its kernels, other nodes by ONNX Runtime or by
    ONNX's reference evaluator.

    All outputs are written, or none. The last line says what ran the model.
    """
    feeds = _feeds(inputs)
    try:
        title, outputs = _run(model, feeds, within)
    except (SpecError, NotImplementedError, RuntimeError) as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(f"{model}: {error.strerror or error}") from None
    files = {}
    for name, array in outputs.items():
        if not isinstance(array, np.ndarray):
            raise Failure(f"output {name} is no tensor, and only tensors can be written")
        files[output_dir / f"{name.replace(os.sep, '_')}.npy"] = array
    if len(files) < len(outputs):
        raise Failure(f"two outputs would be one file: {', '.join(outputs)}")
    try:
        output_dir.mkdir(parents=True, exist_ok=True)
        _write_all(files)
    except OSError as error:
        raise not_written(output_dir, error) from None
    for path, array in files.items():
        click.echo(f"{path}: {array.dtype.name}{list(array.shape)}")
    click.echo(f"run by {title}")
