# Two commands matter on a new machine: make demo, make test. Needed: Python 3.11+, git, make.

READY := .venv/.ready
PYTHON := .venv/bin/python

MAKEFLAGS += --no-print-directory
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH

# An environment that was moved with its folder, or whose Python has gone, is of no use: it is built anew.
$(shell [ ! -e $(READY) ] || { [ "$$(cat $(READY))" = "$(CURDIR)" ] && $(PYTHON) -c ''; } 2>/dev/null || rm -rf .venv)

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format coverage reference bench simulate crash fuzz clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## build .venv (every other target does so when needed)
	@echo "setup: .venv is ready, $$($(PYTHON) --version)"

$(READY): pyproject.toml uv.lock scripts/setup
	@scripts/setup

demo: $(READY) ## have a bug mended in a sample repository, through a crash (MODEL=anthropic:NAME: for real)
	@.venv/bin/headway demo $(if $(MODEL),--model $(MODEL)) $(ARGS)

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

reference: $(READY) ## write the generated pages of docs/reference, the schema of workflow files, the demo in the README
	@$(PYTHON) -m tests.support.cli_reference
	@$(PYTHON) -m tests.support.language_reference
	@$(PYTHON) -m tests.support.readme_demo
	@.venv/bin/headway workflows rules > docs/reference/lint-rules.md
	@.venv/bin/headway workflows schema > src/headway/workflow.schema.json

bench: $(READY) ## measure, as ratios to floors measured in the same run
	@$(PYTHON) -m bench $(ARGS)

simulate: $(READY) ## simulate agents, faults and crashes (SEED=7 EVENTS=1000000 STORE=sqlite|postgres)
	@$(PYTHON) -m simulation $(if $(SEED),--seed $(SEED)) $(if $(EVENTS),--events $(EVENTS)) $(if $(STORE),--store $(STORE)) $(ARGS)

fuzz: $(READY) ## send the doors what nobody should, and see them serve on (SECONDS=60 SEED=1 DOOR=http)
	@$(PYTHON) -m fuzz $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) $(if $(DOOR),--door $(DOOR)) $(ARGS)

crash: $(READY) ## kill servers under load and see that nothing is lost or doubled (SEED=7 KILLS=50)
	@$(PYTHON) -m crash.runs
	@$(PYTHON) -m crash $(if $(SEED),--seed $(SEED)) $(if $(KILLS),--kills $(KILLS)) $(ARGS)

clean: ## remove the environment and everything the tools left behind
	@rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage .coverage.* htmlcov build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
