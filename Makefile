# One command each. Everything happens in .venv, inside this folder; nothing else on the machine is touched.
PYTHON ?= python3
BIN := .venv/bin
GATES ?= cypool
CALLS ?= 100000
ORT_VERSIONS ?= 1.24.4 1.27.0 newest
OLDEST := arrays backend calls check_cli command_run dask export_tensors reference report_junit report_terminal session_functions session_models
KERNELS := $(wildcard cypool/*.pyx cypool/*.pxd cypool/ort/*.pyx cypool/ort/*.h cypool/kernels/*.py cypool/kernels/*.pyx cypool/kernels/*.px[di] cypool/kernels/*.h)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: check test test-all-cases test-debug test-hostile test-oldest test-ort-versions lint format docs manifest platforms bench bench-guard clean

check: .venv/check.stamp  ## build cypool and hold it, and every other runtime that is installed, to the standard; GATES decide
	$(BIN)/cypool check --installed --expect shipped $(addprefix --gate ,$(GATES))

test: .venv/test.stamp test-debug  ## all tests
	$(BIN)/pytest -n 2 --dist worksteal

test-all-cases: .venv/test.stamp  ## what test does with the core of the cases, with all of them
	CYPOOL_ALL_CASES=1 $(BIN)/pytest -n 2 --dist worksteal spec_tests/test_matrix.py spec_tests/test_cases_rulings.py

test-debug: .venv/test.stamp  ## the matrix on kernels built with bounds checks and traps for undefined behaviour
	CYPOOL_DEBUG=1 $(BIN)/python setup.py --quiet build --build-base build/debug --build-lib build/debug/lib
	CYPOOL_DEBUG=1 CYPOOL_HOSTILE_CALLS=5000 PYTHONPATH=build/debug/lib $(BIN)/pytest -q -n 2 $(addprefix spec_tests/test_,matrix.py boxes.py hostile.py)

test-hostile: .venv/test.stamp  ## CALLS hostile calls of each kind, on kernels built with an address sanitiser; needs gcc, and minutes
	CYPOOL_DEBUG=1 CC='gcc -fsanitize=address' \
		$(BIN)/python setup.py --quiet build --build-base build/address --build-lib build/address/lib
	LD_PRELOAD=$$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 CYPOOL_HOSTILE_CALLS=$(CALLS) PYTHONPATH=build/address/lib \
		$(BIN)/pytest -q -n 2 spec_tests/test_hostile.py -k 'refused_in_words'

test-oldest: .venv/oldest.stamp  ## what stands on other packages, on the oldest of each that pyproject.toml allows; wants Python 3.11 or 3.12
	PYTHONPATH=$(CURDIR) .venv/oldest/bin/python -m pytest -q -n 2 $(addprefix spec_tests/test_,$(addsuffix .py,$(OLDEST)))

test-ort-versions: .venv/test.stamp  ## the plug-in in versions of ONNX Runtime old and new, each in an environment of its own
	PYTHONPATH=spec_tests $(BIN)/python spec_tests/ort_work.py $(ORT_VERSIONS)

lint: .venv/lint.stamp  ## style, types, Cython, workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PATH="$(CURDIR)/.venv/bin:$$PATH" cython-lint cypool
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-actions .github/actions/*/action.yml

format: .venv/lint.stamp  ## put the sources in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/test.stamp  ## write the pages that are generated from the spec data
	$(BIN)/python -m cypool.pages

manifest: .venv/test.stamp  ## write the manifest of all cases, and the record of cypool's outputs for them
	$(BIN)/python -m cypool.conformance.cases.manifest
	$(BIN)/python platforms/check.py --write

platforms: .venv/test.stamp  ## build and check on other platforms, PLATFORMS or all; needs root, debootstrap, qemu-user and clang
	PYTHON=$(BIN)/python platforms/run.sh $(PLATFORMS)

bench: .venv/bench.stamp  ## race cypool against its peers; BENCH="--quick --op MaxPool" for a minute of it
	$(BIN)/python -m benchmarks $(BENCH)

bench-guard: .venv/test.stamp  ## instruction counts of the inner loops against those on record; needs valgrind
	$(BIN)/python -m benchmarks.guard

clean:
	rm -rf .venv build dist *.egg-info cypool/kernels/*/*.so

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(PIP) --upgrade pip

.venv/check.stamp: .venv/bin/python pyproject.toml setup.py $(KERNELS)
	$(PIP) --editable '.[check]' onnxruntime openvino tract
	touch $@

.venv/test.stamp: .venv/check.stamp
	$(PIP) --group test 'setuptools>=77' 'cython>=3.1'
	touch $@

.venv/oldest.stamp: .venv/test.stamp .ci/oldest.py
	$(PYTHON) -m venv .venv/oldest
	.venv/oldest/bin/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python .ci/oldest.py)
	touch $@

.venv/lint.stamp: .venv/test.stamp
	$(PIP) --group lint
	touch $@

.venv/bench.stamp: .venv/check.stamp benchmarks/requirements.txt
	$(PIP) --requirement benchmarks/requirements.txt
	touch $@
