# Two commands do all set-up: `make demo` and `make test`.
# uv is used when it is there, else plain venv and pip.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
DEMO_KB := $(VENV)/demo-kb.sqlite3
QUESTION ?= How far is it around the Earth, and what is that number divided by 1000?

.DEFAULT_GOAL := help
.PHONY: help demo test lint types imports check bench-import format clean

help: ## Show what there is
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("whybox needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
ifdef UV
	@$(UV) venv --quiet --python $(PYTHON) --seed $(VENV)
else
	@$(PYTHON) -m venv $(VENV) || { echo "make: python3 -m venv does not work here; on Debian: apt install python3-venv" >&2; exit 1; }
endif

# A stamp for each set of extras, newer than pyproject.toml once it is installed.
$(VENV)/installed-%: $(BIN)/python pyproject.toml
	@echo "installing whybox[$*] into $(VENV) ..." >&2
ifdef UV
	@$(UV) pip install --quiet --python $(BIN)/python -e '.[$*]'
else
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[$*]'
endif
	@touch $@

demo: $(VENV)/installed-all ## Answer a question with the embedded model (fetches 1.1 GB once)
	@$(BIN)/whybox kb add examples/kb --kb-file $(DEMO_KB) >&2
	@$(BIN)/whybox ask --kb $(DEMO_KB) "$(QUESTION)"

test: $(VENV)/installed-dev ## Run the tests
	@$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/installed-dev ## Check style
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/installed-dev ## Check types
	@$(BIN)/mypy

imports: $(VENV)/installed-dev ## Check which module may import which
	@$(BIN)/lint-imports

check: lint types imports test ## Everything that CI runs

bench-import: $(VENV)/installed-dev ## Time of import and of --help, and the size of the base install
	@$(BIN)/python benchmarks/imports.py

format: $(VENV)/installed-dev ## Format the code
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .

clean: ## Remove what these commands made here
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
