# `make` lists the targets. What a target does stands in scripts/, so that it runs without make too.
.DEFAULT_GOAL := help
.PHONY: help demo shop shop-faults tools generate vectors mutation conformance test test-real lint fuzz simulate torture bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## generate the shop for Java, Go and Python, send the same events through the three, compare
	@scripts/demo

shop: ## run the shop: three services in three languages, with a live view; without a terminal ORDERS (2000), and the books checked
	@scripts/shop

shop-faults: ## the checklist of faults on the shop's three services: one report, .tools/shop-faults/report.html (OUTAGE=2m)
	@scripts/shop-faults

tools: ## install the pinned tools into .tools (the other targets do it when they need to)
	@scripts/tools

generate: ## regenerate all committed code that comes from schemas
	@scripts/generate

vectors: ## make the conformance vectors again, from the reference and everyone else who knows
	@scripts/vectors

mutation: ## prove the vectors: no small change to the Python core, no known-wrong port passes them
	@scripts/mutation

conformance: ## ask every port the vectors and a part of the bulk stream (BULK=1000000: all of it)
	@scripts/conformance

test: ## test every module in every language, and that generated code is current
	@scripts/test

test-real: ## test with nothing sampled or skipped: the whole bulk stream, every mutant, real servers
	@BULK=1000000 MUTANTS=all IDEM_TEST_REAL=1 scripts/test

lint: ## run the formatters' checks and the static checkers
	@scripts/lint

fuzz: ## fuzz each Go target for FUZZTIME (1000000x), and the ports against each other for CASES (200000)
	@scripts/fuzz

simulate: ## run SEEDS (1000000) schedules of the Go runtime from seed FROM (1), with faults of every kind
	@scripts/simulate

torture: ## kill and stop the Go runtime's processes and servers at random for 30 minutes, and judge what is left
	@scripts/torture

bench: ## measure beside limits and peers, and write bench/RESULTS.md (BENCH_QUICK=1 for a look)
	@scripts/bench

clean: ## remove build outputs and .tools
	@scripts/services stop
	rm -rf .tools bench/out bench/*/gen
	find . -name .git -prune -o -type d \( -name target -o -name __pycache__ -o -name .pytest_cache \
		-o -name .mypy_cache -o -name .ruff_cache -o -name .hypothesis \) -exec rm -rf {} +
