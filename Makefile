# `make run` serves, `make test` tests; both need Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements/dev.txt
STAMP := $(VENV)/.installed
UV := uv==0.13.8

# With it pytest would read the settings before the tests have chosen their database.
unexport DJANGO_SETTINGS_MODULE

.PHONY: run test check demo fake-openai screenshots install lock
.DEFAULT_GOAL := run

run: install
	@exec $(BIN)/python -m config.launcher

# A process for each core; each has a database and a Redis of its own (tests/conftest.py).
test: install
	$(BIN)/python -m pytest --numprocesses=auto --dist=loadfile --no-loadscope-reorder $(ARGS)

# Everything a change must pass; the tests come last.
check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	@echo "manage.py makemigrations --check (needs no database, so its warning about one is hidden)"
	@PALIMPSEST_ENV=test $(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	@echo "manage.py check --deploy, as in production"
	@PALIMPSEST_ENV=production ALLOWED_HOSTS=palimpsest.example \
	  DJANGO_SECRET_KEY="$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(64))')" \
	  $(BIN)/python manage.py check --deploy --fail-level WARNING
	PALIMPSEST_ENV=test $(BIN)/python manage.py spectacular --validate --fail-on-warn --file /dev/null
	@$(MAKE) --no-print-directory test

# Fills the running server (same PALIMPSEST_HOME) with an example team.
demo: install
	$(BIN)/python manage.py load_demo

# An endpoint to try the model-backed settings against: OPENAI_BASE_URL=http://127.0.0.1:9999/v1
fake-openai: install
	$(BIN)/python -m tests.support.openai_server --port 9999

# Draws the pictures of the documents anew, from a server of its own with the demo's story.
screenshots: install
	$(BIN)/python -m benchmarks.screenshots

install: $(STAMP)

$(STAMP): $(LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Palimpsest needs Python 3.11 or newer; name one: make PYTHON=python3.13 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing what $(LOCK) lists into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	@touch $@

# Writes both locks anew: runtime.txt is the image's, dev.txt has the embedded servers and the
# tools as well. Both hold for every platform and every Python from 3.11.
lock:
	@set -e; tools=$$(mktemp -d); trap 'rm -rf "$$tools"' EXIT; \
	$(PYTHON) -m venv "$$tools"; "$$tools/bin/pip" install --quiet --disable-pip-version-check $(UV); \
	compile="$$tools/bin/uv pip compile --no-config --quiet --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --no-emit-index-url $(UPGRADE)"; \
	$$compile pyproject.toml --output-file requirements/runtime.txt; \
	$$compile pyproject.toml --extra embedded --extra dev --constraint requirements/runtime.txt \
	  --output-file requirements/dev.txt
