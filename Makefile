# `make help` lists the targets. Everything is built in build/; binaries land in build/bin/.
.DEFAULT_GOAL := help
SHELL := /bin/bash

# Arguments for `koord up`: make up UP="--nodes 50 --load spike"
UP ?= --demo --speed 240
# Seconds that each fuzz target runs.
FUZZ_SECONDS ?= 10
# The same seed finds the same in the same program; 0 is another one each time, which is printed.
FUZZ_SEED ?= 0
# Only these: make fuzz FUZZ_TARGETS="json_fuzz yaml_fuzz"
FUZZ_TARGETS ?=

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: up
up: configured ## build koord, and run a local cluster with a demo of co-location until Ctrl-C
	cmake --build build --target koord
	build/bin/koord up $(UP)

.PHONY: test
test: build tools ## build, and run every test
	cmake --build build --target tests
	ctest --test-dir build --output-on-failure -j $$(($$(nproc) + 1))  # some of them mostly wait

.PHONY: build
build: configured ## build the programs in build/bin
	cmake --build build

.PHONY: bench
bench: build ## build and run the benchmarks
	cmake --build build --target benches
	scripts/bench.sh

.PHONY: bench-local-cluster
bench-local-cluster: build ## measure what local clusters cost while they run, for twenty minutes
	tests/bench/local_cluster.py build/bin/koord

# The tests under the address sanitizer, koord as CI drives it and the fuzz targets are made of the same
# objects, which clang compiles: for full checks of undefined behaviour GCC takes several times as long.
.PHONY: sanitized
sanitized: ## build what `make fuzz` and `make asan-quick` run
	scripts/packages.sh build fuzz
	cmake --preset fuzz
	cmake --build build/fuzz --target fuzzers koord

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZ_SECONDS
	scripts/packages.sh build fuzz
	scripts/fuzz.sh $(FUZZ_SECONDS) $(FUZZ_SEED) $(FUZZ_TARGETS)

.PHONY: test-kubernetes
test-kubernetes: build tools ## run the tests against real Kubernetes (built with Go once)
	cmake --build build --target kube_load
	tests/kubernetes/run.sh

.PHONY: bench-kubernetes
bench-kubernetes: build tools ## compare with kube-scheduler and kube-apiserver
	cmake --build build --target kube_load
	tests/kubernetes/bench.py build/bin --json build/bench-kubernetes.json

# What the sanitizers look for beyond their defaults. Leaks are looked for as each program ends.
SANITIZER_OPTIONS := ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 \
  UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=second_deadlock_stack=1

.PHONY: asan
asan: packages tools sanitized ## run the tests under the address and undefined-behaviour sanitizers
	cmake --build build/fuzz --target all tests
	$(SANITIZER_OPTIONS) ctest --test-dir build/fuzz --output-on-failure -j $$(nproc)

# koord holds the API server, the controllers, scheduler, manager and koordlets: what parses objects,
# shares them and hands them on.
.PHONY: asan-quick
asan-quick: tools ## drive koord under the same sanitizers, as CI does each time
	scripts/packages.sh build fuzz
	cmake --preset fuzz
	cmake --build build/fuzz --target koord
	$(SANITIZER_OPTIONS) ctest --test-dir build/fuzz --output-on-failure -j $$(nproc) \
	  -R '^(scenarios|clients|cli|live_scenarios|local_cluster|tutorial)$$'

.PHONY: tsan
tsan: packages tools ## run the tests under the thread sanitizer
	cmake --preset $@
	cmake --build build/$@ --target all tests
	$(SANITIZER_OPTIONS) ctest --test-dir build/$@ --output-on-failure -j $$(nproc)

# Link-time optimization compares the types and functions of all objects; GCC's own linker runs it.
.PHONY: odr
odr: packages ## look for names that are defined in two different ways (one definition rule)
	cmake --preset $@
	cmake --build build/$@

.PHONY: format
format: ## lay the sources out with clang-format
	scripts/packages.sh lint
	git ls-files '*.h' '*.cc' | xargs clang-format-14 -i

.PHONY: lint
lint: ## check layout and includes, and run clang-tidy on what ships and has changed
	scripts/packages.sh build lint fuzz
	scripts/lint.py

.PHONY: lint-layout
lint-layout: ## check layout and includes alone
	scripts/packages.sh build lint fuzz
	scripts/lint.py --layout

.PHONY: lint-deep
lint-deep: ## the same, tests too, and for what takes hours to find
	scripts/packages.sh build lint fuzz
	scripts/lint.py --deep

.PHONY: clean
clean: ## remove build/
	rm -rf build

.PHONY: configured
configured: packages
	@[ -f build/build.ninja ] || cmake --preset release

.PHONY: packages
packages:
	@scripts/packages.sh build

.PHONY: tools
tools:
	@scripts/packages.sh test
	@scripts/kubectl.sh >/dev/null
