"""How versions are found, and what is said where there is none."""

import re
import subprocess
import sys

import pytest

import cypool
from cypool import spec
from cypool.errors import SpecError, SpecTypeError, SpecValueError


def test_no_opset_means_the_newest_version() -> None:
    assert spec.resolve("GlobalLpPool").name == "GlobalLpPool-22"
    assert spec.resolve("MaxRoiPool", None) is spec.version("MaxRoiPool-22")


@pytest.mark.parametrize(("opset", "since"), [(1, 1), (2, 2), (3, 2), (21, 2), (22, 22), (23, 22), (10_000, 22)])
def test_the_newest_version_that_is_no_newer_than_the_opset_is_in_force(opset: int, since: int) -> None:
    assert spec.resolve("GlobalLpPool", opset).since_version == since


def test_a_version_ends_where_the_next_begins() -> None:
    assert [(v.since_version, v.until_version) for v in spec.operator("GlobalLpPool").versions] == [(1, 1), (2, 21), (22, None)]


def test_the_empty_domain_is_ai_onnx() -> None:
    assert spec.resolve("MaxRoiPool", 1, "") is spec.resolve("MaxRoiPool", 1, "ai.onnx")


def test_another_domain_is_refused() -> None:
    with pytest.raises(SpecValueError, match=r"^GlobalLpPool is an operator of the domain 'ai.onnx', not of 'com.microsoft'$"):
        spec.resolve("GlobalLpPool", 2, "com.microsoft")


def test_an_unknown_operator_is_answered_with_those_there_are() -> None:
    with pytest.raises(SpecValueError, match=rf"^unknown operator 'GlobalLPPool'; there are {', '.join(spec.operators())}$"):
        spec.resolve("GlobalLPPool")


@pytest.mark.parametrize("name", ["../data/GlobalLpPool", "", "globallppool"])
def test_an_operator_is_found_by_its_exact_name_alone(name: str) -> None:
    with pytest.raises(SpecValueError, match="unknown operator"):
        spec.operator(name)


@pytest.mark.parametrize("opset", [0, -1])
def test_an_opset_before_the_first_version_is_answered_with_those_there_are(opset: int) -> None:
    with pytest.raises(
        SpecValueError, match=rf"^GlobalLpPool has no version at opset {opset}; there are GlobalLpPool-1, GlobalLpPool-2, GlobalLpPool-22$"
    ):
        spec.resolve("GlobalLpPool", opset)


@pytest.mark.parametrize("opset", ["22", 22.0, True, (22,)])
def test_an_opset_is_an_int(opset: object) -> None:
    with pytest.raises(SpecTypeError, match="expected an int or None"):
        spec.resolve("GlobalLpPool", opset)  # type: ignore[arg-type]


def test_a_version_is_found_by_its_name() -> None:
    assert spec.version("MaxRoiPool-1").until_version == 21
    with pytest.raises(SpecValueError, match=r"^unknown version 'MaxRoiPool-2'; there are MaxRoiPool-1, MaxRoiPool-22$"):
        spec.version("MaxRoiPool-2")
    with pytest.raises(SpecValueError, match=r"^unknown version 'MinPool-1'; there are .*GlobalLpPool-1, .*MaxRoiPool-22"):
        spec.version("MinPool-1")


def test_versions_are_shared_and_frozen() -> None:
    version = spec.resolve("GlobalLpPool", 2)
    assert spec.resolve("GlobalLpPool", 21) is version
    with pytest.raises(AttributeError):
        version.since_version = 3  # type: ignore[misc]


def test_errors_are_caught_as_spec_errors_and_as_pythons_own() -> None:
    for kind in (SpecError, ValueError):
        with pytest.raises(kind):
            cypool.spec.resolve("Nothing")


def test_the_spec_needs_nothing_beyond_the_standard_library() -> None:
    # cypool itself imports numpy, so the package is made known without running its __init__.
    program = (
        "import sys, types, importlib.util as u; before = set(sys.modules)\n"
        "package = types.ModuleType('cypool'); package.__path__ = u.find_spec('cypool').submodule_search_locations\n"
        "sys.modules['cypool'] = package\n"
        "import cypool.spec, cypool.spec.shapes; list(cypool.spec.versions())\n"
        "names = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(names - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['cypool']"


def test_a_package_without_its_data_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(spec, "_DATA", tmp_path)
    spec.operators.cache_clear()
    try:
        with pytest.raises(FileNotFoundError, match=re.escape(f"cypool's data files are missing: no *.toml in {tmp_path}")):
            spec.operator("GlobalLpPool")
    finally:
        spec.operators.cache_clear()
