#!/usr/bin/env bash
# Installs the Debian packages that a step needs, and nothing if they are all there.
#
#   scripts/install-packages.sh build [test] [format] [lint] [fuzz] [python]
set -euo pipefail

# What each step needs. CONTRIBUTING.md repeats this table for people.
packages_of() {
  case "$1" in
    build)
      echo g++ cmake ninja-build libeigen3-dev libfmt-dev libcli11-dev nlohmann-json3-dev \
        libarchive-dev zlib1g-dev libopencv-core-dev libopencv-imgproc-dev libjpeg-dev libssl-dev \
        libtomlplusplus-dev libsqlite3-dev libtorch-dev libopenblas-dev dataset-fashion-mnist
      ;;
    test) echo pkg-config libgtest-dev libopenmpi-dev openmpi-bin chromium libgmp-dev ;;
    format) echo clang-format ;;
    lint) echo clang-tidy ;;
    fuzz) echo clang libclang-rt-dev ;;
    python)
      echo g++ cmake ninja-build libeigen3-dev libfmt-dev python3 python3-dev python3-venv \
        python3-torch python3-torchvision python3-scipy python3-matplotlib python3-seaborn
      ;;
    *)
      echo "install-packages: no step '$1'; steps are: build, test, format, lint, fuzz, python" >&2
      return 2
      ;;
  esac
}

installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]
}

if [ $# -eq 0 ]; then
  echo "usage: $0 STEP...   steps are: build, test, format, lint, fuzz, python" >&2
  exit 2
fi

wanted=()
for step in "$@"; do
  list=$(packages_of "$step")
  read -ra words <<<"$list"
  wanted+=("${words[@]}")
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "This is not a Debian system: going on with what is there." >&2
  echo "The Debian packages would be: ${wanted[*]}" >&2
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null; then
  as_root=(sudo)
else
  echo "Missing Debian packages: ${missing[*]}" >&2
  echo "Installing them needs root or sudo. As root: apt-get install ${missing[*]}" >&2
  exit 1
fi

echo "Installing missing Debian packages with apt-get: ${missing[*]}"
# Waits for another apt-get instead of failing beside it.
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "${missing[@]}"
