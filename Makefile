# The commands a person types; `make` alone lists them.
PYTHON ?= python3
PORT ?=
GAMES ?= 30
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --use-pep517 --disable-pip-version-check -c constraints.txt

.PHONY: help install dev demo test slow coverage bench soak
help: ## list the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

install: .venv/.installed ## make .venv with everything pinned, so .venv/bin/torres

# The engine's sources too: what is compiled must not be older than they are.
.venv/.installed: pyproject.toml constraints.txt $(wildcard engine/*.py engine/*.pxd)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; say make PYTHON=python3.12, for example."; exit 1; }
	@deploy/prepare.sh $(PYTHON)
	$(PYTHON) -m venv .venv
	$(PIP) --editable '.[server]'
	@touch $@

dev: .venv/.dev
.venv/.dev: .venv/.installed
	$(PIP) 'torres-ladder[dev]'  # already installed: brings what the extra adds
	@touch $@

demo: install ## a running ladder with house bots (ONCE=1 GAMES=30 ends after 30 more games; PORT=8000)
	@$(BIN)/python manage.py up --demo $(if $(PORT),--port $(PORT)) $(if $(ONCE),--once --games $(GAMES))

test: dev ## every check and every test that this machine can run
	@tests/check.sh

slow: dev ## the tests that take minutes each: deep counts, whole tournaments
	@$(BIN)/python -m pytest -n 2 -m "slow and not soak"

# The plain source, since compiled code cannot be traced; what only repeats is left out.
coverage: dev ## branch coverage of the engine: fails below 100 %
	@TORRES_PURE=1 $(BIN)/python -m pytest tests/engine -q -n 2 -m "not slow" \
	  --ignore=tests/engine/test_oracle.py \
	  --deselect=tests/engine/test_perft.py::test_perft \
	  --cov=engine --cov-branch --cov-report=term-missing:skip-covered --cov-fail-under=100

bench: dev ## the benchmarks, each a ratio against a peer in the same run
	@$(PIP) 'torres-ladder[bench]'
	@$(BIN)/python -m tests.bench

soak: dev ## minutes to hours of chaos; not part of make test
	@$(BIN)/python -m pytest -m soak tests/soak -x
