# The commands for developers and operators. `make` without a target lists them.
PYTHON ?= python3
PORT ?=
GAMES ?= 30
FAST ?=
UPGRADE ?=
REQUIRE ?=
BIN := .venv/bin
CATALOGUES := $(patsubst %.po,%.mo,$(wildcard ladder/locale/*/LC_MESSAGES/*.po))
# Without compiled modules each process compiles Django anew, which takes seconds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install dev demo test test-all deep coverage bench soak dist test-wheel site texts lock audit sbom lowest
help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

install: .venv/.installed $(CATALOGUES) ## create .venv with pinned packages and .venv/bin/torres

# The engine's sources are prerequisites, because the compiled engine must not be older.
.venv/.installed: pyproject.toml constraints.txt $(wildcard engine/*.py engine/*.pxd)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed. Name one, for example: make PYTHON=python3.12"; exit 1; }
	@deploy/prepare.sh $(PYTHON)
	@echo "Installing into .venv. This takes a minute, most of it to compile the engine …"
	@$(PYTHON) -m venv .venv
	@deploy/install.sh --editable '.[pictures,server]'
	@touch $@

# Pages are English where a compiled catalogue is missing.
%.mo: %.po | .venv/.installed
	@$(BIN)/pybabel --quiet compile --input-file $< --output-file $@

dev: .venv/.dev $(CATALOGUES)
.venv/.dev: .venv/.installed
	@echo "Installing what the tests need …"
	@deploy/install.sh 'torres-ladder[dev]'  # adds only the packages of the extra
	@touch $@

demo: install ## run a ladder with house bots (ONCE=1 GAMES=30 stops after 30 games; PORT=8000)
	@TORRES_COMPARISON_SLOTS=$${TORRES_COMPARISON_SLOTS:-1} $(BIN)/python manage.py up --demo $(if $(PORT),--port $(PORT)) $(if $(ONCE),--once --games $(GAMES))

test: dev ## run the checks and tests of every commit (FAST=1: only what a change touches)
	@FAST=$(FAST) tests/check.sh

test-all: dev ## run the slow tests, too: whole services, PostgreSQL, all pages in a browser
	@tests/check.sh --all

deep: dev ## run the tests that take minutes each: deep counts, whole tournaments
	@$(BIN)/python -m pytest -n 2 -m "deep and not soak"

# The source runs uncompiled, because compiled code cannot be traced. Tests that only
# repeat others with more games are left out.
coverage: dev ## measure the branch coverage of the engine; fails below 100 %
	@TORRES_PURE=1 $(BIN)/python -m pytest tests/engine -q -n 2 -m "not deep" \
	  --ignore=tests/engine/test_oracle.py \
	  --deselect=tests/engine/test_perft.py::test_perft \
	  --cov=engine --cov-branch --cov-report=term-missing:skip-covered --cov-fail-under=100

bench: dev ## run the benchmarks, each compared with another program in the same run
	@deploy/install.sh 'torres-ladder[bench]'
	@$(BIN)/python -m tests.bench

soak: dev ## run chaos tests for minutes to hours; not part of make test
	@$(BIN)/python -m pytest -m soak -x

dist: dev ## build and check the source archive and the wheels; two builds have the same bytes
	@$(BIN)/python deploy/dist.py

test-wheel: dist ## run the tests of the engine and of torres against the compiled wheel
	@$(BIN)/python deploy/test_installed.py -q -n 2 -m "not deep and not soak and not slow"

site: dev ## write the documentation as static pages into build/site, searchable without a server
	@$(BIN)/python deploy/site.py

texts: dev ## collect the texts of pages into the catalogues of languages
	@$(BIN)/python -m deploy.texts

lock: dev ## lock all dependencies with hashes (UPGRADE=1 takes the newest versions), and test the locks
	@$(BIN)/python deploy/lock.py $(if $(UPGRADE),--upgrade)
	@$(MAKE) --no-print-directory dev
	@$(BIN)/python -m pytest -q tests/deploy/test_locks.py tests/deploy/test_known_holes.py

audit: dev ## compare the locked packages with known vulnerabilities (REQUIRE=1 fails without a database)
	@$(BIN)/python deploy/audit.py $(if $(REQUIRE),--require)

sbom: dist ## write the bill of materials of the pure wheel: packages, licences, files
	@$(BIN)/python deploy/sbom.py dist/*-py3-none-any.whl

LOWEST := build/lowest/bin/python
lowest: dev ## try the lowest versions that pyproject.toml allows: a game, and the checks of Django
	@$(BIN)/uv venv --quiet --clear build/lowest
	@$(BIN)/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct -r pyproject.toml --extra otel --extra s3 --extra server
	@TORRES_PURE=1 $(BIN)/uv pip install --quiet --no-cache --python $(LOWEST) --no-deps .
	@$(LOWEST) deploy/try_wheel.py
	@$(LOWEST) manage.py check
