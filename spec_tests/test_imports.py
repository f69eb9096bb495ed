"""Who may import whom: the table of docs/design.md, held against the sources."""

import ast
import subprocess
import sys
from pathlib import Path

import cypool

ROOT = Path(cypool.__file__).parent
SUFFIXES = (".py", ".pyx", ".pxd", ".pxi")

# module (the longest prefix counts) -> what of cypool it may import
ALLOWED = {
    "cypool": {"errors", "spec", "ops"},
    "cypool.errors": set(),
    "cypool.spec": {"errors", "spec"},
    "cypool.arrays": set(),
    "cypool.plan": {"arrays", "errors", "spec"},
    "cypool.geometry": {"errors", "spec", "plan"},
    "cypool.kernels": set(),
    "cypool.dispatch": {"kernels"},
    "cypool.info": {"dispatch", "cypool"},
    "cypool.calls": {"plan", "dispatch"},
    "cypool.ops": {"plan", "geometry", "dispatch", "calls"},
    "cypool.loading": {"errors"},
    "cypool.functions": {"loading"},
    "cypool.reference": {"errors", "ops", "spec", "functions", "loading"},
    "cypool.declared": {"arrays", "errors"},
    "cypool.session": {"errors", "reference", "declared", "loading"},
    "cypool.backend": {"errors", "declared", "session"},
    "cypool.pages": {"spec", "conformance.oracle", "conformance.tensors"},
    "cypool.conformance": {"cypool", "errors", "spec", "conformance"},
    "cypool.conformance.oracle": {"spec.model", "conformance.oracle", "conformance.tensors"},
    "cypool.cli": {"cypool", "errors", "spec", "conformance", "session", "info", "cli"},
}


def imports(path):
    """The modules of cypool that a source imports, dotted, without the leading package ('cypool' for the package itself)."""
    module = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    text = path.read_text()
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


def test_no_arrow_is_outside_the_table():
    paths = [path for path in ROOT.rglob("*") if path.suffix in SUFFIXES and path.parent != ROOT / "kernels"]
    arrows = {arrow for path in paths for arrow in imports(path)}
    assert {("cypool.ops", "dispatch"), ("cypool.calls", "plan"), ("cypool.calls", "dispatch")} <= arrows, "the walk sees nothing"
    assert sorted(f"{module} -> {imported}" for module, imported in arrows if forbidden(module, imported)) == []


def test_the_walk_notices_a_forbidden_arrow():
    assert forbidden("cypool.conformance.runner", "ops")
    assert forbidden("cypool.conformance.oracle.norm", "geometry")
    assert forbidden("cypool.plan", "dispatch")
    assert not forbidden("cypool.conformance.runner", "conformance.oracle")


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
