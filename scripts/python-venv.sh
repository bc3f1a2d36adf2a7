#!/usr/bin/env bash
# Makes build/python-venv: a virtual environment with boba built from this tree, and with what its
# tests and benchmarks need. It sees the system's packages, for PyTorch. Run again, it only builds
# what changed.
#
#   scripts/python-venv.sh [--no-boba]   --no-boba leaves the package itself out
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build/python-venv
if [ ! -x "$venv/bin/python" ]; then
  "${PYTHON:-/usr/bin/python3}" -m venv --system-site-packages "$venv"
fi
pip=("$venv/bin/python" -m pip --disable-pip-version-check --quiet)

wanted=$(cat python/requirements.txt python/requirements-no-deps.txt | sha256sum)
if [ "$wanted" != "$(cat "$venv/requirements.sha256" 2>/dev/null || true)" ]; then
  "${pip[@]}" install -r python/requirements.txt
  "${pip[@]}" install --no-deps -r python/requirements-no-deps.txt
  echo "$wanted" >"$venv/requirements.sha256"
fi
[ "${1:-}" = --no-boba ] && exit 0

# The build folder stays, so that a second run compiles only what changed.
"${pip[@]}" install --no-build-isolation --no-deps --config-settings=build-dir=build/python .
