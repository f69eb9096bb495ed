"""Who may import whom: the table of docs/design.md, held against the sources."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import cypool

ROOT = Path(cypool.__file__).parent
SUFFIXES = (".py", ".pyx", ".pxd", ".pxi")

# module (the longest prefix counts) -> what of cypool it may import
ALLOWED = {
    "cypool": {"errors", "spec", "ops", "operators", "unbuilt"},
    "cypool.__main__": {"cli"},
    "cypool.__pyinstaller": {"cypool"},
    "cypool.unbuilt": set(),
    "cypool.errors": set(),
    "cypool.spec": {"errors", "spec"},
    "cypool.arrays": set(),
    "cypool.accuracy": set(),
    "cypool.plan": {"arrays", "errors", "spec"},
    "cypool.geometry": {"errors", "spec", "plan"},
    "cypool.kernels": set(),
    "cypool.dispatch": {"kernels"},
    "cypool.info": {"dispatch", "cypool"},
    "cypool.calls": {"plan", "dispatch"},
    "cypool.ops": {"plan", "geometry", "dispatch", "calls"},
    "cypool.ort": {"cypool", "unbuilt", "errors", "spec", "plan", "ops", "calls", "ort"},
    "cypool.dask": {"cypool", "errors", "spec", "plan", "dask"},
    "cypool.loading": {"errors"},
    "cypool.inlining": {"loading"},
    "cypool.operators": {"ops", "plan"},
    "cypool.reference": {"errors", "ops", "spec", "inlining", "loading"},
    "cypool.declared": {"arrays", "errors"},
    "cypool.session": {"errors", "reference", "declared", "loading"},
    "cypool.backend": {"errors", "declared", "session"},
    "cypool.pictures": {"spec"},
    "cypool.window_page": {"spec", "pictures"},
    "cypool.pages": {"window_page", "spec", "conformance.oracle", "conformance.tensors"},
    "cypool.conformance": {"cypool", "errors", "spec", "conformance"},
    "cypool.conformance.cases": {"spec", "conformance.cases", "conformance.oracle", "conformance.tensors"},
    "cypool.conformance.asking": {"conformance.asking", "conformance.tensors"},
    "cypool.conformance.asking.runner": {"conformance.asking", "conformance.cases", "conformance.judging"},
    "cypool.conformance.judging": {
        "spec",
        "conformance.asking.protocol",
        "conformance.cases",
        "conformance.judging",
        "conformance.oracle",
        "conformance.tensors",
    },
    "cypool.conformance.oracle": {"spec.model", "conformance.oracle", "conformance.tensors"},
    "cypool.cli": {"cypool", "errors", "spec", "conformance", "declared", "loading", "session", "info", "ort", "cli"},
}

# modules that import what a user or a table names, and nothing of cypool
BY_NAME = {
    "cypool.conformance.asking.runtimes.base",
    "cypool.conformance.asking.runtimes.onnx_backend",
    "cypool.conformance.asking.runtimes.onnxruntime_cypool",
}

IMPORT_CALL = re.compile(r"\b(?:import_module|__import__)\((.*)")
LITERAL = re.compile(r"""f?"([^"{]*)(\{__name__\})?[^"]*"[,)]""")


def imported_by_call(text):
    """The names in calls of import_module: as they stand, up to the first part that is computed;
    None for a name that all is.
    """
    for argument in IMPORT_CALL.findall(text):
        literal = LITERAL.match(argument)
        if not literal:
            yield None
        elif not literal[2]:
            whole = "{" not in literal[0]
            yield literal[1] if whole else literal[1].rpartition(".")[0] or None


def source_of(path):
    """The dotted name of a source's module and its text."""
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"), path.read_text()


