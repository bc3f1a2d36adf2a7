#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy over the library and the tools.
#
#   scripts/lint.sh BUILD_DIR [FILE...]   BUILD_DIR holds compile_commands.json
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -eq 0 ]; then
  echo "usage: $0 BUILD_DIR [FILE...]" >&2
  exit 2
fi
build=$1
shift
if [ ! -f "$build/compile_commands.json" ]; then
  echo "lint: $build has no compile_commands.json; configure it first" >&2
  exit 1
fi

files=("$@")
if [ ${#files[@]} -eq 0 ]; then
  # LibTorch 1.13's headers do not compile as C++20 with clang 14, so g++'s warnings have to do for
  # the folder that includes them.
  mapfile -t files < <(find boba simulator reproduction tools -name '*.cc' \
    -not -path 'simulator/torch/*' | sort)
fi
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$build" --quiet --warnings-as-errors='*'
echo "lint: ${#files[@]} files, no findings"
