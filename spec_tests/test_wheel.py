"""The distributions as users get them: the sdist of a tree without git, the wheel that is built
from it, installed in a clean environment with numpy alone and used from outside the source tree;
and what is said where nothing was built.
"""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
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


ELSEWHERE = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
"""The environment of commands that must not find this source tree."""


def finished(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, env=ELSEWHERE, **options)


def run(*command, **options):
    """What a command prints; the test fails with all of it if the command does."""
    done = finished(*command, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files():
    """The files of the source tree: those that git knows, or, without git, all that .gitignore does
    not list.
    """
    if (ROOT / ".git").exists():
        return {name for name in run("git", "-C", ROOT, "ls-files", "-z").split("\0") if name and (ROOT / name).exists()}
    ignored = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text().splitlines() if not line.startswith("!")]
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    kept = (path for path in found if not any(fnmatch.fnmatch(part, pattern) for part in path.parts for pattern in ignored))
    return {*map(str, kept), *(str(path.relative_to(ROOT)) for path in ROOT.glob("examples/**/*.c"))} - {"PKG-INFO", "setup.cfg"}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    for name in files():
        (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / "tree" / name)
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, folder / "tree")
    (path,) = folder.glob("cypool-*.tar.gz")
    return path


@pytest.fixture(scope="module")
def unpacked(sdist, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, sdist)
    (path,) = folder.glob("cypool-*.whl")
    return path


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The interpreter of a clean environment that the wheel was installed in."""
    folder = tmp_path_factory.mktemp("clean")
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", wheel)
    return folder / "bin" / "python"


def test_the_sdist_holds_the_whole_tree(unpacked):
    held = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}
    assert files() - held == set()
    made = {name for name in held - files() if not name.startswith("cypool.egg-info/")}
    assert made == {"PKG-INFO", "setup.cfg"}


def test_an_unbuilt_tree_says_so_and_how_to_build(unpacked):
    said = (
        re.escape(f"cypool is not built: {unpacked / 'cypool'} lacks compiled modules (*")
        + r"\S+"
        + re.escape(
            f") for this Python; `make check` in {unpacked} builds it in a .venv there, `pip install --editable {unpacked}` for this Python"
        )
    )
    imported = finished(sys.executable, "-c", "import cypool", cwd=unpacked)
    assert re.fullmatch(f"ImportError: {said}", imported.stderr.splitlines()[-1])
    called = finished(sys.executable, "-m", "cypool_command", "info", cwd=unpacked)
    assert (called.stdout, called.returncode) == ("", 3)
    assert re.fullmatch(f"cypool: {said}\n", called.stderr)


def test_an_editable_install_is_a_folder_on_the_path(unpacked, tmp_path):
    """mypy and editors read .pth files and run no import hook."""
    tree = tmp_path / "tree"
    shutil.copytree(unpacked, tree)
    builds = tree / "cypool/kernels/builds.py"  # few kernels are quickly compiled
    builds.write_text(builds.read_text() + '\nBUILDS, KERNELS = BUILDS[:1], ("cpu",)\n')
    build = f"from setuptools import build_meta; build_meta.build_editable({str(tmp_path)!r})"
    run(sys.executable, "-c", build, cwd=tree)
    (path,) = tmp_path.glob("cypool-*.whl")
    with zipfile.ZipFile(path) as archive:
        (name,) = [name for name in archive.namelist() if ".dist-info/" not in name]
        assert name.endswith(".pth")
        assert Path(archive.read(name).decode().strip()).samefile(tree)
    assert (tree / "cypool/py.typed").exists()


def test_python_m_cypool_is_the_command(python, tmp_path):
    done = finished(python, "-m", "cypool", "info", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.strip() == "cypool: this needs the package click: pip install 'cypool[check]'"


def test_the_index_is_told_who_where_and_for_what(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode()
    assert {line.partition(",")[0] for line in re.findall("^Project-URL: (.*)$", metadata, re.MULTILINE)} == {
        "Homepage",
        "Documentation",
        "Changelog",
        "Issues",
    }
    assert re.search("^Author: The cypool developers$", metadata, re.MULTILINE)
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in range(11, 15)} <= set(
        re.findall("^Classifier: (.*)$", metadata, re.MULTILINE)
    )


def test_a_clean_environment_needs_numpy_alone(python, tmp_path):
    installed = json.loads(run(python, "-m", "pip", "list", "--format=json"))
    assert {package["name"] for package in installed} <= {"cypool", "numpy", "pip", "setuptools"}
    used = json.loads(run(python, "-c", USE, cwd=tmp_path))
    assert Path(used["file"]).is_relative_to(python.parent.parent)
    assert used["lp"] == [5.0, 1.4142135623730951e300]
    assert used["roi"] == [27.0, 31.0, 59.0, 63.0]
    assert used["versions"] == [version.name for version in spec.versions()]
    assert used["loaded"] == []
    command = finished(python.with_name("cypool"), "info", cwd=tmp_path)
    assert command.returncode == 3
    assert command.stderr.strip() == "cypool: this needs the package click: pip install 'cypool[check]'"


def test_the_wheel_is_small_and_holds_what_it_should(wheel):
    assert wheel.stat().st_size < 6_000_000
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


FROZEN = """
import numpy as np
import cypool
print(cypool.global_lp_pool(np.array([[[3.0, -4.0]]])).item(), cypool.spec.operators())
"""


def test_pyinstaller_takes_all_that_calls_need(python, tmp_path):
    run(python, "-m", "pip", "install", "--quiet", "pyinstaller")
    (tmp_path / "app.py").write_text(FROZEN)
    run(python, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN", "app.py", cwd=tmp_path)
    assert run(tmp_path / "dist" / "app" / "app", cwd=tmp_path) == f"5.0 {spec.operators()}\n"
