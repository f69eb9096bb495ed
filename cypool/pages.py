"""The documentation of the operators, a Markdown page each, as a pure function of the spec data.

The worked examples are computed by the oracle. ``python -m cypool.pages`` writes the pages anew.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from cypool import spec, window_page
from cypool.conformance import oracle
from cypool.conformance.tensors import DTYPES
from cypool.spec.facts import differences, facts, opsets, value_in_words
from cypool.spec.model import Example, Operand, Operator, Ruling, Version
from cypool.spec.shapes import written

WINDOWS = "../windows.md"
"""The page on windows, from the folder of the operators' pages."""

PAGES = Path(__file__).parent.parent / "docs" / "operators"

_CODE = {"type", "shape", "allowed"}


def page(operator: Operator) -> str:
    """Return the Markdown page of an operator: versions newest first, rulings, worked examples."""
    newest = operator.versions[-1]
    rows = [(v.name, opsets(v), "; ".join(", ".join(f"`{name}`" for name in c.allowed) for c in v.types)) for v in operator.versions[::-1]]
    parts = [
        f"<!-- Made by `python -m cypool.pages` from cypool/spec/data/{operator.name}.toml, which is the place to edit. -->",
        f"# {operator.name}",
        newest.summary,
        f"[The operator in the standard](https://onnx.ai/onnx/operators/onnx__{operator.name}.html)",
        _table(("version", "opsets", "element types"), rows),
        "## Examples",
        *(part for example in newest.examples for part in _example(newest, example)),
    ]
    for version, before in itertools.zip_longest(operator.versions[::-1], operator.versions[-2::-1]):
        parts += _version(version, before, newest.summary)
    parts += [
        "## Rulings",
        "Where ONNX's text is silent, cypool reads it so. An *other reading* is one that the text allows as well, and a runtime that "
        "follows it reads the text differently; a *known fault* is an answer that runtimes give and the text does not allow.",
    ]
    rulings = {ruling.id: ruling for version in operator.versions for ruling in version.rulings}
    parts += [part for ruling in rulings.values() for part in _ruling(operator, ruling)]
    return "\n\n".join(parts) + "\n"


def write() -> None:
    """Write the page of every operator."""
    PAGES.mkdir(parents=True, exist_ok=True)
    for name in spec.operators():
        (PAGES / f"{name}.md").write_text(page(spec.operator(name)), encoding="utf-8", newline="\n")
    (PAGES / WINDOWS).write_text(window_page.page(), encoding="utf-8", newline="\n")


def _version(version: Version, before: Version | None, known: str) -> Iterator[str]:
    yield f"## {version.name}"
    yield f"[The standard's own text](https://github.com/onnx/onnx/blob/main/docs/Changelog.md#{version.name})"
    stated = facts(version)
    if version.summary != known:
        yield version.summary
    fields = [("domain", f'{version.domain}, in a model `""`'), ("opsets", opsets(version))]
    fields += [(field, text) for (thing, field), text in stated.items() if thing == "operator" and field != "summary"]
    yield _table(("", ""), fields)
    inputs, outputs = (
        ", ".join(f"{operand.name} {written(operand.shape)}" for operand in operands) for operands in (version.inputs, version.outputs)
    )
    yield f"Shape rule: `{inputs}` → `{outputs}`"
    for kind in ("attribute", "input", "output", "type"):
        if any(thing.startswith(f"{kind} ") for thing, _ in stated):
            yield _records(kind, stated)
    if before is not None:
        yield f"### From {before.name} to {version.name}"
        yield _table(("", "", before.name, version.name), differences(before, version))


def _records(kind: str, stated: dict[tuple[str, str], str]) -> str:
    """Write records of one kind as a table: a row each, a column for each field that any of them
    has.
    """
    named = {(thing.removeprefix(kind + " "), field): text for (thing, field), text in stated.items() if thing.startswith(kind + " ")}
    names = dict.fromkeys(name for name, _ in named)
    fields = [field for field in dict.fromkeys(field for _, field in named) if field != "text"] + ["text"]
    rows = [[f"`{name}`", *(_cell(field, named.get((name, field), "")) for field in fields)] for name in names]
    return _table((kind, *fields), rows)


def _ruling(operator: Operator, ruling: Ruling) -> Iterator[str]:
    yield f"### {ruling.id}"
    yield f"**{ruling.question}**"
    yield f"`{ruling.chosen}`: {ruling.choice}"
    if len(ruling.since_versions) < len(operator.versions):
        yield f"This holds for {', '.join(f'{operator.name}-{since}' for since in ruling.since_versions)}."
    yield f"*Why:* {ruling.evidence}"
    if ruling.readings:
        kinds = {True: "other reading", False: "known fault"}
        rows = [(kinds[r.legitimate], f"`{r.name}`", r.text, ", ".join(r.followed_by)) for r in ruling.readings]
        yield _table(("", "name", "what it does", "seen in"), rows)


def _example(version: Version, example: Example) -> Iterator[str]:
    yield f"{example.title} ({version.types[0].name} is float):"
    stated = {name: (shape, data) for name, shape, data in example.inputs}
    inputs = [_input(version, operand, *stated[operand.name]) if operand.name in stated else None for operand in version.inputs]
    given = dict(example.attributes)
    outputs = oracle.evaluate(version, inputs, given)
    values = {attribute.name: given.get(attribute.name, attribute.default) for attribute in version.attributes}
    arrays = zip(version.inputs + version.outputs, [*inputs, *outputs], strict=True)
    lines = [f"{name} = {value_in_words(value)}" for name, value in values.items() if value is not None]
    lines += [_array(operand.name, array) for operand, array in arrays if array is not None]
    yield "```\n" + "\n".join(lines) + "\n```"


def _input(version: Version, operand: Operand, shape: tuple[int, ...], data: tuple[float, ...]) -> oracle.Array:
    """Return an input as floats, or as the first type that it may have where floats are none."""
    allowed = version.constraint(operand.type).allowed
    return np.array(data, DTYPES["float" if "float" in allowed else allowed[0]]).reshape(shape)


def _array(name: str, array: oracle.Array) -> str:
    prefix = f"{name} = "
    return prefix + np.array2string(array, separator=", ", prefix=prefix, max_line_width=100)


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in line) + " |" for line in lines)


def _cell(field: str, text: str) -> str:
    return f"`{text}`" if text and field in _CODE else text


if __name__ == "__main__":
    write()
