# The short way to everything; CMakePresets.json has the long one.
.DEFAULT_GOAL := help
.PHONY: help build test hunt test-python wheel demo bench bench-peers format lint clean install-build install-test install-format install-lint install-python

JOBS ?= $(shell nproc)
HUNT_SECONDS ?= 3600
# Steps done, steps in all, and the seconds so far.
NINJA := NINJA_STATUS="[%f/%t, %es] " ninja -j $(JOBS) -C

help:
	@echo "make demo         build boba, train a federation under attack, draw a report; about six"
	@echo "                  minutes the first time"
	@echo "make test         build, and run all tests but those of the Python package"
	@echo "make hunt         search for rounds in which liars win; HUNT_SECONDS=$(HUNT_SECONDS)"
	@echo "make wheel        build the Python package: dist/*.whl"
	@echo "make test-python  build the Python package and run its tests"
	@echo "make bench-peers  time the Python package beside ByzFL, Flower and NumPy"
	@echo "make build        build the library and build/bin/boba"
	@echo "make bench        build and time every rule, and training, on this machine"
	@echo "make format       format the sources in place"
	@echo "make lint         look for faults with clang-tidy"
	@echo "make clean        remove the build folders"
	@echo
	@echo "Each but clean first installs the Debian packages it misses, as root or through sudo."
	@echo "JOBS=N sets how many compilers run at once; now $(JOBS)."

# The programs alone. Tests, benchmarks and fuzzers are built by the targets that run them.
build: install-build
	@echo "Compiling boba; about four minutes on two cores the first time."
	@cmake --preset release -DBOBA_TESTS=OFF --log-level=WARNING
	@$(NINJA) build boba_cli

test: install-build install-test
	@echo "Compiling boba and its tests; about nine minutes on two cores the first time."
	@cmake --preset release -DBOBA_TESTS=ON --log-level=WARNING
	@$(NINJA) build
	ctest --preset release

# A seed of its own for each run; the program prints it with every failure.
hunt: install-build install-test
	@cmake --preset release -DBOBA_TESTS=ON --log-level=WARNING
	@$(NINJA) build boba_hunt
	build/bin/boba_hunt --seconds $(HUNT_SECONDS) --seed $$(date +%s) --out build/hunt-finds

test-python: install-python
	scripts/python-venv.sh
	build/python-venv/bin/ruff check python bench examples scripts
	build/python-venv/bin/ruff format --check python bench examples scripts
	build/python-venv/bin/python -m pytest

wheel: install-python
	scripts/wheel.sh

bench-peers: install-python
	scripts/python-venv.sh
	build/python-venv/bin/python bench/peers.py

demo: build
	@echo "Training eight small federations; about a minute on two cores."
	build/bin/boba demo --db build/demo.db --out build/demo.html

bench: build
	@$(NINJA) build boba_bench_training
	build/bin/boba bench
	build/bin/boba_bench_training

format: install-format
	scripts/format.sh

lint: install-build install-lint
	cmake --preset lint
	scripts/lint.sh build-lint

clean:
	rm -rf dist build build-*

install-build:
	@scripts/install-packages.sh build

install-test:
	@scripts/install-packages.sh test

install-format:
	@scripts/install-packages.sh format

install-lint:
	@scripts/install-packages.sh lint

install-python:
	@scripts/install-packages.sh python
