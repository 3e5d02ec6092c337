# Everything needs only a Python >= 3.11: each target makes its virtual environment on first use.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test test-processors lint docs bench clean

demo: $(VENV)/.installed
	$(BIN)/pose demo --out demo-output

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto

# As other processors compute: about five minutes on two cores.
test-processors: $(VENV)/.installed-dev
	VENV=$(VENV) .ci/test-processors

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in build/docs/. The examples run while it is built: about two minutes.
docs: $(VENV)/.installed-docs
	rm -rf docs/generated/api   # of names that are gone
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo 'open build/docs/index.html'

bench: $(VENV)/.installed
	$(BIN)/pose bench all --size quick

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, and '$(PYTHON)' is not: name one with 'make PYTHON=/path/to/python3.11'."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[docs]'
	@touch $@

clean:
	rm -rf $(VENV) build dist demo-output docs/generated docs/sg_execution_times.rst *.egg-info
