#!/usr/bin/env bash
# Formats the C and C++ sources in place; with --check only says which are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "") mode=(-i) ;;
  --check) mode=(--dry-run --Werror) ;;
  *)
    echo "usage: $0 [--check]" >&2
    exit 2
    ;;
esac

folders=()
for folder in boba simulator reproduction tools tests fuzz bench python; do
  [ -d "$folder" ] && folders+=("$folder")
done
find "${folders[@]}" -type f \
  \( -name '*.h' -o -name '*.cc' -o -name '*.c' -o -name '*.inc' -o -name '*.cu' -o -name '*.cuh' \) -print0 |
  sort -z | xargs -0 -r -n 16 -P "$(nproc)" clang-format --style=file "${mode[@]}"
echo "format: ${1:+checked, }all sources follow .clang-format"
