# The short way to everything; CMakePresets.json has the long one.
.DEFAULT_GOAL := help
.PHONY: help build test demo bench format lint clean install-build install-format install-lint

JOBS ?= $(shell nproc)

help:
	@echo "make demo    build boba and show the rules side by side on attacked updates"
	@echo "make test    build and run all tests"
	@echo "make build   build the library and build/bin/boba"
	@echo "make bench   build and time every rule on this machine"
	@echo "make format  format the sources in place"
	@echo "make lint    look for faults with clang-tidy"
	@echo "make clean   remove the build folders"
	@echo
	@echo "Each first installs the Debian packages it misses, as root or through sudo."
	@echo "JOBS=N sets how many compilers run at once; now $(JOBS)."

build: install-build
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

test: build
	ctest --preset release

demo: build
	build/bin/boba demo

bench: build
	build/bin/boba bench

format: install-format
	scripts/format.sh

lint: install-build install-lint
	cmake --preset release
	scripts/lint.sh build

clean:
	rm -rf build build-debug build-asan build-tsan build-fuzz

install-build:
	@scripts/install-packages.sh build

install-format:
	@scripts/install-packages.sh format

install-lint:
	@scripts/install-packages.sh lint
