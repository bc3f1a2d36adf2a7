# The short way to everything; CMakePresets.json has the long one.
.DEFAULT_GOAL := help
.PHONY: help build test demo bench format lint clean install-build install-test install-format install-lint

JOBS ?= $(shell nproc)

help:
	@echo "make demo    build boba, train a federation under attack, draw a report"
	@echo "make test    build and run all tests"
	@echo "make build   build the library and build/bin/boba"
	@echo "make bench   build and time every rule, and training, on this machine"
	@echo "make format  format the sources in place"
	@echo "make lint    look for faults with clang-tidy"
	@echo "make clean   remove the build folders"
	@echo
	@echo "Each first installs the Debian packages it misses, as root or through sudo."
	@echo "JOBS=N sets how many compilers run at once; now $(JOBS)."

build: install-build
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

test: install-test build
	ctest --preset release

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
	rm -rf build build-debug build-asan build-tsan build-fuzz

install-build:
	@scripts/install-packages.sh build

install-test:
	@scripts/install-packages.sh test

install-format:
	@scripts/install-packages.sh format

install-lint:
	@scripts/install-packages.sh lint
