#!/usr/bin/env bash
# Everything that CI runs, in order; stops at the first that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin
"$bin/ruff" check .
"$bin/ruff" format --check .
"$bin/mypy"
"$bin/lint-imports"
"$bin/python" -m pytest -n 2 -m "not soak and not slow" "$@"
