"""The loader and the JSON Schema on a made-up operator: what deltas mean, and that wrong data is
refused with its file and place.
"""

import dataclasses
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cypool import spec
from cypool.errors import SpecValueError
from cypool.spec.load import load
from cypool.spec.model import Attribute, Windows

GOOD = """
op = "Op"
domain = "ai.onnx"

[[version]]
since = 1
summary = "Does something."
shape_inference = true
inference_gaps = [{ text = "Anything goes.", shapes = [[3], []], attributes = { p = 1 } }]
attributes.p = { type = "FLOAT", default = 2.0, above = 0, doc = "A power." }
attributes.kernel = { type = "INTS", required = true, minimum = 1, length = 2, doc = "A window." }
types.T = { allowed = ["float16", "float"], doc = "Floats." }
inputs.X = { type = "T", shape = "N 2", columns = { row = "index N", x = "finite" }, doc = "Data." }
outputs.Y = { type = "T", shape = "N kernel[0]", doc = "Results." }

[[version]]
since = 7
add.attributes.mode = { type = "STRING", default = "floor", one_of = ["floor", "ceil"], doc = "A mode." }
add.attributes.p.minimum = 1
add.types.T = ["double"]
add.types.I = { allowed = ["int64"], doc = "Indices." }
add.outputs.Indices = { type = "I", shape = "N kernel[0]", doc = "Places.", optional = true }
add.inputs.size = { type = "I", shape = "rank", optional = true, holds = "shape Y", doc = "A shape." }
add.inputs.X.differentiable = true
replace.summary = "Does more."
replace.attributes.p.type = "INT"
replace.attributes.p.default = 2
replace.attributes.p.doc = "A whole power."
remove.attributes.p = ["above"]
remove.types.T = ["float16"]

[[version]]
since = 9
replace.deprecated = true
remove.attributes = ["mode"]

[[example]]
title = "One"
since = 7
attributes = { p = 3, kernel = [1, 1] }
inputs.X = { shape = [1, 2], data = [0, 1.5] }

[[ruling]]
id = "sign"
question = "Which?"
chosen = "this"
choice = "This."
evidence = "So it is."
until = 7
readings = [{ name = "that-one", text = "That.", followed_by = ["someone"], legitimate = false }]
"""

WINDOWED = """
op = "Op"
domain = "ai.onnx"

[[version]]
since = 1
summary = "Pools."
shape_inference = true
attributes.kernel_shape = { type = "INTS", required = true, length = "D", minimum = 1, doc = "Sizes." }
attributes.pads = { type = "INTS", length = "2 D", each = 0, minimum = 0, doc = "Padding." }
attributes.auto_pad = { type = "STRING", default = "NOTSET", one_of = ["NOTSET", "VALID"], doc = "Padding by name." }
types.T = { allowed = ["float"], doc = "Floats." }
inputs.X = { type = "T", shape = "N C D+", doc = "Data." }
outputs.Y = { type = "T", shape = "N C windows*", doc = "Results." }
windows = { kernel = "kernel_shape", pads = "pads", auto_pad = "auto_pad" }
"""

