# The short way to everything; CMakePresets.json has the long one.
.DEFAULT_GOAL := help
.PHONY: help build test hunt test-python wheel demo bench bench-peers format lint clean install-build install-test install-format install-lint install-python

JOBS ?= $(shell nproc)
HUNT_SECONDS ?= 3600

help:
	@echo "make demo         build boba, train a federation under attack, draw a report"
	@echo "make test         build and run all tests"
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
	@echo "Each first installs the Debian packages it misses, as root or through sudo."
	@echo "JOBS=N sets how many compilers run at once; now $(JOBS)."

build: install-build
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

test: install-test build
	ctest --preset release

# A seed of its own for each run; the program prints it with every failure.
hunt: install-test build
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
	build/bin/boba demo --db build/demo.db --out build/demo.html

bench: build
	build/bin/boba bench
	build/bin/boba_bench_training

format: install-format
	scripts/format.sh

lint: install-build install-lint
	cmake --preset release
	scripts/lint.sh build

clean:
	rm -rf dist build build-debug build-asan build-tsan build-fuzz

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