def imports(path):
    """The modules of cypool that a source imports, dotted, without the leading package ('cypool'
    for the package itself).
    """
    module, text = source_of(path)
    for name in imported_by_call(text):
        if name and name.split(".")[0] == "cypool" and name != module:
            yield module, name.removeprefix("cypool.")
    if path.suffix != ".py":  # the imports of Cython read like Python's, the rest may not
        lines = (line.strip().replace("cimport", "import") for line in text.splitlines())
        text = "\n".join(line for line in lines if line.startswith(("import ", "from ")))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            submodules = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if exists(name) else node.module for name in submodules]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "cypool" and name != module:
                yield module, name.removeprefix("cypool.")


def exists(name):
    path = ROOT.parent.joinpath(*name.split("."))
    return path.is_dir() or any(path.with_suffix(suffix).exists() for suffix in SUFFIXES)


def forbidden(module, imported):
    rule = max((prefix for prefix in ALLOWED if f"{module}.".startswith(f"{prefix}.")), key=len)
    return not any(imported == allowed or (allowed != "cypool" and imported.startswith(f"{allowed}.")) for allowed in ALLOWED[rule])


def sources():
    return [path for path in ROOT.rglob("*") if path.suffix in SUFFIXES and path.parent != ROOT / "kernels"]


def test_no_arrow_is_outside_the_table():
    arrows = {arrow for path in sources() for arrow in imports(path)}
    assert {("cypool.ops", "dispatch"), ("cypool.calls", "plan"), ("cypool.calls", "dispatch")} <= arrows, "the walk sees nothing"
    assert ("cypool.dispatch", "kernels.baseline.cpu") in arrows, "the walk does not see import_module"
    assert sorted(f"{module} -> {imported}" for module, imported in arrows if forbidden(module, imported)) == []


def test_the_walk_notices_a_forbidden_arrow():
    assert forbidden("cypool.conformance.findings.bundle", "ops")
    assert forbidden("cypool.conformance.asking.worker", "conformance.cases.models")
    assert forbidden("cypool.conformance.oracle.norm", "geometry")
    assert forbidden("cypool.plan", "dispatch")
    assert not forbidden("cypool.conformance.asking.runner", "conformance.cases.models")


def test_few_modules_import_by_a_computed_name():
    assert {module for module, text in map(source_of, sources()) if None in imported_by_call(text)} == BY_NAME


@pytest.mark.parametrize(
    ("call", "seen"),
    [
        ('importlib.import_module("cypool.ops")', ["cypool.ops"]),
        ('import_module("cypool.ops", None)', ["cypool.ops"]),
        ('__import__("cypool.ops")', ["cypool.ops"]),
        ('import_module(f"cypool.kernels.{name}.lp").lp', ["cypool.kernels"]),
        ('import_module(f"{__name__}.{op}")', []),
        ("import_module(name)", [None]),
        ('import_module(f"{name}.ops")', [None]),
        ('import_module("cypool." + name)', [None]),
    ],
)
def test_the_walk_notices_imports_by_call(call, seen):
    assert list(imported_by_call(call)) == seen


def test_kernels_cimport_each_other_alone():
    for path in ROOT.glob("kernels/*.p[yx][xdi]"):
        for line in path.read_text().splitlines():
            if "cimport" in line and line.startswith("from"):
                assert line.split()[1].startswith((".", "libc", "cython")), f"{path.name}: {line}"


def test_importing_cypool_needs_numpy_alone():
    program = "import sys, numpy; before = set(sys.modules); import cypool; print(*{m.split('.')[0] for m in set(sys.modules) - before})"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    third_party = {name for name in loaded if name not in sys.stdlib_module_names}
    # a compiled kernel registers its own leaf names
    assert third_party - {"cypool"} <= {name for name in third_party if name.startswith(("_cython", "cython_runtime"))}


@pytest.mark.parametrize("package", sorted(path.parent for path in ROOT.rglob("__init__.py")), ids=lambda path: path.name)
def test_no_name_in_a_package_hides_one_of_its_modules(package):
    name = ".".join(package.relative_to(ROOT.parent).parts)
    modules = {path.stem for path in package.iterdir() if path.suffix in SUFFIXES or path.is_dir()}
    names = vars(importlib.import_module(name))
    assert {module for module in modules & names.keys() if not isinstance(names[module], ModuleType)} == set()
