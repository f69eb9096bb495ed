"""Every field of the spec data that ONNX states as well, held against ``onnx.defs``."""

import onnx
import pytest
from onnx import defs

from cypool import spec
from cypool.spec.model import Version

VERSIONS = {version.name: version for version in spec.versions()}
HISTORY = {
    f"{schema.name}-{schema.since_version}": schema for schema in defs.get_all_schemas_with_history() if schema.name in spec.operators()
}
CATEGORY = defs.OpSchema.DifferentiationCategory
DIFFERENTIABLE = {CATEGORY.Unknown: None, CATEGORY.Differentiable: True, CATEGORY.NonDifferentiable: False}


def test_the_versions_are_those_of_onnx() -> None:
    assert sorted(VERSIONS) == sorted(HISTORY)
    assert set(spec.operators()) == {schema.name for schema in HISTORY.values()}


@pytest.fixture(params=sorted(VERSIONS))
def pair(request: pytest.FixtureRequest) -> tuple[Version, defs.OpSchema]:
    return VERSIONS[request.param], HISTORY[request.param]


def test_domain_and_standing(pair: tuple[Version, defs.OpSchema]) -> None:
    version, schema = pair
    assert version.domain.removeprefix("ai.onnx") == schema.domain
    assert version.support_level == schema.support_level.name.lower()
    assert version.deprecated == schema.deprecated
    assert version.function == (schema.has_function or schema.has_context_dependent_function)
    assert version.shape_inference == schema.has_type_and_shape_inference_function


def test_attributes(pair: tuple[Version, defs.OpSchema]) -> None:
    version, schema = pair
    assert {attribute.name for attribute in version.attributes} == set(schema.attributes)
    for attribute in version.attributes:
        theirs = schema.attributes[attribute.name]
        assert attribute.type == theirs.type.name
        assert attribute.required == theirs.required
        stated = theirs.default_value.type != onnx.AttributeProto.UNDEFINED
        default = onnx.helper.get_attribute_value(theirs.default_value) if stated else None
        default = default.decode() if isinstance(default, bytes) else default
        assert (attribute.default, type(attribute.default)) == (default, type(default))


@pytest.mark.parametrize("side", ["inputs", "outputs"])
def test_operands(pair: tuple[Version, defs.OpSchema], side: str) -> None:
    version, schema = pair
    ours, theirs = getattr(version, side), getattr(schema, side)
    options = defs.OpSchema.FormalParameterOption
    assert [(o.name, o.type, o.differentiable, o.homogeneous, o.optional) for o in ours] == [
        (o.name, o.type_str, DIFFERENTIABLE[o.differentiation_category], o.is_homogeneous, o.option == options.Optional) for o in theirs
    ]
    # The model has no word for an operand that is repeated.
    assert all(o.option != options.Variadic and o.min_arity == 1 for o in theirs)


def test_numbers_of_inputs_and_outputs(pair: tuple[Version, defs.OpSchema]) -> None:
    version, schema = pair
    assert (version.least_inputs, len(version.inputs)) == (schema.min_input, schema.max_input)
    assert (version.least_outputs, len(version.outputs)) == (schema.min_output, schema.max_output)


def test_columns_are_named_as_in_the_text(pair: tuple[Version, defs.OpSchema]) -> None:
    version, schema = pair
    for ours, theirs in zip(version.inputs, schema.inputs, strict=True):
        if ours.columns:
            assert f"[[{', '.join(name for name, _ in ours.columns)}], ...]" in theirs.description


def test_type_constraints(pair: tuple[Version, defs.OpSchema]) -> None:
    version, schema = pair
    theirs = {constraint.type_param_str: constraint.allowed_type_strs for constraint in schema.type_constraints}
    assert {constraint.name: sorted(f"tensor({name})" for name in constraint.allowed) for constraint in version.types} == {
        name: sorted(allowed) for name, allowed in theirs.items()
    }


def test_resolve_finds_the_version_that_onnx_finds_at_every_opset() -> None:
    for op in spec.operators():
        for opset in range(spec.operator(op).versions[0].since_version, defs.onnx_opset_version() + 1):
            assert spec.resolve(op, opset).since_version == defs.get_schema(op, opset, "").since_version, (op, opset)


def test_no_doc_is_a_sentence_of_onnx(pair: tuple[Version, defs.OpSchema]) -> None:
    version, schema = pair
    texts = [schema.doc, *(a.description for a in schema.attributes.values()), *(c.description for c in schema.type_constraints)]
    texts += [operand.description for operand in (*schema.inputs, *schema.outputs)]
    runs = {run for text in texts for run in _runs(text)}
    records = (*version.attributes, *version.inputs, *version.outputs, *version.types)
    for text in (version.summary, *(record.doc for record in records)):
        assert not runs & _runs(text), text


def _runs(text: str, length: int = 7) -> set[str]:
    words = "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()
    return {" ".join(words[i : i + length]) for i in range(len(words) - length + 1)}
