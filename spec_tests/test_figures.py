"""The figures in docs are those of the records in benchmarks/figures, as the commands beside them
write them.
"""

import doctest

import pytest

from benchmarks import accuracy, page
from benchmarks.figures import set_lines, standing


@pytest.mark.parametrize(("made", "name"), [(accuracy, "accuracy"), (page, "figures")], ids=["accuracy", "performance"])
def test_a_page_shows_what_its_record_holds(made, name):
    assert standing(made.PAGE, name) == set_lines(made.block())


def test_the_record_of_accuracy_is_of_all_that_the_page_says():
    draws = {opset: accuracy.CHANNELS * len(exponents) for opset, exponents in accuracy.EXPONENTS.items()}
    counts = {type: sum(row.values()) for type, row in accuracy.json.loads(accuracy.RECORD.read_text()).items()}
    both = sum(draws.values())
    assert counts == {"bfloat16": draws[22], "float16": both, "float": both, "double": both}


def test_a_few_norms_are_as_far_from_the_exact_ones_as_the_record_says():
    """The rows are drawn by seed, so these are rows of the record."""
    assert max(accuracy.distances("float", 2, 22)) == 0
    assert max(accuracy.distances("double", 0.5, 1)) <= 1


def test_examples_run():
    assert doctest.testmod(accuracy).failed == 0
