#!/usr/bin/env bash
# Builds dist/*.whl and looks at what its module asks the loader for: the C and C++ runtime alone, so
# that it runs where none of boba's build packages are.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/python-venv.sh --no-boba
python=build/python-venv/bin/python
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
rm -f dist/boba_fl-*.whl
"$python" -m pip --disable-pip-version-check --quiet wheel --no-build-isolation --no-deps \
  --config-settings=build-dir=build/python --wheel-dir dist .
"$python" -m zipfile -e dist/boba_fl-*.whl "$unpacked"

needed=$(readelf -d "$unpacked"/boba/_core*.so | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $needed; do
  case "$library" in
    libc.so.* | libm.so.* | libstdc++.so.* | libgcc_s.so.* | libpthread.so.* | ld-linux*) ;;
    *)
      echo "wheel: boba/_core needs $library, which other machines may not have" >&2
      exit 1
      ;;
  esac
done
echo "$(ls dist/boba_fl-*.whl): needs" $needed
