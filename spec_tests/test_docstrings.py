"""The examples in docstrings run and print what they say."""

import ast
import doctest
import importlib
from pathlib import Path

import pytest

import cypool

ROOT = Path(cypool.__file__).parent
SOURCES = {
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def written(path):
    """How many examples the docstrings of a source hold."""
    docstrings = [ast.get_docstring(node) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, DOCUMENTED)]
    return sum(len(doctest.DocTestParser().get_examples(text)) for text in docstrings if text)


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_examples_of_docstrings_run(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    said = []
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(module, name):
        runner.run(example, out=said.append)
    assert runner.failures == 0, "".join(said)
    assert runner.tries == written(SOURCES[name]) > 0, "an example that nobody runs"


def test_there_are_examples():
    assert len(SOURCES) > 40
