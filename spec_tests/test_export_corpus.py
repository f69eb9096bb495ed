"""A corpus on disk: the same bytes always, whole or not there, and read back as the cases it was
made from.
"""

import hashlib
import json
import os
import subprocess
import sys

import onnx
import pytest
from all_cases import every

from cypool.conformance.corpus import corpus, export, layout
from cypool.conformance.corpus.corpus import CorpusError

SAMPLE = every()[::60]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    directory = tmp_path_factory.mktemp("exported") / "corpus"
    export.export(SAMPLE, directory)
    return directory


def contents(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_the_whole_corpus_has_the_hash_that_is_recorded_for_its_version():
    hash = export.corpus_hash(every())
    assert hash == export.HASHES[export.VERSION], f"the corpus has changed: raise VERSION and add {hash} to HASHES"
    assert list(export.HASHES) == list(range(1, export.VERSION + 1))


def test_exporting_twice_gives_the_same_bytes_also_from_another_process(tmp_path):
    program = (
        "import itertools, pathlib, sys; from cypool.conformance import cases; from cypool.conformance.corpus import export;"
        "export.export(itertools.islice(cases.generate(), 100), pathlib.Path(sys.argv[1]))"
    )
    for seed in "12":  # of the hashes of strings, by which sets are ordered
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", program, tmp_path / seed], check=True, env=environment)
    first, second = contents(tmp_path / "1"), contents(tmp_path / "2")
    assert first == second and len(first) > 300


def test_files_and_bytes_are_counted(tmp_path):
    written = export.export(SAMPLE[:5], tmp_path / "corpus")
    found = contents(tmp_path / "corpus")
    assert (written.files, written.bytes) == (len(found), sum(map(len, found.values())))


def test_the_hash_is_what_sha256sum_gives(exported):
    """The manifest's own is the corpus'; a case's is that of sha256sum's lines about its files."""
    assert export.export(SAMPLE, exported.parent / "second").hash == hashlib.sha256((exported / "manifest.json").read_bytes()).hexdigest()
    manifest = json.loads((exported / "manifest.json").read_text())
    for facts in (manifest["valid"][3], manifest["invalid"][3]):
        lines = subprocess.run(["sha256sum", *sorted(facts["files"])], cwd=exported / facts["path"], capture_output=True, check=True).stdout
        assert hashlib.sha256(lines).hexdigest() == facts["hash"]


def test_the_manifest_says_of_each_case_what_a_harness_filters_by(exported):
    def no_constants(name):
        raise AssertionError(f"{name} is no JSON")

    manifest = json.loads((exported / "manifest.json").read_text(), parse_constant=no_constants)
    assert (manifest["format"], manifest["corpus"]) == (1, export.VERSION)
    stated = {facts["id"]: facts for facts in manifest["valid"] + manifest["invalid"]}
    assert set(stated) == {case.id for case in SAMPLE}
    for case in SAMPLE:
        facts = stated[case.id]
        assert (facts["operator"], facts["version"], facts["type"]) == (case.version.op, case.version.since_version, case.type)
        assert facts["tags"] == sorted(case.tags) and facts["ruling"] == list(case.rulings)
        assert facts["inputs"] == [tensor.name for tensor in case.inputs] and facts["outputs"] == list(case.outputs)
        assert set(facts["files"]) == set(contents(exported / facts["path"]))
        assert facts["models"]["model.onnx"] == facts["opset"]
        if case.fault is None:
            assert facts in manifest["valid"] and facts["path"].startswith("valid/") and "fault" not in facts
            assert facts["tolerance"] == json.loads((exported / facts["path"] / "data.json").read_text())
            exact = any("int" in tensor.type for tensor in case.expected)  # one integer output makes all exact
            assert facts["tolerance"]["rtol"] == (0 if exact else 2**-6 if case.type == "bfloat16" else 1e-3)
            assert exact == (facts["tolerance"]["atol"] == 0) and facts["tolerance"]["atol"] <= 1e-7
            assert sorted(reading["name"] for reading in facts["readings"]) == sorted(case.alternatives)
        else:
            assert facts in manifest["invalid"] and facts["path"].startswith("invalid/") and facts["fault"] == case.fault
            assert not any("output" in name for name in facts["files"])


def test_a_reading_is_stated_with_its_ruling_and_whether_the_text_allows_it():
    case = next(case for case in every() if "exact" in case.alternatives)
    (exact,) = (reading for reading in layout.describe(case)["readings"] if reading["name"] == "exact")
    assert exact == {"name": "exact", "ruling": "bin-precision", "legitimate": True}
    case = next(case for case in every() if "no-abs" in case.alternatives)
    assert {"name": "no-abs", "ruling": "sign", "legitimate": False} in layout.describe(case)["readings"]


@pytest.mark.parametrize(
    ("version", "models"),
    [
        ("GlobalLpPool-1", {"model.onnx": 1}),
        ("GlobalLpPool-2", {"model.onnx": 2, "model_opset21.onnx": 21}),
        ("GlobalLpPool-22", {"model.onnx": 22, "model_opset28.onnx": 28}),
        ("MaxRoiPool-1", {"model.onnx": 1, "model_opset21.onnx": 21}),
    ],
)
def test_there_is_a_model_for_the_first_and_one_for_the_last_opset(version, models):
    case = next(case for case in every() if case.version.name == version)
    found = corpus.case_files(case)
    assert corpus.entry(case, found)["models"] == models
    for name, opset in models.items():
        assert onnx.load_model_from_string(found[name]).opset_import[0].version == opset


def test_names_are_fit_for_every_file_system_and_no_two_are_one():
    names = [layout.directory_name(case.id) for case in every()]
    assert len({name.casefold() for name in names}) == len(names)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") for name in names)
    assert all(name[-1] != "." and len(name) < 200 for name in names)
    assert [name.removeprefix("test_").replace("__", "/") for name in names] == [case.id for case in every()]


def test_what_is_read_back_is_what_was_written(exported):
    found = {case.id: case for case in corpus.read(exported)}
    for case in SAMPLE:
        read = found[case.id]
        assert (read.version, read.type, read.inputs, read.tags) == (case.version, case.type, case.inputs, case.tags)
        assert (read.rulings, sorted(read.alternatives), read.fault) == (case.rulings, sorted(case.alternatives), case.fault)
        assert [(name, typed.type) for name, typed in read.attributes] == [(name, typed.type) for name, typed in case.attributes]
        if case.fault is None:
            assert read.expected == case.expected and read.readings == case.readings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: (path / "valid").rename(path / "gone"), "No such file or directory"),
        (lambda path: (path / "manifest.json").unlink(), "manifest.json: No such file or directory"),
        (lambda path: (path / "manifest.json").write_text("[]"), "corpus is no corpus: TypeError"),
        (lambda path: (path / "manifest.json").write_text("five"), "corpus is no corpus: JSONDecodeError"),
        (lambda path: (path / "manifest.json").write_text('{"format": 2}'), "is a corpus of format 2, not 1"),
        (lambda path: next(path.glob("valid/*/model.onnx")).write_bytes(b""), "has changed since it was exported"),
    ],
)
def test_a_corpus_that_is_not_as_exported_is_refused(tmp_path, change, message):
    export.export(SAMPLE[:3], tmp_path / "corpus")
    change(tmp_path / "corpus")
    with pytest.raises(CorpusError, match=message):
        corpus.read(tmp_path / "corpus")


