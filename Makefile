# Two commands on a fresh machine: `make run` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: run test lint format bench clean

run: $(VENV)/.run-installed
	$(BIN)/python app.py

test: $(VENV)/.test-installed lint
	scripts/system_packages.sh
	$(BIN)/pytest --numprocesses auto --dist loadfile

lint: $(VENV)/.test-installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	rm -f web/*.pyi ui/*.pyi game/*.pyi leaderboard/*.pyi # Gradio writes them beside components; mypy would believe them
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.test-installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

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
