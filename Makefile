# agentutils: `make` builds, `make demo` shows, `make test` proves. V=1 shows
# what the compiler says.

PREFIX = /usr/local
DESTDIR =
BINDIR = $(PREFIX)/bin
MANDIR = $(PREFIX)/share/man
BASHDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR = $(PREFIX)/share/zsh/site-functions
FISHDIR = $(PREFIX)/share/fish/vendor_completions.d

SWIFT = swift
COMMANDS = sse-tail action-filter action-format voice-state agent-call mem-search tmux-attach share-inbox agent-serve
RECIPES = agent-pulse agent-archive agent-status agent-setup mem-pick agent-say riff-up riff-claude riff-worktree-remove
MANUALS = $(wildcard man/*.[1578])

# The clients alone: AGENTUTILS_WITHOUT_SERVE=1.
ifeq ($(AGENTUTILS_WITHOUT_SERVE),1)
COMMANDS := $(filter-out agent-serve,$(COMMANDS))
endif

# Swift's library goes into the commands where they have no system's to use.
FLAGS =
ifeq ($(shell uname -s),Linux)
FLAGS += --static-swift-stdlib
endif

# Two builds at a time would only wait for each other.
.NOTPARALLEL:
.PHONY: all deps build check test unit cli lint bench bench-filter bench-ssh bench-inbox fuzz demo install uninstall clean commands recipes

all: deps build

deps:
	@sh .ci/deps

build:
	@AGENTUTILS_STATIC=$${AGENTUTILS_STATIC:-$$(sh .ci/static)} sh .ci/quietly "release build" \
		$(SWIFT) build -c release $(FLAGS) $$(sh .ci/cxx)
	@for command in $(COMMANDS); do \
		ln -sf "../.build/release/$$command" "bin/$$command"; \
	done

check: test

test: all lint unit cli

unit:
	@sh .ci/quietly "unit tests" $(SWIFT) test --disable-xctest

# Two at a time: most of a test is waiting. A job in the background of a shell
# ignores INT and QUIT and hands that on; the tests of ^C need them as they were.
cli: all
	@echo "command tests"
	@PATH="$$PWD/bin:$$PATH" perl -e '@SIG{qw(INT QUIT)} = ("DEFAULT") x 2; exec @ARGV' \
		prove -j2 Tests/cli

lint: all
	@sh Tests/lint/run

bench: all
	@PATH="$$PWD/bin:$$PATH" sh Tests/bench/run

bench-filter: all
	@PATH="$$PWD/bin:$$PATH" python3 Tests/bench/filter/bench.py

bench-ssh: all
	@PATH="$$PWD/bin:$$PATH" python3 Tests/bench/ssh/bench.py

bench-inbox: all
	@PATH="$$PWD/bin:$$PATH" python3 Tests/bench/inbox/bench.py

# FUZZ_SECONDS and FUZZ_SEED: see the script.
fuzz: all
	@PATH="$$PWD/bin:$$PATH" python3 Tests/fuzz/filter.py

demo: all
	@PATH="$$PWD/bin:$$PATH" sh Tests/demo

install:
	@test -x bin/sse-tail || $(MAKE) all
	@set -e; \
	mkdir -p "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(BASHDIR)" "$(DESTDIR)$(ZSHDIR)" \
		"$(DESTDIR)$(FISHDIR)"; \
	for command in $(COMMANDS); do \
		install -m 755 "bin/$$command" "$(DESTDIR)$(BINDIR)/$$command"; \
		strip "$(DESTDIR)$(BINDIR)/$$command"; \
		"bin/$$command" --completions bash >"$(DESTDIR)$(BASHDIR)/$$command"; \
		"bin/$$command" --completions zsh >"$(DESTDIR)$(ZSHDIR)/_$$command"; \
		"bin/$$command" --completions fish >"$(DESTDIR)$(FISHDIR)/$$command.fish"; \
	done; \
	for recipe in $(RECIPES); do \
		install -m 755 "bin/$$recipe" "$(DESTDIR)$(BINDIR)/$$recipe"; \
	done; \
	for page in $(MANUALS); do \
		section="$(DESTDIR)$(MANDIR)/man$${page##*.}"; \
		mkdir -p "$$section"; \
		install -m 644 "$$page" "$$section"; \
	done
	@echo "installed in $(DESTDIR)$(PREFIX)"

uninstall:
	@for command in $(COMMANDS); do \
		rm -f "$(DESTDIR)$(BASHDIR)/$$command" "$(DESTDIR)$(ZSHDIR)/_$$command" \
			"$(DESTDIR)$(FISHDIR)/$$command.fish"; \
	done
	@for command in $(COMMANDS) $(RECIPES); do \
		rm -f "$(DESTDIR)$(BINDIR)/$$command"; \
	done
	@for page in $(MANUALS); do \
		rm -f "$(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}"; \
	done
	@echo "removed from $(DESTDIR)$(PREFIX)"

# One list for the checks that go over everything.
commands:
	@echo $(COMMANDS)

recipes:
	@echo $(RECIPES)

clean:
	rm -rf .build
	rm -f $(addprefix bin/,$(COMMANDS))