class Interrupted(Exception):
    pass


def interrupted_cases():
    yield from SAMPLE[:3]
    raise Interrupted


def test_an_export_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(Interrupted):
        export.export(interrupted_cases(), tmp_path / "corpus")
    assert list(tmp_path.iterdir()) == []


def test_an_export_with_another_hash_than_asked_for_leaves_nothing(tmp_path):
    with pytest.raises(CorpusError, match=rf"is not corpus {export.VERSION}: its hash is [0-9a-f]{{64}}, not another"):
        export.export(SAMPLE[:3], tmp_path / "corpus", "another")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_directory_is_filled(tmp_path):
    (tmp_path / "corpus").mkdir()
    export.export(SAMPLE[:3], tmp_path / "corpus")
    assert len(corpus.read(tmp_path / "corpus")) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_files_and_directories_are_as_open_as_any_others(tmp_path):
    (tmp_path / "plain").mkdir()
    export.export(SAMPLE[:3], tmp_path / "corpus")
    assert (tmp_path / "corpus").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("kind", ["file", "full", "link"])
def test_what_is_there_is_not_touched(tmp_path, kind):
    target = tmp_path / "corpus"
    if kind == "file":
        target.write_text("mine")
    elif kind == "full":
        target.mkdir()
        (target / "mine").write_text("mine")
    else:
        (tmp_path / "elsewhere").mkdir()
        target.symlink_to(tmp_path / "elsewhere")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileExistsError, match="exists and is not an empty directory"):
        export.export(SAMPLE[:3], target)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_place_that_is_taken_is_refused_before_any_work(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(FileExistsError):
        export.export(interrupted_cases(), tmp_path)


def test_what_takes_the_place_meanwhile_is_not_touched(tmp_path):
    target = tmp_path / "corpus"

    def cases():
        yield from SAMPLE[:2]
        target.mkdir()
        (target / "mine").write_text("mine")

    with pytest.raises(FileExistsError):
        export.export(cases(), target)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["corpus", "mine"]
