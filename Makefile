# `make help` lists the targets. Everything is built in build/; binaries land in build/bin/.
.DEFAULT_GOAL := help
SHELL := /bin/bash

# Arguments for `koord up`: make up UP="--nodes 50 --load spike"
UP ?= --demo --speed 240
# Seconds that each fuzz target runs.
FUZZ_SECONDS ?= 10
# The same seed finds the same in the same program; 0 is another one each time.
FUZZ_SEED ?= 0

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: up
up: build ## build, and run a local cluster with a demo of co-location until Ctrl-C
	build/bin/koord up $(UP)

.PHONY: test
test: build tools ## build, and run every test
	cmake --build build --target tests
	ctest --test-dir build --output-on-failure -j $$(($$(nproc) + 1))  # some of them mostly wait

.PHONY: build
build: packages ## build the programs in build/bin
	@[ -f build/build.ninja ] || cmake --preset release
	cmake --build build

.PHONY: bench
bench: build ## build and run the benchmarks
	cmake --build build --target benches
	scripts/bench.sh

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZ_SECONDS
	scripts/packages.sh build fuzz
	scripts/fuzz.sh $(FUZZ_SECONDS) $(FUZZ_SEED)

.PHONY: test-kubernetes
test-kubernetes: build tools ## run the tests against real Kubernetes (built with Go once)
	cmake --build build --target kube_load
	tests/kubernetes/run.sh

.PHONY: bench-kubernetes
bench-kubernetes: build tools ## compare with kube-scheduler and kube-apiserver
	cmake --build build --target kube_load
	tests/kubernetes/bench.py build/bin --json build/bench-kubernetes.json

.PHONY: asan tsan
asan tsan: packages ## run the tests under address+undefined / thread sanitizers
	cmake --preset $@
	cmake --build build/$@ --target all tests
	ctest --test-dir build/$@ --output-on-failure

.PHONY: format
format: ## lay the sources out with clang-format
	scripts/packages.sh lint
	git ls-files '*.h' '*.cc' | xargs clang-format-14 -i

.PHONY: lint
lint: ## check layout and run clang-tidy
	scripts/packages.sh build lint
	scripts/lint.py

.PHONY: clean
clean: ## remove build/
	rm -rf build

.PHONY: packages
packages:
	@scripts/packages.sh build

.PHONY: tools
tools:
	@scripts/packages.sh test
	@scripts/kubectl.sh >/dev/null
