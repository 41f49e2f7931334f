# SPDX-License-Identifier: MIT
# The commands of isoheap's users.  `make help` lists them; everything lands in build/ and findings/.
#
# Each command installs the Debian packages that it misses (scripts/install.sh says which and why;
# INSTALL=no forbids it) and builds what it needs, so every one of them can be the first.

# Settings, as in: make fuzz TIME=600 TARGET=fuzz_mark_sweep
TIME    = 60
TARGET  =
FROM    =
# where the OCaml runtime comes from: a source tree, or a version (scripts/ocaml_source.sh)
OCAML   =
JOBS    = $(shell nproc 2>/dev/null || echo 2)
INSTALL = yes
DEFECTS =
# make faults: runs of each fault, executions of each, ways to fuzz, which faults, seconds after
# which no run begins (make it again to go on)
SEEDS   = 3
RUNS    = 2000000
ARMS    = default
FAULTS  =
PIECE   = 3600
# make mutants: whose, and programs that each has to survive
COLLECTOR = mark_sweep
BUDGET    = 20000

# The targets of the known-bad collectors, fuzz_bad_*, are in a build of their own.
PRESET = $(if $(findstring fuzz_bad_,$(TARGET)),known-bad,fuzz)
AFL_TARGET = $(or $(TARGET),fuzz_mark_sweep)

comma = ,

export TIME TARGET JOBS INSTALL PRESET DEFECTS OCAML
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := build
.PHONY: build fuzz afl check bench coverage minimise merge known-bad ocaml-check faults mutants msan ubsan tsan machines oss-fuzz-check format tidy deps machine-deps test-deps clean help

build: deps ## build the command, build/bin/isoheap, and the fuzz binaries, build/fuzz/bin/
	@scripts/build.sh release fuzz

# Of a build with fuzz targets: TARGET, or several with commas between them, or else all of it; with
# another OCaml its targets.
ocaml_targets = $(addprefix fuzz_,$(shell scripts/ocaml_source.sh --collectors '$(OCAML)'))
targets = $(or $(subst $(comma), ,$(TARGET)),$(if $(OCAML),$(ocaml_targets)))

fuzz: deps ## fuzz every target, TIME=60 seconds in all; TARGET=fuzz_x only that one; OCAML=DIR that tree
	@scripts/build.sh release
	@TARGETS="$(targets)" scripts/build.sh $(PRESET)
	@build/bin/isoheap fuzz --time=$(TIME) --jobs=$(JOBS) --bin-dir=build/$(PRESET)/bin \
		--corpus=build/$(PRESET)/corpus --crashes=findings $(targets)

afl: deps ## fuzz TARGET=fuzz_mark_sweep with AFL++ and the structured mutator, TIME=60 seconds
	@scripts/build.sh release
	@TARGETS="$(AFL_TARGET) isoheap_afl_mutator" scripts/build.sh afl
	@TARGET=$(AFL_TARGET) scripts/afl.sh

check: test-deps ## build with clang and with gcc, run the tests with both (end-to-end ones with clang)
	@scripts/check.sh

bench: test-deps ## print the figures, one `name value unit` a line
	@TARGETS="isoheap benchmarks" scripts/build.sh release >&2
	@TARGETS="fuzz_mark_sweep benchmarks" scripts/build.sh fuzz >&2
	@TARGETS=fuzz_bad_raw_short scripts/build.sh known-bad >&2
	@scripts/bench.sh

coverage: deps ## what the seeds alone reach: HTML report, line coverage of collectors and oracles
	@scripts/coverage.sh

minimise: deps ## keep the fewest inputs of the corpora that reach the same; TARGET=fuzz_x only that one
	@scripts/build.sh release
	@TARGETS="$(targets)" scripts/build.sh $(PRESET)
	@build/bin/isoheap corpus minimise --bin-dir=build/$(PRESET)/bin --corpus=build/$(PRESET)/corpus \
		--crashes=findings $(TARGET)

merge: deps ## add to the corpus of TARGET=fuzz_x what the folders FROM="a b" reach beyond it
	@scripts/build.sh release
	@TARGETS="$(targets)" scripts/build.sh $(PRESET)
	@build/bin/isoheap corpus merge --bin-dir=build/$(PRESET)/bin --corpus=build/$(PRESET)/corpus --crashes=findings \
		$(or $(TARGET),$(error make merge TARGET=fuzz_x FROM=folder)) $(or $(FROM),$(error make merge TARGET=fuzz_x FROM=folder))

ocaml-check: deps ## known defects and seeds on the tree OCAML=DIR (or a version), then TIME=60 seconds of fuzzing
	@scripts/ocaml_check.sh --time=$(TIME) --jobs=$(JOBS) $(or $(OCAML),4.13.1)

known-bad: deps ## fuzz every known-bad collector until its defect is found
	@TARGETS="$(DEFECTS:%=fuzz_bad_%)" scripts/build.sh known-bad
	@scripts/known_bad.sh

faults: deps ## the benchmark of seeded faults: table and page; goes on where it stopped
	@scripts/build.sh release
	@TARGETS=faults scripts/build.sh fuzz
	@build/bin/isoheap faults run --build --jobs=$(JOBS) --seeds=$(SEEDS) --runs=$(RUNS) --arms=$(ARMS) \
		--time=$(PIECE) $(FAULTS)

mutants: deps ## mutants of COLLECTOR=mark_sweep, BUDGET=20000 programs each; goes on where it stopped
	@TARGETS=isoheap scripts/build.sh fuzz
	@build/fuzz/bin/isoheap mutants --collector=$(COLLECTOR) --budget=$(BUDGET) --jobs=$(JOBS)

msan: deps ## replay the seeds under MemorySanitizer
	@scripts/build.sh msan
	@ctest --preset msan

ubsan: deps ## replay the seeds under all of UndefinedBehaviorSanitizer, implicit conversions too
	@scripts/build.sh ubsan
	@ctest --preset ubsan

tsan: test-deps ## run the threads of the on-the-fly collector and of OCaml 5 under ThreadSanitizer for TIME=60 seconds each
	@TARGETS="onthefly_shared_test onthefly_stress_test onthefly_threads_test ocaml5_threads_test" scripts/build.sh tsan
	@build/tsan/tests/onthefly_threads_test
	@ISOHEAP_STRESS_SECONDS=$(TIME) build/tsan/tests/onthefly_stress_test
	@ISOHEAP_STRESS_SECONDS=$(TIME) build/tsan/tests/onthefly_shared_test
	@ISOHEAP_STRESS_SECONDS=$(TIME) build/tsan/tests/ocaml5_threads_test

machines: machine-deps ## the same digests on s390x and aarch64, under qemu-user, and with clang 19; takes a quarter of an hour
	@scripts/machines.sh

oss-fuzz-check: deps ## rehearse what OSS-Fuzz and ClusterFuzzLite do with the targets; takes an hour or two
	@scripts/oss_fuzz_check.sh

format: ## format the C sources (clang-format)
	@scripts/lint.sh format

tidy: deps ## look for defects (clang-tidy, shellcheck)
	@scripts/lint.sh tidy

deps: ## install the packages that are missing
	@scripts/install.sh

machine-deps:
	@scripts/install.sh --machines

test-deps:
	@scripts/install.sh --tests

clean: ## remove build/; findings/ stays
	@rm -rf build

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile
