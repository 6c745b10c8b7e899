# Two commands matter on a new machine: make demo, make test. Needed: Python 3.11+, git, make.

READY := .venv/.ready
PYTHON := .venv/bin/python

MAKEFLAGS += --no-print-directory
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH

# An environment that was moved with its folder, or whose Python has gone, is of no use: it is built anew.
$(shell [ ! -e $(READY) ] || { [ "$$(cat $(READY))" = "$(CURDIR)" ] && $(PYTHON) -c ''; } 2>/dev/null || rm -rf .venv)

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format coverage reference bench simulate clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-16s %s\n", $$1, $$2}'

setup: $(READY) ## build .venv (every other target does so when needed)
	@echo "setup: .venv is ready, $$($(PYTHON) --version)"

$(READY): pyproject.toml uv.lock scripts/setup
	@scripts/setup

demo: $(READY) ## follow a workflow on a sample repository, through a crash, to its end
	@.venv/bin/headway demo

test: check ## run make check, then every test in parallel (ARGS="-k word" narrows)
	@$(PYTHON) -m pytest -q -n auto --dist worksteal $(ARGS)

check: $(READY) ## format, lint, types and the import contract
	@scripts/check

format: $(READY) ## put the code in its form
	@.venv/bin/ruff format .
	@.venv/bin/ruff check --fix .

coverage: $(READY) ## run every test and show the lines and branches that none reaches
	@.venv/bin/coverage erase
	@.venv/bin/coverage run -m pytest -q -n auto --dist worksteal $(ARGS)
	@.venv/bin/coverage combine -q
	@.venv/bin/coverage report

reference: $(READY) ## write docs/reference/cli.md from what each command says of itself
	@$(PYTHON) -m tests.support.cli_reference

bench: $(READY) ## measure, as ratios to floors measured in the same run
	@$(PYTHON) -m bench $(ARGS)

simulate: $(READY) ## simulate agents, faults and crashes (SEED=7 EVENTS=1000000 STORE=sqlite)
	@$(PYTHON) -m simulation $(if $(SEED),--seed $(SEED)) $(if $(EVENTS),--events $(EVENTS)) $(if $(STORE),--store $(STORE)) $(ARGS)

clean: ## remove the environment and everything the tools left behind
	@rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage .coverage.* htmlcov build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
