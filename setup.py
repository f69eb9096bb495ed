"""Builds the kernels, every source of cypool/kernels once for each CPU level that ``builds.py``
lists for this machine, and what lies before them.

pyproject.toml cannot say this: the builds are a product of two tables, and OpenMP has to be probed
for. Environment: CYPOOL_DEBUG=1 builds kernels with bounds checks and traps for undefined
behaviour; CYPOOL_OPENMP=0 builds without threads.
"""

import multiprocessing
import os
import platform
import runpy
import shutil
import tempfile
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
KERNELS = ROOT / "cypool" / "kernels"
DEBUG = os.environ.get("CYPOOL_DEBUG", "0") not in ("", "0")
TREE = ROOT / "build" / ("cython-debug" if DEBUG else "cython")

table = runpy.run_path(str(KERNELS / "builds.py"))
builds = [v for v in table["BUILDS"] if not v.machines or platform.machine() in v.machines]

FLAGS = ["-O3", "-g0", "-Wno-sign-compare", "-Wno-unused-function", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
if DEBUG:
    FLAGS = [
        "-O1",
        "-g",
        "-DCYPOOL_CHECKED",
        "-ffp-contract=off",
        "-fsanitize=undefined",
        "-fsanitize-undefined-trap-on-error",
        "-fno-sanitize=alignment",
    ]

JOBS = (os.cpu_count() or 1) if multiprocessing.get_start_method() == "fork" else 0
"""Processes that turn Cython into C at the same time.

Started otherwise than by fork, they would run this file again.
"""

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
    "show_performance_hints": False,
}


def copy_if_changed(source: Path, target: Path) -> None:
    """Keep time stamps of what has not changed, so that an unchanged kernel is not
    compiled again.
    """
    if not target.exists() or target.read_bytes() != source.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def extensions() -> list[Extension]:
    """One extension a kernel and variant, each from its own copy of the sources under its real
    dotted name.
    """
    for package in ("cypool", "cypool/kernels"):
        (TREE / package).mkdir(parents=True, exist_ok=True)
        (TREE / package / "__init__.py").touch()
    result = []
    for build in builds:
        folder = TREE / "cypool" / "kernels" / build.name
        for source in (*KERNELS.glob("*.p[yx][xdi]"), *KERNELS.glob("*.h"), KERNELS / build.name / "__init__.py"):
            copy_if_changed(source, folder / source.name)
        for kernel in table["KERNELS"]:
            name = f"cypool.kernels.{build.name}.{kernel}"
            source = str((folder / f"{kernel}.pyx").relative_to(ROOT))
            result.append(Extension(name, [source], include_dirs=[str(folder)], extra_compile_args=[*FLAGS, *build.flags]))
    # What lays arrays before kernels is Python in all but speed, and keeps Python's rules.
    plain = [
        Extension(f"cypool.{module}", [f"cypool/{module}.pyx"], include_dirs=[numpy.get_include()], extra_compile_args=["-O2", "-g0"])
        for module in ("dispatch", "calls")
    ]
    plain.append(
        Extension(
            "cypool.ort.plugin",
            ["cypool/ort/plugin.pyx"],
            include_dirs=[numpy.get_include(), "cypool/ort"],
            depends=["cypool/ort/abi.h"],
            extra_compile_args=["-O2", "-g0"],
            export_symbols=["CreateEpFactories", "ReleaseEpFactory"],  # a library for ONNX Runtime too; only Windows needs to be told
        )
    )
    return [
        *cythonize(result, nthreads=JOBS, include_path=[str(TREE)], compiler_directives=DIRECTIVES, quiet=True),
        *cythonize(
            plain,
            build_dir=str(TREE.relative_to(ROOT)),
            compiler_directives={"language_level": 3, "freethreading_compatible": True},
            quiet=True,
        ),
    ]


class BuildKernels(build_ext):
    """build_ext that asks the compiler for OpenMP first, and goes on without it, saying so, where
    there is none.
    """

    def openmp_works(self) -> bool:
        """Whether a program that uses OpenMP compiles and links."""
        if os.environ.get("CYPOOL_OPENMP", "1") == "0" or self.compiler.compiler_type == "msvc":
            return False
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "probe.c")
            source.write_text("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
            try:
                objects = self.compiler.compile([str(source)], output_dir=folder, extra_postargs=["-fopenmp"])
                self.compiler.link_executable(objects, "probe", output_dir=folder, extra_postargs=["-fopenmp"])
            except Exception:
                return False
            return True

    def use_clang_cl(self) -> None:
        """On Windows compile with clang-cl, which takes the options of gcc behind a prefix;
        Microsoft's own compiler has none of them.
        """
        clang = shutil.which("clang-cl")
        if not clang:
            raise SystemExit("cypool: building on Windows takes clang-cl, which comes with LLVM and with Visual Studio's C++ Clang tools")
        if not self.compiler.initialized:
            self.compiler.initialize()
        self.compiler.cc = clang
        for extension in self.extensions:
            extension.extra_compile_args = [f"/clang:{flag}" for flag in extension.extra_compile_args]

    def build_extensions(self) -> None:
        """Compile, with as many jobs as there are processors unless told otherwise."""
        if self.compiler.compiler_type == "msvc":
            self.use_clang_cl()
        if self.openmp_works():
            for extension in self.extensions:
                if not extension.name.startswith("cypool.kernels."):
                    continue
                extension.extra_compile_args.append("-fopenmp")
                extension.extra_link_args.append("-fopenmp")
        else:
            print("cypool: the compiler has no OpenMP; building kernels that use one thread")
        self.parallel = self.parallel or os.cpu_count()
        super().build_extensions()


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildKernels})
