# Two of these need nothing but Python 3.11, pip and make: `make demo` and `make test`.
# Each makes .venv by itself and installs from the lock.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
JOBS ?= 2
PYTEST_ARGS ?=

# The first Python that really starts and is new enough.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3; do \
	$$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null \
	&& echo $$python && break; done)

.PHONY: help demo test lint lint-ruff lint-format lint-imports lint-mypy lint-pyright format bench soak walkthrough services lock clean

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

demo: $(VENV)/.run  ## show the main job with a scripted model: no key, no account
	$(BIN)/wakeful demo $(DEMO_ARGS)

test: $(VENV)/.dev services  ## the whole suite
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(PYTEST_ARGS)

lint: lint-ruff lint-format lint-imports lint-mypy lint-pyright  ## ruff, imports, mypy, pyright

lint-ruff: $(VENV)/.dev
	$(BIN)/ruff check

lint-format: $(VENV)/.dev
	$(BIN)/ruff format --check

lint-imports: $(VENV)/.dev
	$(BIN)/lint-imports

lint-mypy: $(VENV)/.dev
	$(BIN)/mypy

lint-pyright: $(VENV)/.dev
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(VENV)/.dev  ## let ruff write what it would complain about
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.dev  ## the benchmarks, as ratios within one run
	$(BIN)/python -m benchmarks

soak: $(VENV)/.dev services  ## the kill matrix with all its kills
	WAKEFUL_KILLS=200 WAKEFUL_SESSIONS=10000 $(BIN)/python -m pytest tests/acceptance --timeout 3600 $(PYTEST_ARGS)

walkthrough: $(VENV)/.dev  ## what the README says, in a fresh clone and a fresh environment
	$(BIN)/python -m pytest -m fresh --fresh $(PYTEST_ARGS)

services:  ## bring what the tests need beside Python, or say what is skipped
	@sh tests/services/bring.sh

lock: $(VENV)/.dev  ## pin every dependency again
	$(BIN)/uv pip compile $(LOCK_ARGS) --extra postgres -o requirements.lock
	$(BIN)/uv pip compile $(LOCK_ARGS) --extra postgres --extra local --group dev \
		-c requirements.lock -o requirements-dev.lock

LOCK_ARGS := pyproject.toml -q --universal --python-version 3.11 --no-annotate --strip-extras \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

clean:  ## remove the environment and every cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Wakeful needs Python 3.11, 3.12 or 3.13: install one," \
		"or name it with make PYTHON=/path/to/python3.11." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) install -q -r requirements.lock
	PIP_CONSTRAINT=requirements-dev.lock $(PIP) install -q --no-deps -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.run
	$(PIP) install -q -r requirements-dev.lock
	@touch $@
