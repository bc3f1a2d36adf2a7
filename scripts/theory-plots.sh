#!/usr/bin/env bash
# Draws the plots of docs/theory.md from what the tests of the theory compute.
# usage: scripts/theory-plots.sh [BUILD]   the build folder with boba_theory_test; build without it
set -euo pipefail
cd "$(dirname "$0")/.."

tests=${1:-build}/bin/boba_theory_test
if [ ! -x "$tests" ]; then
  echo "$0: there is no $tests; 'make build' makes it, or name the build folder" >&2
  exit 1
fi
points=docs/theory/points.csv
mkdir -p docs/theory
echo "figure,line,x,y" > "$points"
BOBA_THEORY_POINTS=$points "$tests" --gtest_brief=1
python3 scripts/theory_plots.py "$points" docs/theory
