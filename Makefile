# Two commands do everything on a machine with Python 3.11 to 3.13, pip, make and git: `make demo` and `make test`.

VENV := .venv
PY := $(VENV)/bin/python
CANDIDATES := python3 python3.13 python3.12 python3.11 python

.DEFAULT_GOAL := help
.PHONY: help demo test lint format types soak bench notebooks lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/.demo ## Watch an agent do a real task, be stopped in the middle and resumed (no root, no key, no network)
	@$(VENV)/bin/clew demo

test: lint types ## Run everything that must pass: lint, format check, mypy, tests in parallel and random order
	@$(PY) tests/support/system_packages.py
	@$(PY) tests/support/mcp_servers.py
	$(PY) -m pytest -n auto --dist worksteal --reruns 1 -r fER

lint: $(VENV)/.test ## Check style and format
	$(PY) -m ruff check
	$(PY) -m ruff format --check

format: $(VENV)/.test ## Rewrite the code in the house's format
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

types: $(VENV)/.test ## Check the types
	$(PY) -m mypy

soak: $(VENV)/.test ## Run the long forms of the tests
	$(PY) -m pytest -m soak --timeout 1800 -s

bench: $(VENV)/.test ## Measure, print the tables, write bench/out
	$(PY) bench

notebooks: $(VENV)/.test ## Execute the notebooks and keep their output
	$(PY) notebooks/execute.py

lock: $(VENV)/.test ## Resolve every dependency anew into requirements.lock
	$(PY) -m uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --custom-compile-command 'make lock' --upgrade --quiet -o requirements.lock

clean: ## Remove the environment and all that tools left here; the threads in .clew stay
	rm -rf $(VENV) build dist clew.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .langgraph_api

# The environment. Each stamp is newer than the lock file it was installed from, so a second run installs nothing.

$(VENV)/.demo: requirements.lock pyproject.toml | $(VENV)/.made
	@if test -e $(VENV)/.test; then $(call install,.[dev]); else $(call install,.[charts]); fi
	@touch $@

$(VENV)/.test: requirements.lock pyproject.toml | $(VENV)/.made
	@$(call install,.[dev])
	@touch $(VENV)/.demo $@

$(VENV)/.made:
	@for python in "$(PYTHON)" $(CANDIDATES); do \
		"$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && break; \
		python=; \
	done; \
	test -n "$$python" || { echo "clew needs Python 3.11, 3.12 or 3.13: install one, or name it with make PYTHON=..."; exit 1; }; \
	echo "making $(VENV) with $$("$$python" -V)"; \
	if "$$python" -c 'import ensurepip' 2>/dev/null; then \
		"$$python" -m venv --clear $(VENV); \
	else \
		"$$python" -m venv --clear --without-pip $(VENV) && \
		"$$python" -m pip --python $(PY) install --quiet pip || \
		{ echo "This Python cannot make environments: install its venv package (python3-venv on Debian)."; exit 1; }; \
	fi
	@awk '/^[a-z]/ {keep = /^(setuptools|uv)==/} keep' requirements.lock > $(VENV)/bootstrap.txt
	@$(PY) -m pip install --quiet --only-binary :all: --require-hashes -r $(VENV)/bootstrap.txt || true
	@touch $@

# uv installs just what is asked for, at the versions and hashes of the lock. Where it is not to be had, or cannot
# reach the registry that pip is set up for, pip installs the whole lock.
define install
echo "installing $(1)"; \
$(PY) -m uv pip install --quiet --python $(PY) --no-build-isolation -c requirements.lock -e '$(1)' || { \
	echo "uv cannot do it here; pip installs the whole lock, which takes some minutes"; \
	awk '/^[a-z]/ {keep = !/^uv==/} keep' requirements.lock > $(VENV)/all.txt && \
	$(PY) -m pip install --quiet --require-hashes -r $(VENV)/all.txt && \
	$(PY) -m pip install --quiet --no-deps --no-build-isolation -e .; }
endef
