#!/bin/sh
# Install packages into .venv with uv, which takes a third of the time of pip. uv itself
# comes from the package index. If it cannot be installed, or does not reach the index (it
# does not read the configuration of pip), pip installs the packages.
set -eu
pip="$PWD/.venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt"
uv=.venv/bin/uv

[ -x $uv ] || $pip uv || true
if [ -x $uv ] && $uv pip install --quiet --python .venv/bin/python -c constraints.txt "$@"; then
  exit 0
fi
echo "uv could not install the packages. pip tries it now, which takes a minute."
exec $pip --use-pep517 "$@"
