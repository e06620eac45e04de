# The project's commands. `make help` lists them.
#
# Native libraries and build results go to .deps and target in the clone. Where STASH_CACHE_DIR is set, or the folder
# ~/.cache/stash exists, they go there instead, so that several clones (and CI's fresh ones) share them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.ONESHELL:

PORT ?= 8080
DATA ?= $(shell infra/deps/data-dir.sh)

CACHE := $(or $(STASH_CACHE_DIR),$(wildcard $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/stash))
ifneq ($(CACHE),)
export STASH_DEPS_DIR ?= $(abspath $(CACHE))/deps
export CARGO_TARGET_DIR ?= $(abspath $(CACHE))/target
endif
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))

# Where the set-up put the native libraries; a variable that you set yourself wins.
ENV := eval "$$(infra/deps/env.sh)"

.PHONY: help run build test bench fuzz sweep check lint advisories notices setup setup-tests deny

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /  \1\t/p' Makefile | expand -t 16
	@echo "Variables: PORT=$(PORT) DATA=$(DATA) (make run), FUZZ_SECONDS (make fuzz), STASH_CACHE_DIR, LIBTORCH, ORT_DYLIB_PATH, DATABASE_URL"

run: build ## set up, build and start everything on http://localhost:8080, with its data in ./data (DATA)
	@$(ENV); exec "$(TARGET)/release/stash" up --data "$(DATA)" --listen "127.0.0.1:$(PORT)"

build: setup ## release build of stash and its trainer
	@$(ENV); cargo build --release -p stash -p stash-trainer

# One call builds binaries and tests, so that no dependency is built twice with different features.
test: setup-tests ## every test, against real Postgres and a real Kafka broker
	@$(ENV); export STASH_TRAINER_BIN="$(TARGET)/debug/stash-trainer"
	cargo build --workspace --bins --tests
	cargo test --workspace $(TEST_FLAGS)

bench: setup-tests build ## the figures: prints a table, writes bench/results.json (BENCH_FLAGS=--quick: a short look)
	@infra/deps/install.sh openvino
	@$(ENV); cargo run --release -p stash-bench -- $(BENCH_FLAGS)

fuzz: ## fuzzes every importer and OTLP decoder for FUZZ_SECONDS each (30; 600 is a thorough look), on stable Rust
	@fuzz/run.sh

sweep: ## every place of every import case made of very many small values, held within the bounds (SWEEP_ONE_OF=16: a short look)
	@fuzz/run.sh --sweep

check: lint ## formatting, lints as errors, licences of the dependencies
	@cargo fmt --all --check
	if deny="$$(infra/deps/cargo-deny.sh)"; then
		"$$deny" --log-level error check bans licenses sources
		infra/deps/notices.sh --check
	fi

advisories: ## known faults of the dependencies; needs the network
	@"$$(infra/deps/cargo-deny.sh)" --log-level error check advisories

lint: setup
	@$(ENV); cargo clippy --workspace --all-targets -- -D warnings

deny: ## builds cargo-deny for `make check` (some minutes, once)
	@infra/deps/cargo-deny.sh --install

notices: ## rewrites THIRD_PARTY.md from the dependency tree
	@infra/deps/notices.sh

setup: # what building and running need
	@infra/deps/install.sh

setup-tests: # and what tests run: a Kafka broker, OpenTelemetry's clients, a small model with real weights
	@infra/deps/install.sh system libtorch onnxruntime postgres kafka clients smollm2
