"""How a runtime is found by its name."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from registering import register

from cypool.conformance.asking.isolation import Isolated, Unavailable
from cypool.conformance.asking.runtimes import table

FAKES = Path(__file__).with_name("fakes")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(FAKES)]))
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_package_registers_a_runtime_by_name(site: Path) -> None:
    register(site, {"Sound": "fake_adapters:connect"})
    assert table.find("Sound").install == "it is registered by someones-runtimes"
    with closing(Isolated("Sound", 20)) as runtime:
        assert (runtime.name, runtime.description.name, runtime.description.version) == ("Sound", "sound", "1.0")


def test_one_function_serves_several_names(site: Path) -> None:
    register(site, dict.fromkeys(("Sound", "Nameless"), "fake_adapters:connect"))
    with closing(Isolated("Nameless", 20)) as runtime:
        assert runtime.description.name == "nameless"


def test_a_name_that_is_built_in_is_not_taken(site: Path) -> None:
    register(site, {"onnxruntime": "fake_adapters:connect"})
    assert table.find("onnxruntime").adapter == "onnxruntime"
    assert table.registered() == {}


def test_a_package_that_is_broken_is_named(site: Path) -> None:
    register(site, {"broken": "no_such_module:connect"})
    with pytest.raises(Unavailable) as raised:
        Isolated("broken", 20)
    assert str(raised.value) == (
        "runtime broken is not available: ModuleNotFoundError: No module named 'no_such_module' (it is registered by someones-runtimes)"
    )


def test_names_are_told_to_who_names_another(site: Path) -> None:
    register(site, {"Sound": "fake_adapters:connect"})
    assert table.find("nobody").install.endswith("name one of: cypool, onnxruntime, onnxruntime+cypool, openvino, tract, reference, Sound")


def test_installed_are_those_built_in_that_can_be_imported_and_those_registered(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(site, {"Sound": "fake_adapters:connect"})
    assert table.installed() == ("cypool", "onnxruntime", "onnxruntime+cypool", "openvino", "tract", "reference", "Sound")
    monkeypatch.setitem(table.BUILT_IN, "tract", table.Entry("tract", "tract", "", "pip install tract", "no_such_module"))
    assert table.installed() == ("cypool", "onnxruntime", "onnxruntime+cypool", "openvino", "reference", "Sound")


def test_finding_and_listing_import_no_runtime() -> None:
    program = (
        "import sys; from cypool.conformance.asking.runtimes import table; table.installed(); table.find('tract'); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"onnxruntime", "openvino", "tract", "onnx"} & set(loaded)


def test_what_stands_after_exec_is_split_as_a_shell_does() -> None:
    assert table.find("exec:'./my harness' --threads 1").command == ("./my harness", "--threads", "1")


def test_the_extra_of_the_checker_brings_no_runtime() -> None:
    project = (Path(table.__file__).parents[4] / "pyproject.toml").read_text()
    (extra,) = [line for line in project.splitlines() if line.startswith("check = ")]
    assert not {"onnxruntime", "openvino", "tract"} & {word.strip("\"'[], ").split(">")[0] for word in extra.split()}
