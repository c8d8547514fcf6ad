#!/usr/bin/env bash
# Run all checks and tests of CI in their order. Stop at the first failure.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin
"$bin/ruff" check .
"$bin/ruff" format --check .
"$bin/mypy"
"$bin/lint-imports"
# Three processes for two cores, because many tests wait for a process or a timer.
"$bin/python" -m pytest -n 3 --dist worksteal -m "not soak and not slow" "$@"
