"""Names of operators and versions on the command line, looked up with a suggestion.

It loads the spec alone: ``cypool spec`` needs neither onnx nor the oracle.
"""

from __future__ import annotations

import click

from cypool import spec
from cypool.cli.suggestions import did_you_mean
from cypool.errors import SpecError
from cypool.spec.model import Operator, Version


def known_operator(name: str) -> Operator:
    """Return the operator of that name; UsageError, with a suggestion, where there is none."""
    try:
        return spec.operator(name)
    except SpecError as error:
        raise click.UsageError(f"{error}{did_you_mean(name, spec.operators())}") from None


def known_version(name: str) -> Version:
    """Return the version of that name, or the newest of an operator; UsageError, with a suggestion,
    where there is none.
    """
    try:
        return spec.operator(name).versions[-1] if name in spec.operators() else spec.version(name)
    except SpecError as error:
        known = (*spec.operators(), *(version.name for version in spec.versions()))
        raise click.UsageError(f"{error}{did_you_mean(name, known)}") from None
