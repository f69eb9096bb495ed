"""What the plug-in does to a process: how it is imported, forked, ended, and how much memory it
holds on to.
"""

import subprocess
import sys
import textwrap

import pytest

PROLOGUE = """
import gc, os, sys, threading
import numpy as np, onnxruntime as ort
import cypool.ort
from ort_support import norm, plain, session, norms, rois
X = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2)
"""


def python(program, prologue=PROLOGUE, **how):
    """A program, run to its end."""
    text = prologue + textwrap.dedent(program)
    settings = {"capture_output": True, "text": True, "timeout": 240, **how}
    return subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {sys.path[0]!r})\n{PATH}{text}"], **settings)


PATH = f"import sys; sys.path.insert(0, {str(__file__).rpartition('/')[0]!r})\n"


def clean(program, prologue=PROLOGUE):
    """What a program prints that ends well and says nothing else."""
    done = python(program, prologue)
    assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stderr)
    return done.stdout


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("sys.modules['onnxruntime'] = None", "cypool.ort needs onnxruntime 1.24 or newer: "),
        ("sys.modules['onnxruntime'] = type('M', (), {'__version__': '1.23.2'})", "1.24 or newer, this is 1.23.2 (pip install --upgrade"),
        ("sys.modules['onnxruntime'] = type('M', (), {'__version__': '0.9'})", "1.24 or newer, this is 0.9"),
        ("sys.modules['onnxruntime'] = type('M', (), {})", "1.24 or newer, this is unknown"),
        ("sys.modules['cypool.ort.plugin'] = None", "cypool is not built: "),
    ],
)
def test_importing_fails_in_one_line_that_says_what_is_needed(before, words):
    out = clean(
        f"""
        import sys
        {before}
        try:
            import cypool.ort
        except ImportError as error:
            print(error)
        """,
        "",
    )
    assert words in out
    assert len(out.splitlines()) == 1


def test_importing_registers_once():
    assert (
        clean("""
        import importlib
        cypool.ort.register()
        importlib.reload(cypool.ort)
        print(len(cypool.ort.devices()), len([d for d in ort.get_ep_devices() if d.ep_name == "CypoolExecutionProvider"]))
        """)
        == "1 1\n"
    )


def test_importing_cypool_imports_no_runtime():
    assert clean("import sys, cypool; print('onnxruntime' in sys.modules, 'cypool.ort' in sys.modules)", "") == "False False\n"


def test_a_library_that_python_has_not_run_is_refused():
    out = clean(
        """
        import importlib.util, pathlib, sys
        import onnxruntime, cypool
        (path,) = pathlib.Path(cypool.__file__).parent.glob("ort/plugin.*.so")
        try:
            onnxruntime.register_execution_provider_library("mine", str(path))
        except Exception as error:
            print("refused")
        print([device.ep_name for device in onnxruntime.get_ep_devices() if "ypool" in device.ep_name])
        """,
        "",
    )
    assert out.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "keep",
    [
        "",
        "class Node: pass\nnode = Node(); node.me, node.session = node, s\ndel s",
        "import builtins; builtins.kept = s",
        "import atexit; atexit.register(lambda: s.run(None, {'x': X}))",
        "threading.Thread(target=lambda: [s.run(None, {'x': X}) for _ in range(200)]).start()",
    ],
    ids=["a variable", "a cycle", "a builtin", "at exit", "a thread"],
)
def test_a_process_ends_well_with_a_session_alive(keep):
    assert clean(f"s = session(norm()); s.run(None, {{'x': X}})\n{keep}\nprint('end')") == "end\n"


def test_a_session_goes_when_nobody_holds_it():
    """In a cycle as well; kernels are objects that would stay with it."""
    assert (
        clean("""
        from cypool.ort import plugin
        def nodes():
            gc.collect()
            return plugin.alive()
        before = nodes()
        sessions = [session(norm()) for _ in range(5)]
        sessions.append(sessions)
        print(nodes() - before, end=" ")
        del sessions
        print(nodes() - before)
        """)
        == "5 0\n"
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_a_forked_child_runs_sessions_and_makes_them(threads):
    assert (
        clean(f"""
        x = np.ones((8, 64, 64, 64), np.float32)
        options = plain(intra_op_num_threads=1)
        s = session(norm(), options, threads={threads})
        answer = s.run(None, {{"x": x}})[0]
        child = os.fork()
        if child == 0:
            same = s.run(None, {{"x": x}})[0].tobytes() == answer.tobytes()
            other = session(norm(), plain(intra_op_num_threads=1), threads={threads}).run(None, {{"x": x}})[0]
            os._exit(0 if same and other.tobytes() == answer.tobytes() else 3)
        print(os.waitpid(child, 0)[1])
        """)
        == "0\n"
    )


def test_600_sessions_and_20000_runs_hold_on_to_no_memory():
    out = clean("""
        def memory():
            gc.collect()
            return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        model = norm().SerializeToString()
        options = lambda: plain(intra_op_num_threads=1)
        def work(sessions, runs):
            for _ in range(sessions):
                session(model, options()).run(None, {"x": X})
            s = session(model, options())
            for n in range(runs):
                s.run(None, {"x": X})
                if n % 10 == 0:
                    try:
                        s.run(None, {"x": X[0, 0, 0]})
                    except Exception:
                        pass
        work(100, 2000)
        before = memory()
        work(600, 20000)
        print(memory() - before)
        """)
    assert float(out) < 2, "MiB"


def test_bfloat16_needs_no_ml_dtypes():
    assert (
        clean(
            """
        import ctypes, sys
        sys.path.insert(0, sys.path[1])
        import onnxruntime as ort, numpy as np
        from onnx import helper
        from ort_support import norm, rois, session
        for name in [name for name in sys.modules if name.partition(".")[0] == "ml_dtypes"]:
            del sys.modules[name]
        sys.modules["ml_dtypes"] = None
        def value(numbers, shape):
            bits = (np.array(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16).reshape(shape)
            return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, 16)
        def floats(value, count):
            bits = np.frombuffer(ctypes.string_at(value.data_ptr(), 2 * count), np.uint16).astype(np.uint32) << 16
            return bits.view(np.float32).tolist()
        x = value([3, -4], (1, 1, 2))
        (y,) = session(norm(22, "bfloat16")).run_with_ort_values(None, {"x": x})
        print(floats(y, 1), end=" ")
        image = value([1, 2, 3, 4], (1, 1, 2, 2))
        pool = session(rois(22, "bfloat16"))
        (y,) = pool.run_with_ort_values(None, {"x": image, "rois": value([0, 0, 0, 1, 1], (1, 5))})
        print(floats(y, 4))
        try:
            pool.run_with_ort_values(None, {"x": image, "rois": value([7, 0, 0, 1, 1], (1, 5))})
        except Exception as error:
            print("rois[0, 0] is 7.0, expected an integer from 0 to 0" in str(error))
        """,
            "",
        )
        == "[5.0] [1.0, 2.0, 3.0, 4.0]\nTrue\n"
    )
