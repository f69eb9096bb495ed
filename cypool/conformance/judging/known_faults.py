"""Try known faults as explanations of a wrong value.

Faults that the case was not built to show are tried too, several at once, and together with a
reading that the text allows of a silence that the case turns on. They do not change a verdict: they
are computed for answers that are wrong already. A case's own readings are shipped with it; these
come from the oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set

from cypool.conformance import oracle
from cypool.conformance.cases.case import Case
from cypool.conformance.tensors import Tensor
from cypool.spec.model import Version


def answers(case: Case) -> Iterator[tuple[tuple[str, ...], tuple[Tensor, ...]]]:
    """Yield the answers that faults give, alone and then several at once, with the names of the
    faults.
    """
    attributes = {name: typed.value for name, typed in case.attributes}
    inputs = case.arrays
    own = {reading.name for ruling in case.version.rulings if ruling.id in case.rulings for reading in ruling.readings}
    for names in suspects(case.version, own):
        if names not in [(alternative,) for alternative in case.alternatives]:
            yield names, case.tensors(oracle.evaluate(case.version, inputs, attributes, oracle.JOIN.join(names)))


def explaining(case: Case, fits: Callable[[tuple[Tensor, ...]], bool]) -> list[tuple[str, ...]]:
    """Return the faults whose answer fits, all of the fewest at once that explain it: each alone,
    or else each pair, and so on.
    """
    found: list[tuple[str, ...]] = []
    for names, answer in answers(case):
        if found and len(names) > len(found[0]):
            break
        if fits(answer):
            found.append(names)
    return found


def suspects(version: Version, also: Set[str] = frozenset()) -> Iterator[tuple[str, ...]]:
    """Yield the faults of a version that can be computed, alone and then together; ``also`` may be
    among them.
    """
    faults = {reading.name for ruling in version.rulings for reading in ruling.readings if not reading.legitimate}
    single = [name for names in oracle.computable(version).values() for name in names]
    for names in (*((name,) for name in single), *(tuple(name.split(oracle.JOIN)) for name in oracle.combined(version))):
        if (faults | also).issuperset(names):
            yield names


def rulings(version: Version, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the ruling of each named reading."""
    owners = {reading.name: ruling.id for ruling in version.rulings for reading in ruling.readings}
    return {owners[name]: (name,) for name in names}
