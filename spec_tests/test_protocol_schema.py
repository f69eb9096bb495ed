"""The protocol as it is written down: the page, the schema and what the two ends say agree."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import cypool
from cypool.conformance import cases
from cypool.conformance.asking import runner
from cypool.conformance.asking.protocol import ANSWERED, PHASES, PROTOCOL, Outcome, ProtocolError, encode, run_request
from cypool.conformance.cases import variants
from cypool.conformance.cases.instances import spread
from cypool.conformance.tensors import DTYPES, Tensor

DOCS = Path(cypool.__file__).parent.parent / "docs"
SCHEMA = json.loads((DOCS / "protocol.schema.json").read_text())
X = Tensor.of("X", np.ones((1, 2), np.float32))


def fits(record: Any, kind: str) -> bool:
    validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]})
    return bool(validator.is_valid(record))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_has_the_words_of_the_code() -> None:
    definitions = SCHEMA["$defs"]
    assert set(definitions["tensor"]["properties"]["type"]["enum"]) == set(DTYPES)
    assert ["ok", *definitions["refusal"]["properties"]["status"]["enum"]] == list(ANSWERED)
    assert definitions["refusal"]["properties"]["phase"]["enum"] == list(PHASES)
    assert definitions["description"]["properties"]["protocol"]["const"] == PROTOCOL
    options = {option for variant in variants.VARIANTS.values() for option in variant.options}
    assert set(definitions["description"]["properties"]["options"]["items"]["enum"]) == options
    assert options <= set(definitions["run"]["properties"])


def test_what_the_runner_says_fits_whatever_the_case() -> None:
    some = [case for case in cases.generate() if case.type in ("float", "bfloat16") and ("odd" in case.id or "invalid" in case.id)]
    requests = [runner.request_of(case) for case in spread(some[::25], variants=list(variants.VARIANTS))]
    requests += [encode({"cmd": "describe"}), encode({"cmd": "stop"})]
    assert len(requests) > 100
    assert [line for line in requests if not fits(json.loads(line), "request")] == []


def test_what_our_worker_says_fits() -> None:
    request = run_request("a", b"no model", [X], ["Y"])
    plain = next(case for case in cases.generate(["GlobalLpPool"]) if case.fault is None)
    said = subprocess.run(
        [sys.executable, "-m", "cypool.conformance.asking.worker", "cypool"],
        input=encode({"cmd": "describe"}) + request + runner.request_of(plain) + encode({"cmd": "stop"}),
        capture_output=True,
        check=True,
    ).stdout
    description, refusal, outputs = map(json.loads, said.splitlines())
    assert fits(description, "description")
    assert fits(refusal, "refusal")
    assert (refusal["id"], refusal["status"], refusal["phase"]) == ("a", "error", "load")
    assert fits(outputs, "outputs")
    assert outputs["id"] == plain.id
    missing = subprocess.run([sys.executable, "-m", "cypool.conformance.asking.worker", "no_such"], input=b"", capture_output=True).stdout
    assert fits(json.loads(missing), "unavailable")


@pytest.mark.parametrize(
    "answer",
    [
        {"id": "a", "status": "ok"},
        {"id": "a", "status": "ok", "outputs": [{"name": "Y", "type": "complex", "shape": [], "data": ""}]},
        {"id": "a", "status": "ok", "outputs": [{"name": "Y", "type": "float", "shape": [-1], "data": ""}]},
        {"id": "a", "status": "ok", "outputs": [{"name": "Y", "type": "float", "shape": [0], "data": "?"}]},
        {"id": "a", "status": "ok", "outputs": [{"name": "Y", "type": "float", "shape": [1e999], "data": ""}]},
        {"id": "a", "status": "error", "phase": "compile"},
        {"id": "a", "status": "error"},
        {"id": "a", "status": "crashed", "phase": "run"},
    ],
)
def test_what_the_schema_refuses_the_runner_refuses(answer: dict[str, Any]) -> None:
    assert not fits(answer, "answer")
    with pytest.raises(ProtocolError):
        Outcome.from_json(answer)


def test_members_that_are_not_known_are_passed_over() -> None:
    answer = {"id": "a", "status": "error", "phase": "run", "since": "yesterday"}
    assert fits(answer, "answer")
    assert Outcome.from_json(answer) == Outcome("error", phase="run")


def test_the_messages_of_the_page_fit() -> None:
    """Where it writes ``...``, anything may stand."""
    text = (DOCS / "protocol.md").read_text()
    written = re.findall(r'`(\{".+?\})`', text, re.DOTALL)
    assert len(written) > 6
    stand_ins = {"id": "a", "model": "", "name": "x", "version": "1", "message": "why", "outputs": [X.to_json()], "inputs": [X.to_json()]}
    for message in written:
        filled = re.sub(r'"(\w+)": (?:\.\.\.|\[\.\.\.\])', lambda member: f'"{member[1]}": {json.dumps(stand_ins[member[1]])}', message)
        filled = filled.replace('"..."', '"why"')
        record = json.loads(filled)
        assert fits(record, "request") or fits(record, "answer"), message


def test_a_shape_too_large_for_64_bits_is_not_filled_by_no_bytes() -> None:
    answer = {"id": "a", "status": "ok", "outputs": [{"name": "Y", "type": "float", "shape": [2**32, 2**32], "data": ""}]}
    with pytest.raises(ProtocolError, match="0 bytes for float"):
        Outcome.from_json(answer)
