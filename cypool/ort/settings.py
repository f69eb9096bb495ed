"""The options of the execution provider: what they are, how a session hands them on, and what is
wrong with them.

One check serves both ways to pass options: ``cypool.ort.options``, where a mistake is an exception
at once, and ONNX Runtime's own, where it is one when the session is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cypool import spec
from cypool.errors import SpecTypeError, SpecValueError

PROVIDER = "CypoolExecutionProvider"

PREFIX = f"ep.{PROVIDER.lower()}."
"""What the names of the options start with among the configuration entries of a session."""

NAMES = ("ops", "threads")


def written(ops: Iterable[str] | None, threads: int) -> dict[str, str]:
    """Return options as ONNX Runtime takes them, strings by name; SpecValueError or SpecTypeError
    for what they can't be.
    """
    if isinstance(ops, str):
        raise SpecTypeError(f"ops is {ops!r}, expected several names of operators, such as [{ops!r}]")
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise SpecTypeError(f"threads is {threads!r}, expected an integer >= 1")
    found = {"threads": str(threads)}
    if ops is not None:
        names = list(ops)
        if not all(isinstance(name, str) for name in names):
            raise SpecTypeError(f"ops is {names!r}, expected names of operators")
        found["ops"] = ",".join(names)
    read(found)
    return found


def read(options: Mapping[str, str]) -> tuple[frozenset[str] | None, int]:
    """Return the operators to take, None for all, and the number of threads."""
    for name in options:
        if name not in NAMES:
            raise SpecValueError(f"{PROVIDER} has no option {name!r}; there are {', '.join(NAMES)}")
    threads = options.get("threads", "1")
    if not (threads.isascii() and threads.isdecimal()) or int(threads) < 1:
        raise SpecValueError(f"{PROVIDER}: threads is {threads!r}, expected an integer >= 1")
    if "ops" not in options:
        return None, int(threads)
    ops = frozenset(name.strip() for name in options["ops"].split(",") if name.strip())
    for name in ops:
        spec.operator(name)
    return ops, int(threads)