SCHEMA = json.loads(Path(spec.__file__).with_name("schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

# Old text, new text, what the loader says. Here what the schema sees as well; below what only the
# loader can know.
BROKEN = {
    "unknown key at the root": ('op = "Op"', 'op = "Op"\nauthor = "me"', "unknown key 'author'"),
    "unknown key in a version": ("since = 1\n", "since = 1\nsinse = 1\n", r"version\[1\]: unknown key 'sinse'"),
    "unknown key in an attribute": ("above = 0,", "over = 0,", r"version\[1\]\.attributes\.p: unknown key 'over'"),
    "unknown key in a ruling": ("until = 7", "versions = 7", r"ruling\[sign\]: unknown key 'versions'"),
    "unknown key in a reading": ("legitimate =", "legal =", r"ruling\[sign\]\.readings\[that-one\]: unknown key 'legal'"),
    "an unknown kind of windows in a reading": (
        "legitimate = false",
        'refuses_windows = "large"',
        r"readings\[that-one\]\.refuses_windows: expected one of pads-reach-kernel, .*, got 'large'",
    ),
    "a refused shape that is a number": ("legitimate = false", "refuses.X = 3", r"refuses\.X: expected a list"),
    "an unknown verb": ("add.types.T", "append.types.T", r"version\[7\]: unknown key 'append'"),
    "a later version without a verb": ("replace.deprecated", "deprecated", r"version\[9\]: unknown key 'deprecated'"),
    "a verb in the first version": ("types.T = { al", "add.types.T = { al", r"version\[1\]: 'types' is missing"),
    "unknown field under a verb": ("replace.summary", "add.name", r"version\[7\]: unknown key 'name'"),
    "no op": ('op = "Op"', "", "'op' is missing"),
    "no versions": (GOOD, 'op = "Op"\ndomain = "ai.onnx"\n', "'version' is missing"),
    "no doc": (', doc = "A power."', "", r"version\[1\]\.attributes\.p: 'doc' is missing"),
    "empty doc": ('"A power."', '""', r"version\[1\]\.attributes\.p\.doc: is empty"),
    "no inputs": ("inputs.X = { type", "oputs.X = { type", r"version\[1\]: 'inputs' is missing"),
    "no since": ("since = 7\nadd", "add", r"version\[1\]: 'since' is missing"),
    "since as text": ("since = 7\nadd", 'since = "7"\nadd', r"version\[7\]\.since: expected an integer, got '7'"),
    "since as a truth value": ("since = 1\n", "since = true\n", r"since: expected an integer, got True"),
    "since of zero": ("since = 1\n", "since = 0\n", r"version\[0\]: versions stand oldest first"),
    "a truth value as text": ("shape_inference = true", 'shape_inference = "yes"', r"shape_inference: expected true or false, got 'yes'"),
    "unknown support level": ("shape_inference", 'support_level = "good"\nshape_inference', "support_level: expected one of common, exper"),
    "unknown attribute type": ('"FLOAT"', '"FLOATING"', r"attributes\.p\.type: expected one of INT, FLOAT, .*, got 'FLOATING'"),
    "a default beside required": ("required = true", "required = true, default = [1, 1]", "a required attribute has no default"),
    "a limit as text": ("above = 0", 'above = "0"', r"attributes\.p\.above: expected a number, got '0'"),
    "a length of a single value": ("above = 0", "length = 1", r"attributes\.p\.length: FLOAT has no such limit"),
    "a length that is none": (
        "length = 2",
        'length = "2 x D"',
        r"attributes\.kernel\.length: expected a number, 'D' or '2 D', got '2 x D'",
    ),
    "unknown element type": ('"float16", "float"]', '"half"]', r"types\.T\.allowed: 'half' is no element type"),
    "no element type": ('["float16", "float"]', "[]", "expected one or more types"),
    "an element type twice": ('["float16", "float"]', '["float", "float"]', "each once"),
    "a shape rule that is none": ('"N 2"', '"N, 2"', r"inputs\.X\.shape: 'N,' is no term of a shape rule"),
    "a star that is not last": ('"N 2"', '"N* 2"', r"'N\*' is no term"),
    "an unknown column": ('"finite"', '"small"', r"inputs\.X\.columns\.x: expected 'finite' or 'index N', got 'small'"),
    "an example without data": (", data = [0, 1.5]", "", r"example\[One\]\.inputs\.X: 'data' is missing"),
    "example data as text": ("[0, 1.5]", '["0", "1"]', "data: expected a list of numbers, got '0' in it"),
    "a negative size": ("shape = [1, 2]", "shape = [-1, 2]", "shape: expected sizes of 0 or more"),
    "an id with a blank": ('id = "sign"', 'id = "the sign"', "id: expected lower-case words joined by hyphens"),
    "gap shapes that are none": ("[[3], []]", '[["N"]]', r"inference_gaps\[0\]\.shapes: expected lists of sizes"),
}
CONTRADICTORY = {
    "a default that is no text": ('default = "floor"', "default = 1", "default: expected STRING, got 1"),
    "an unknown content": ('holds = "shape Y"', 'holds = "shapes"', r"inputs\.size\.holds: expected 'finite', 'index N' or 'shape Y', got"),
    "a limit of a text": ('"STRING",', '"STRING", minimum = 1,', r"attributes\.mode\.minimum: STRING has no such limit"),
    "a type that is no text": ('["double"]', "[1]", r"types\.T\.allowed: expected a list of text, got 1 in it"),
    "no TOML": ("[[ruling]]", "[[ruling]", "line"),
    "versions out of order": ("since = 9", "since = 7", r"version\[7\]: versions stand oldest first"),
    "adding a field that is there": ("p.minimum = 1", "p.above = 1", r"version\[7\]\.add\.attributes\.p\.above: is there already"),
    "adding an operand that is there": ("outputs.Indices", "outputs.Y", r"version\[7\]\.add\.outputs\.Y\.type: is there already"),
    "adding a single field": ("replace.summary", "add.summary", r"version\[7\]\.add\.summary: is there already"),
    "removing a single field": (
        "replace.deprecated = true",
        "remove.deprecated = true",
        r"version\[9\]\.remove\.deprecated: expected a list",
    ),
    "a default of another type": ("default = 2\n", "default = 2.5\n", r"version\[7\]\.attributes\.p\.default: expected INT, got 2.5"),
    "adding a type that is there": ('["double"]', '["float"]', r"version\[7\]\.add\.types\.T\.allowed: float is there already"),
    "adding a doc that is there": ('["double"]', '{ allowed = ["double"], doc = "D." }', r"add\.types\.T\.doc: is there already"),
    "replacing an attribute that is not there": (
        "replace.attributes.p.type",
        "replace.attributes.q.type",
        r"version\[7\]\.replace\.attributes\.q: is not there to be replaced",
    ),
    "replacing by the same": ('"Does more."', '"Does something."', r"version\[7\]\.replace\.summary: is what it was"),
    "replacing a field by the same": ('"A whole power."', '"A power."', r"version\[7\]\.replace\.attributes\.p\.doc: is what it was"),
    "removing an attribute that is not there": ('["mode"]', '["q"]', r"version\[9\]\.remove\.attributes: 'q' is not there"),
    "removing a type that is not there": ('= ["float16"]', '= ["int8"]', r"version\[7\]\.remove\.types\.T\.allowed: 'int8' is not there"),
    "removing every type": (
        'remove.attributes = ["mode"]',
        'remove.types.I = ["int64"]',
        r"version\[9\]\.types\.I\.allowed: expected one or more types",
    ),
    "narrowing a constraint that is not there": ("remove.types.T", "remove.types.U", r"remove\.types\.U: is not there"),
    "removing what this version adds": ('["above"]', '["minimum"]', r"remove\.attributes\.p: 'minimum' is not there"),
    "an integer as the default of a float": ("default = 2.0", "default = 2", r"attributes\.p\.default: expected FLOAT, got 2"),
    "a required operand after an optional one": (
        "replace.deprecated = true\n",
        'add.inputs.Z = { type = "I", shape = "N", doc = "." }\n',
        r"version\[9\]: an operand that may be left out stands before one that may not",
    ),
    "a shape of nothing": ('"shape Y"', '"shape Z"', r"version\[7\]: size holds 'shape Z', which is no output"),
    "a default that is none of the values": ('default = "floor"', 'default = "round"', r"mode\.one_of: 'round' is not among them"),
    "an undeclared type": ('X = { type = "T"', 'X = { type = "U"', r"version\[1\]: there is no type constraint U"),
    "an unused constraint": (
        "types.I =",
        'types.J = { allowed = ["bool"], doc = "." }\nadd.types.I =',
        r"version\[7\]: no operand has the type J",
    ),
    "a dimension from nowhere": ('"N kernel[0]", doc = "R', '"M", doc = "R', r"version\[1\]: the shape of Y names M, which is neither"),
    "a size that is no integer": ('"N kernel[0]", doc = "R', '"p", doc = "R', r"version\[1\]: the shape of Y names p, which is neither"),
    "an index into nothing": ('"index N"', '"index M"', r"version\[1\]: column row of X is 'index M', which is no dimension"),
    "columns that do not fit": ('row = "index N", ', "", r"inputs\.X\.columns: 1 columns do not fit the shape rule 'N 2'"),
    "a ruling for a version that is none": ("until = 7", "until = 8", r"ruling\[sign\]\.until: there is no version 8, only 1, 7, 9"),
    "a ruling that ends before it begins": ("until = 7", "since = 9\nuntil = 7", r"ruling\[sign\]: until stands before since"),
    "a reading twice": (
        '[{ name = "that-one"',
        '[{ name = "that-one", text = "T" }, { name = "that-one"',
        r"version\[1\]: reading that-one stands there twice",
    ),
    "an example of another input": (
        "inputs.X = { shape",
        "inputs.Z = { shape",
        r"version\[7\]: example 'One': its inputs are not the operator's",
    ),
    "an example with an unknown attribute": ("p = 3, k", "q = 3, k", r"version\[7\]: example 'One': Op-7 has no attribute q"),
    "an example with a value of another type": ("p = 3, k", "p = 3.5, k", r"version\[7\]: example 'One': p is 3.5, expected INT"),
    "an example with too little data": ("[0, 1.5]", "[0]", r"example 'One': 1 numbers do not fill X of shape \[1, 2\]"),
    "a reading about windows that there are none of": (
        "legitimate = false",
        'refuses_windows = "cropped"',
        r"version\[1\]: reading that-one refuses windows, of which there are none",
    ),
    "a list of refused shapes, one of them none": ("legitimate = false", 'refuses.X = ["N C", "N-C"]', r"refuses\.X: 'N-C' is no term"),
    "a gap with an unknown attribute": ("{ p = 1 }", "{ q = 1 }", r"version\[1\]: inference gap 'Anything goes.': Op-1 has no attribute q"),
}


def broken(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, f"{old!r} stands {GOOD.count(old)} times in the good text"
    return GOOD.replace(old, new)


@pytest.mark.parametrize(("old", "new", "message"), (BROKEN | CONTRADICTORY).values(), ids=(BROKEN | CONTRADICTORY))
def test_wrong_data_is_refused_with_file_and_place(old: str, new: str, message: str) -> None:
    with pytest.raises(SpecValueError, match=rf"^Op\.toml: .*{message}"):
        load(broken(old, new), "Op.toml")


@pytest.mark.parametrize(("old", "new"), [row[:2] for row in BROKEN.values()], ids=BROKEN)
def test_the_schema_refuses_what_needs_no_second_look(old: str, new: str) -> None:
    assert not VALIDATOR.is_valid(tomllib.loads(broken(old, new)))


def test_the_schema_is_one_and_takes_the_data() -> None:
    VALIDATOR.check_schema(SCHEMA)
    files = sorted(Path(spec.__file__).with_name("data").glob("*.toml"))
    assert [file.stem for file in files] == list(spec.operators())
    for text in (GOOD, WINDOWED, *(file.read_text(encoding="utf-8") for file in files)):
        VALIDATOR.validate(tomllib.loads(text))


def test_a_delta_leaves_everything_else_as_it_was() -> None:
    first, second, third = load(GOOD, "Op.toml").versions
    assert (first.summary, second.summary, third.summary) == ("Does something.", "Does more.", "Does more.")
    assert (first.deprecated, second.deprecated, third.deprecated) == (False, False, True)
    assert (first.function, first.support_level, first.shape_inference) == (False, "common", True)
    assert (first.inputs[0].differentiable, second.inputs[0].differentiable) == (None, True)
    assert dataclasses.replace(second.inputs[0], differentiable=None) == first.inputs[0]
    assert second.inputs == third.inputs
    assert second.inference_gaps == first.inference_gaps != ()


def test_a_reading_may_refuse_several_shapes_and_windows() -> None:
    both = GOOD.replace("legitimate = false", 'refuses.X = ["0 2", "N 0"], refuses_windows = "cropped"')
    (reading,) = load(GOOD.replace("legitimate = false", 'refuses.X = ["0 2", "N 0"]'), "Op.toml").versions[0].rulings[0].readings
    assert (reading.refuses, reading.refuses_windows) == ((("X", "0 2"), ("X", "N 0")), "")
    VALIDATOR.validate(tomllib.loads(both))
    ruling = both[both.index("[[ruling]]") :].replace("until = 7\n", "")
    (reading,) = load(WINDOWED + ruling, "Op.toml").versions[0].rulings[0].readings
    assert reading.refuses_windows == "cropped"


def test_a_changed_attribute_keeps_its_place_and_what_was_not_named() -> None:
    first, second, third = load(GOOD, "Op.toml").versions
    assert [a.name for a in first.attributes] == ["p", "kernel"]
    assert [a.name for a in second.attributes] == ["p", "kernel", "mode"]
    assert [a.name for a in third.attributes] == ["p", "kernel"]
    assert first.attribute("p") == Attribute("p", "FLOAT", False, 2.0, "A power.", above=0.0)
    assert second.attribute("p") == third.attribute("p") == Attribute("p", "INT", False, 2, "A whole power.", minimum=1.0)


def test_types_are_appended_taken_out_and_constraints_added() -> None:
    first, second, _ = load(GOOD, "Op.toml").versions
    assert [(c.name, c.allowed) for c in first.types] == [("T", ("float16", "float"))]
    assert [(c.name, c.allowed) for c in second.types] == [("T", ("float", "double")), ("I", ("int64",))]
    assert [operand.name for operand in second.outputs] == ["Y", "Indices"]
    assert second.constraint("I").doc == "Indices."


def test_optional_operands_and_their_contents_are_read() -> None:
    first, second, _ = load(GOOD, "Op.toml").versions
    assert [(o.name, o.optional, o.holds) for o in second.inputs] == [("X", False, ""), ("size", True, "shape Y")]
    assert [(o.name, o.optional) for o in second.outputs] == [("Y", False), ("Indices", True)]
    assert (second.least_inputs, second.least_outputs, first.least_inputs) == (1, 1, 1)
    assert first.inputs[0].columns == (("row", "index N"), ("x", "finite"))


def test_windows_are_read_with_lengths_that_depend_on_the_rank() -> None:
    (version,) = load(WINDOWED, "Op.toml").versions
    assert version.windows == Windows("kernel_shape", pads="pads", auto_pad="auto_pad")
    pads = version.attribute("pads")
    assert pads is not None
    assert (pads.length, pads.each) == ("2 D", 0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('pads = "pads"', 'pads = "paddings"', r"version\[1\]: windows.pads is paddings, which is no attribute of type INTS"),
        ('auto_pad = "auto_pad"', 'auto_pad = "pads"', r"windows.auto_pad is pads, which is no attribute of type STRING"),
        ('"2 D", each = 0', '"2 E", each = 0', r"the length of pads is '2 E', which is no star of an input"),
        ("each = 0, ", "each = 0, default = [0], ", r"attributes\.pads\.each: stands for the default"),
        ('windows = { kernel = "kernel_shape", ', "windows = { ", r"windows: 'kernel' is missing"),
        ("windows = {", "window = {", r"version\[1\]: unknown key 'window'"),
    ],
)
def test_wrong_windows_are_refused(old: str, new: str, message: str) -> None:
    assert WINDOWED.count(old) == 1
    with pytest.raises(SpecValueError, match=rf"^Op\.toml: .*{message}"):
        load(WINDOWED.replace(old, new), "Op.toml")


def test_versions_end_where_the_next_begins() -> None:
    assert [(v.name, v.until_version) for v in load(GOOD, "Op.toml").versions] == [("Op-1", 6), ("Op-7", 8), ("Op-9", None)]


def test_rulings_and_examples_belong_to_the_versions_they_name() -> None:
    first, second, third = load(GOOD, "Op.toml").versions
    assert [len(v.rulings) for v in (first, second, third)] == [1, 1, 0]
    assert [len(v.examples) for v in (first, second, third)] == [0, 1, 1]
    ruling = first.ruling("sign")
    assert ruling is not None
    assert (ruling.chosen, ruling.since_versions) == ("this", (1, 7))
    assert [(r.name, r.followed_by, r.legitimate) for r in ruling.readings] == [("that-one", ("someone",), False)]
    assert third.ruling("sign") is None


def test_an_example_is_typed_as_its_version_has_it() -> None:
    everywhere = load(broken("since = 7\nattributes", "attributes"), "Op.toml")
    values = [dict(version.examples[0].attributes)["p"] for version in everywhere.versions]
    assert [(value, type(value)) for value in values] == [(3.0, float), (3, int), (3, int)]


def test_numbers_keep_their_python_types() -> None:
    attributes: dict[str, Any] = {a.name: a for a in load(GOOD, "Op.toml").versions[0].attributes}
    assert (attributes["p"].above, attributes["p"].minimum, attributes["p"].finite) == (0.0, None, False)
    assert (attributes["kernel"].minimum, attributes["kernel"].length, attributes["kernel"].default) == (1.0, 2, None)
