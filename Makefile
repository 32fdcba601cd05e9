# Heddle's front door. Meson and Ninja do the work; this file makes two commands enough.
#
#   make demo      install what is missing, build, run a real kernel
#   make test      install what is missing, build, run the quick checks
#   make help      everything else

BUILD ?= build
PREFIX ?= /usr/local
DEPS = ./scripts/deps

.PHONY: help demo build test test-all test-exhaustive mutate bench accuracy install format lint docs fuzz clean

help:
	@echo 'make demo       install missing packages, build, and run a real kernel end to end'
	@echo 'make test       install missing packages, build, and run the quick checks (minutes)'
	@echo 'make test-all   the long checks too: sanitizers on everything, long random runs, fuzzing (an hour)'
	@echo 'make test-exhaustive   also every program with every setting on every machine (hours)'
	@echo 'make mutate     change single lines of the source and run the tests that should notice (a quarter of an hour)'
	@echo 'make build      build/heddle'
	@echo 'make bench      host instructions per thread instruction, speed, memory, start-up'
	@echo 'make accuracy   cycles beside those of GPGPU-Sim 4.2'
	@echo 'make install    into PREFIX=$(PREFIX) (DESTDIR is honoured)'
	@echo 'make docs       regenerate the reference pages and the man page'
	@echo 'make format     clang-format every source file'
	@echo 'make lint       format, include direction, generated pages, clang-tidy'
	@echo 'make clean      remove the build folders'

$(BUILD)/build.ninja:
	@$(DEPS) build
	@meson setup $(BUILD) --prefix=$(PREFIX) >$(BUILD)-setup.log 2>&1 || { cat $(BUILD)-setup.log; exit 1; }
	@rm -f $(BUILD)-setup.log

build: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

demo: build
	@./scripts/demo $(BUILD)/heddle

test:
	@$(DEPS) build test lint
	@./scripts/test quick

test-all:
	@$(DEPS) build test lint long
	@./scripts/test long

test-exhaustive:
	@$(DEPS) build test lint long
	@./scripts/test exhaustive

mutate:
	@$(DEPS) build test
	@./scripts/mutate $(MUTATE)

bench: build
	@$(DEPS) bench
	@./bench/run $(BUILD)/heddle

accuracy: build
	@./bench/accuracy $(BUILD)/heddle

# The folder may have been set up by `make demo`, with the default prefix.
install: build
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@ninja -C $(BUILD) --quiet
	meson install -C $(BUILD) --no-rebuild
	@test -n "$(DESTDIR)" || ./scripts/after-install "$(PREFIX)"

docs: build
	@./scripts/gen-docs $(BUILD)/heddle

format:
	@$(DEPS) lint
	@./scripts/sources | xargs clang-format-14 -i

lint: build
	@$(DEPS) lint
	@./scripts/lint $(BUILD)

clean:
	rm -rf build build-*
