# Every target makes .venv when it is missing or older than pyproject.toml. Start with `make demo`.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Tests start commands, each of which would compile every module of Python again where the environment forbids to keep them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo kernel fortran test check hunt style lint quick-tests all-tests bench docs clean
.DEFAULT_GOAL := demo

demo: .venv/.stamp  ## simulate the rectifier of Carver: event table, NetCDF and a picture
	@mkdir -p build
	$(BIN)/tidegate run examples/carver_circuit.py --sensitivity a5 --plot build/carver.png --out build/carver.nc

style: .venv/.stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache

lint: style  ## style, types and import contracts
	$(BIN)/pyright --pythonpath $(BIN)/python

check: style quick-tests  ## style, import contracts and the quick tests; types, which take a minute, are for lint and test

test: .venv/.stamp-dev  ## lint, all tests but those of hunt, coverage
	@$(MAKE) --no-print-directory -j2 lint all-tests

# workers share the processors; each would ask for all of them
quick-tests all-tests hunt: export OPENBLAS_NUM_THREADS = 1

quick-tests: .venv/.stamp-dev kernel fortran
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow" --hypothesis-profile=quick

all-tests: .venv/.stamp-dev kernel fortran
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not hunt" --cov=tidegate --cov-report=term

hunt: .venv/.stamp-dev kernel fortran  ## all random models and variants, of which the others take the first: half an hour
	$(BIN)/python -m pytest -q -n auto --dist worksteal

kernel: .venv/.stamp  ## compile the whole kernel once, before every worker of the tests would
	@$(BIN)/tidegate compile

# Compiled DSblocks are tested in Fortran, too; without a compiler these tests fail and say so.
fortran:  ## a Fortran compiler, installed where it is missing and apt-get can
	@command -v "$${FC:-gfortran}" > /dev/null || { echo "installing gfortran"; \
		apt-get install -y gfortran > /dev/null 2>&1 || { apt-get update > /dev/null 2>&1; apt-get install -y gfortran > /dev/null 2>&1; } || \
		echo "gfortran could not be installed; tests of DSblocks in Fortran will fail: install it (apt-get install gfortran), or name one in FC" >&2; }

bench: .venv/.stamp-bench  ## ratios against other solvers, in one run; with cc and libsundials-dev (apt-get) also against SUNDIALS in C
	$(BIN)/python -m benchmarks

docs: .venv/.stamp-docs  ## the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

clean:  ## everything that can be made again
	rm -rf build dist site .venv .pytest_cache .ruff_cache .hypothesis .coverage

.venv/.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null || \
		{ echo "tidegate needs Python 3.12 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null || echo missing); try: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing tidegate into .venv"
	@$(PIP) --editable .
	@$(BIN)/tidegate compile --usual
	@touch $@

.venv/.stamp-%: .venv/.stamp
	@echo "installing tidegate[$*] into .venv"
	@$(PIP) --editable '.[$*]'
	@touch $@

.SECONDARY:
