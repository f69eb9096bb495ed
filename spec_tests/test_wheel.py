"""The wheel as users get it: built, installed in a clean environment with numpy alone, used from outside the source tree."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cypool import spec

ROOT = Path(__file__).parent.parent

pytestmark = [pytest.mark.timeout(1200), pytest.mark.xdist_group("wheel")]  # it compiles everything, once

USE = """
import sys, json
import numpy as np
import cypool
x = np.array([[[3.0, -4.0], [1e300, 1e300]]])
rois = np.array([[0, 0, 0, 7, 7]], np.float32)
print(json.dumps({
    "file": cypool.__file__,
    "lp": cypool.global_lp_pool(x).ravel().tolist(),
    "roi": cypool.max_roi_pool(np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8), rois, (2, 2)).ravel().tolist(),
    "versions": [version.name for version in cypool.spec.versions()],
    "loaded": sorted({"onnx", "click", "rich", "ml_dtypes", "flint"} & set(sys.modules)),
}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT], check=True)
    (path,) = folder.glob("cypool-*.whl")
    return path


def test_a_clean_environment_needs_numpy_alone(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
    installed = json.loads(subprocess.run([python, "-m", "pip", "list", "--format=json"], capture_output=True, check=True).stdout)
    assert {package["name"] for package in installed} <= {"cypool", "numpy", "pip", "setuptools"}
    used = json.loads(subprocess.run([python, "-c", USE], capture_output=True, check=True, cwd=tmp_path).stdout)
    assert Path(used["file"]).is_relative_to(tmp_path)
    assert used["lp"] == [5.0, 1.4142135623730951e300]
    assert used["roi"] == [27.0, 31.0, 59.0, 63.0]
    assert used["versions"] == [version.name for version in spec.versions()]
    assert used["loaded"] == []
    command = subprocess.run([tmp_path / "env" / "bin" / "cypool", "info"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert command.returncode == 3
    assert command.stderr.strip() == "cypool: this needs the package click: pip install 'cypool[check]'"


def test_the_wheel_is_small_and_holds_what_it_should(wheel):
    assert wheel.stat().st_size < 3_000_000
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "cypool/py.typed",
        "cypool/spec/data/GlobalLpPool.toml",
        "cypool/spec/schema.json",
        "cypool/conformance/reports/page.html.j2",
        "cypool/conformance/expected/onnxruntime.toml",
    ):
        assert needed in names
    assert not [name for name in names if name.startswith(("spec_tests", "benchmarks", "build")) or name.endswith((".c", ".pyx"))]
