# On a fresh machine: `make run`, `make check` (two minutes) and `make test` (everything).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: run check test lint format lock bench clean

run: $(VENV)/.run-installed
	$(BIN)/python app.py

# the fast tests: those that need neither a browser nor a server
check: lint
	$(BIN)/pytest --quiet --numprocesses auto --dist loadfile --no-loadscope-reorder -m "not (browser or server or slow)"

# --no-loadscope-reorder keeps the order of tests/conftest.py, slow files first
test: lint
	scripts/system_packages.sh
	$(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

lint: $(VENV)/.test-installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	find web ui game leaderboard tests -name '*.pyi' -delete # Gradio writes them beside components; mypy would believe them
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.test-installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# newest versions in the ranges of requirements.txt, with hashes, for every platform and Python
lock: $(VENV)/bin/python requirements.txt
	$(BIN)/pip install --disable-pip-version-check --quiet --editable ".[lock]"
	$(BIN)/uv pip compile requirements.txt --universal --python-version 3.11 --generate-hashes \
		--upgrade --no-header --no-annotate --quiet --output-file requirements.lock

bench: $(VENV)/.test-installed
	$(BIN)/python -m perf

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run-installed: $(VENV)/bin/python requirements.txt pyproject.toml
	$(BIN)/pip install --disable-pip-version-check --quiet --editable ".[app]"
	touch $@

$(VENV)/.test-installed: $(VENV)/bin/python requirements.txt pyproject.toml
	$(BIN)/pip install --disable-pip-version-check --quiet --editable ".[test]"
	touch $@ $(VENV)/.run-installed
