# The front door. `make` alone lists what there is; everything else is CMake behind presets.
#
#   PRESET=dev make test       the same tests in another build (dev, release, asan, tsan)
#   JOBS=1 make build          fewer compilers at a time
#   E2E='-run plan' make e2e   only tests whose name contains that
#   MAKEWAY_PROPERTY_CASES=n   how many random cases per property

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# One build tree serves build, run, test and bench: what is tested is the binary that ships, and
# a second build would cost more than optimising the layers does (tests compile with -O1 anyway).
PRESET ?= release
JOBS ?= $(shell nproc)
export JOBS

.PHONY: help build run example install test e2e check check-all nightly soak bench bench-peers
.PHONY: bench-why peer-kube
.PHONY: bench-dashboard bench-report deps fmt web clean deps-build deps-test deps-check deps-e2e

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' Makefile

build: deps-build ## the release binary, at build/makeway
	@tools/build.sh release makeway

run: build ## a living cluster inside the process: watch it schedule (q quits; RUN=flags)
	build/makeway run --embedded --listen 127.0.0.1:0 $(RUN)

example: build ## plan the example: which pods must leave, and why
	build/makeway plan -f examples/pods --explain

install: build ## the program into PREFIX (/usr/local), stripped, with makeway.debug beside it
	@cmake --install build/release --strip --prefix "$${PREFIX:-/usr/local}"

test: deps-test ## one build, all tests (1,000 random cases per property)
	@tools/build.sh $(PRESET)
	@MAKEWAY_PROPERTY_CASES=$${MAKEWAY_PROPERTY_CASES:-1000} tools/test.sh $(PRESET)

e2e: deps-e2e ## makeway against a real Kubernetes control plane, built once (Go, 8 to 15 min)
	@tools/e2e.sh $(E2E)

check: deps-check ## sanitizers, 3,000 random cases, clang-format, clang-tidy (a share)
	@tools/check.sh

check-all: deps-check ## the same with clang-tidy over everything, and all fuzzers
	@tools/check.sh format tidy-all properties asan tsan-all fuzz-all

nightly: deps-check deps-e2e ## what is too long for every change; log and figures in docs/evidence
	@tools/nightly.sh

soak: deps-test ## histories in the simulator with all faults, until you stop it; seeds are printed
	@tools/soak.sh

bench: deps-build ## build the benchmarks and run them one after the other
	@tools/bench.sh

bench-dashboard: build ## what the dashboard costs with 5,000 nodes and 200 viewers; needs Node
	@tools/bench-dashboard.sh

bench-peers: deps-build ## time kube-scheduler's preemption on the same clusters; needs Go
	@tools/bench-peers.sh

bench-why: build ## how long `makeway why` takes in the journal of a week
	@tools/bench-why.sh

bench-report: deps-build ## the report of a million pods: its size, and how fast it opens
	@tools/bench-report.sh

peer-kube: deps-e2e ## kube-scheduler and makeway live, under the same loads; PEER='-scale 0.1'
	@tools/e2e.sh -peer $(PEER)

deps: ## install missing Debian packages, or say which
	@tools/deps.sh build test check e2e

fmt: deps-check ## format every C++ file
	@tools/format.sh fix

web: ## build the pages in web/dist anew; needs Node 18 (others need none: dist is committed)
	@tools/web.sh build

clean: ## remove build/
	rm -rf build

deps-build:
	@tools/deps.sh build
deps-test:
	@tools/deps.sh build test
deps-check:
	@tools/deps.sh build test check
deps-e2e:
	@tools/deps.sh build e2e
