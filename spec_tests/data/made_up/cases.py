"""What the made-up GlobalMinPool's cases try."""

import numpy as np

from cypool.conformance.cases.values import values

TOGETHER = ()
CORE = ()
SPARING = {}
PLAIN = {"shape": "row", "values": "random"}
WITH_OPTIONAL = {}
FAULTS = {"X": "nan-min"}
FAULTS_ONCE = True
COLUMNS = {}
SHAPES = {"row": (1, 2, 5), "image": (2, 3, 4, 5)}


def factors(version):
    """Shape and values."""
    return {"shape": tuple(SHAPES), "values": ("random", "nan")}


def attributes(version, choice):
    """There are none."""
    return {}


def constraints(version):
    """All go together."""
    return []


def inputs(choice, attributes, dtype, draws):
    """X."""
    return (values(choice["values"], draws, SHAPES[choice["shape"]], dtype),)


def rulings(version, choice, arrays, attributes):
    """The silence that the case turns on."""
    return ["nan-min"] if np.isnan(arrays[0]).any() else []
