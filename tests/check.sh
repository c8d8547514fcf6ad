#!/usr/bin/env bash
# Everything that CI runs, in order; stops at the first that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin
"$bin/ruff" check .
"$bin/ruff" format --check .
"$bin/mypy"
"$bin/lint-imports"
# Three at once on two cores: many tests wait for a process or a clock.
"$bin/python" -m pytest -n 3 --dist worksteal -m "not soak and not slow" "$@"
