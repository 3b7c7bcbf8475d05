# Everything a person or a machine runs on this project. `make` lists it.

CARGO ?= cargo

# A linker for Rust, and the terminal we drive.
BUILD_NEEDS = cc tmux
# The shells and programs the tests run inside tmux.
TEST_NEEDS = $(BUILD_NEEDS) bash zsh fish dash perl python3 node sqlite3 less vi ssh sshd ps busybox sudo script \
             zsh-autosuggestions zsh-syntax-highlighting

# The interpreters that `tests/interpreters` opens, beside those from npm and PyPI.
INTERPRETERS = bash bc erl gdb ghci iex initdb irb jshell lldb lua mariadbd php pry psql R redis-cli redis-server scala

# The spelling checker. The version is pinned, so that a new word list cannot fail an unrelated change.
TYPOS_VERSION = 1.52.0
TYPOS = target/tools/typos-$(TYPOS_VERSION)/bin/typos

.PHONY: help demo test test-loaded test-remote test-attacks test-clients check spell bench bless

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

demo: ## build, then watch the tools drive a real tmux; nothing stays behind
	@scripts/install-packages $(BUILD_NEEDS)
	$(CARGO) run --quiet --locked -p tmuxwright -- demo

# Most tests wait, for tmux, for shells or for a person, so each core has three of them.
test: export RUST_TEST_THREADS ?= $(shell expr 3 \* $$(getconf _NPROCESSORS_ONLN))
test: ## run all tests against real tmux servers of their own
	@scripts/install-packages $(TEST_NEEDS)
	$(CARGO) test --workspace --locked
	$(CARGO) test --locked -p tmuxwright --no-default-features --lib -- tools policy contract context config

# The tests that `make test-loaded` runs, as parts of their names. Large output is about memory and speed, not order.
LOADED_TESTS = load:: run:: watch:: --skip megabytes

test-loaded: ## run the tests of commands and waits under load; a failure prints its SEED
	@scripts/install-packages $(TEST_NEEDS)
	$(CARGO) test --locked -p tmuxwright --test it --no-run
	scripts/under-load $(CARGO) test --locked -p tmuxwright --test it -- $(LOADED_TESTS)

# The tests that `make test-remote` runs, and the command that stands for the way to another system.
REMOTE_TESTS = run:: watch::
VIA = env

test-remote: ## run the tests of commands and waits by the code for other systems
	@scripts/install-packages $(TEST_NEEDS)
	TEST_VIA=$(VIA) $(CARGO) test --locked -p tmuxwright --test it -- $(REMOTE_TESTS)

test-attacks: ## run the attacks on several versions: make test-attacks TMUXES="/a/tmux /b/tmux"
	@scripts/install-packages $(TEST_NEEDS)
	for tmux in $(or $(TMUXES),tmux); do $$tmux -V && \
		TMUXWRIGHT_TMUX=$$tmux $(CARGO) test --locked -p tmuxwright --test it -- attack:: || exit 1; done

test-clients: ## test many interpreters, and real MCP clients, fetched from npm and PyPI
	@scripts/install-packages $(BUILD_NEEDS) npm python3 $(INTERPRETERS)
	crates/tmuxwright/tests/clients/fetch
	$(CARGO) test --locked -p tmuxwright --test interpreters
	$(CARGO) build --locked -p tmuxwright
	crates/tmuxwright/tests/clients/run

check: ## formatting, lints and docs, with warnings as errors
	@scripts/install-packages cc
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) clippy -p tmuxwright --no-default-features --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items --locked

spell: $(TYPOS) ## check the spelling (_typos.toml); the first run builds the checker
	$(TYPOS)

$(TYPOS):
	@scripts/install-packages cc
	$(CARGO) install --locked typos-cli --version $(TYPOS_VERSION) --root target/tools/typos-$(TYPOS_VERSION)

bench: ## measure the release build against the same work done without it
	@scripts/install-packages $(BUILD_NEEDS) bash ssh sshd
	$(CARGO) bench --locked -p tmuxwright --bench calls

bless: ## rewrite the generated docs, tool snapshots and pictures; look at the diff
	@scripts/install-packages $(BUILD_NEEDS)
	BLESS=1 INSTA_UPDATE=always $(CARGO) test --locked -p tmuxwright --test it -- laws::registry laws::docs laws::allow_lists laws::graph audit::docs
	BLESS=1 $(CARGO) test --locked -p tmuxwright-picture --test golden
