# Recollect: what you can ask of it. `make` alone lists the targets.
# All tools live in .venv; scripts/install puts there exactly what requirements/*.txt pins by hash.

VENV    := .venv
BIN     := $(VENV)/bin
FOLDER  ?= ../shared/transcripts/claude-code
WORKERS ?= 4
FUZZ_SECONDS ?= 600
PYTEST  := $(BIN)/pytest -n $(WORKERS) --dist worksteal

# Where a machine forbids it, each of the many programs that tests start would compile all of Recollect anew.
unexport PYTHONDONTWRITEBYTECODE

# Tests write much and keep nothing: in memory, where the system has room for it there.
ROOM := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 { print "/dev/shm" }')
# With as many tests at a time as cores and more, threads of linear algebra only wait for one another.
test: export OPENBLAS_NUM_THREADS := 1
test: export TMPDIR := $(or $(ROOM),$(TMPDIR),/tmp)

# pyright must not ask the network whether there is a newer pyright.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.PHONY: help up test format soak fuzz test-model bench bench-knowledge bench-context bench-mind bench-heartbeat bench-surfaces lock clean install install-dev

help: ## this list
	@echo "Recollect"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 24
	@echo
	@echo "  PYTHON=python3.13 chooses the interpreter of a new .venv (3.11 or newer)."

up: install ## install what is missing, then start Recollect (ARGS="…" are passed on)
	@exec $(BIN)/recollect up $(ARGS)

test: install-dev ## format, lint, types, import arrows, tests: all that must pass
	@echo "format"  && $(BIN)/ruff format --quiet --check . || { echo "fix: make format"; exit 1; }
	@echo "lint"    && $(BIN)/ruff check --quiet .
	@echo "types"   && $(BIN)/pyright --warnings
	@echo "imports" && $(BIN)/lint-imports --no-logo
	@echo "tests"   && $(PYTEST) $(ARGS)

format: install-dev ## format the code and fix what the linter can
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

soak: install-dev ## the long tests that look for leaks and drift
	@$(BIN)/pytest -m soak --timeout 7200 $(ARGS)

fuzz: install-dev ## random and damaged input for every parser (FUZZ_SECONDS=600), and how much each got
	@FUZZ_SECONDS=$(FUZZ_SECONDS) $(PYTEST) -m fuzz --timeout 3600 -rP $(ARGS)

test-model: install-dev ## the tests with real models: fetches their weights (1.4 GB, once)
	@$(BIN)/python scripts/fetch_weights.py
	@for name in e5-small-v2 bge-small-en-v1.5 ms-marco-minilm-l12; do \
		$(BIN)/recollect models pull $$name >/dev/null || exit 1; done
	@$(BIN)/pytest -m model $(ARGS)

bench: install-dev ## speed of an import (FOLDER=… with transcripts)
	@$(BIN)/python benchmarks/ingest.py "$(FOLDER)"

bench-knowledge: install-dev ## whether knowledge stays right through a whole life, and what it costs as it grows
	@$(BIN)/python benchmarks/lifecycle.py
	@$(BIN)/python benchmarks/records.py --sizes 10k,100k

bench-context: install-dev ## what a provider's cache keeps of a day of prompts, and what building one costs in a large house
	@$(BIN)/python benchmarks/day.py
	@$(BIN)/python benchmarks/contexts.py --large 100k

bench-mind: install-dev ## what a month of the conversation costs, beside two other designs, and whether it finds what was said
	@$(BIN)/python benchmarks/mind.py $(ARGS)
	@$(BIN)/python benchmarks/mind_recall.py

bench-heartbeat: install-dev ## how often an agent would write first in twelve weeks, and what its moments cost
	@$(BIN)/python benchmarks/heartbeat.py $(ARGS)

bench-surfaces: install-dev ## what asking over HTTP costs beside asking in process, what a hook takes, and a daemon that idles
	@$(BIN)/python benchmarks/http_load.py $(ARGS)
	@$(BIN)/python benchmarks/hooks.py
	@$(BIN)/python benchmarks/idle.py

lock: ## pin again after a change in pyproject.toml (UPGRADE=1: newest versions)
	@sh scripts/lock $(if $(UPGRADE),--upgrade)

clean: ## remove the environment, the caches and what was built
	@rm -rf $(VENV) build dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

install:
	@sh scripts/install lock

install-dev:
	@sh scripts/install dev
	@sh scripts/install_agents
