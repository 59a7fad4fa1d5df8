# agentutils: `make` builds, `make demo` shows, `make test` proves, `make quick` tries what was
# changed. V=1 shows what the compiler says.

PREFIX = /usr/local
DESTDIR =
BINDIR = $(PREFIX)/bin
# The programs behind the links in BINDIR.
PROGRAMDIR = $(PREFIX)/libexec/agentutils
MANDIR = $(PREFIX)/share/man
BASHDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR = $(PREFIX)/share/zsh/site-functions
FISHDIR = $(PREFIX)/share/fish/vendor_completions.d
# Found there by systemd for /usr, /usr/local and ~/.local alike.
UNITDIR = $(PREFIX)/share/systemd/user
DATADIR = $(PREFIX)/share/agentutils
NOTE =
URL =
SYSTEM := $(shell uname -s)

SWIFT = swift
# The programs, and the commands that each of them is; as in Package.swift.
PROGRAMS = agentutils-records agentutils-web agentutils-remote
agentutils-records = \
	action-filter \
	action-format \
	turn-fold \
	turn-format \
	task \
	script-options \
	agent-status \
	agent-setup \
	mail-draft \
	agent-plot \
	agentutils
agentutils-web = \
	sse-tail \
	ws-tail \
	agent-tail \
	agent-chat \
	agent-notify \
	voice-state \
	agent-call \
	agent-approve \
	mem-search \
	clip-transcribe \
	reply-narrate \
	outbox \
	pds-record
agentutils-remote = \
	tmux-attach \
	transcript-tail \
	share-inbox \
	bus-put \
	bus-get \
	mail-triage \
	voice-token
# Names of earlier versions, which are links alone.
agentutils-records-former = task-add task-format task-list
agentutils-web-former = mem-pick notify-route
FORMER = $(foreach program,$(PROGRAMS),$($(program)-former))
# A program of its own.
SERVER = agent-serve
COMMANDS = $(foreach program,$(PROGRAMS),$($(program))) $(SERVER)
RECIPES = \
	agent-pulse \
	agent-browse \
	agent-archive \
	agent-cost \
	agent-say \
	agent-talk \
	agent-ask \
	agent-state \
	bus-up \
	riff-up \
	riff-claude \
	riff-worktree-remove
MANUALS = $(wildcard man/*.[1578])

# The clients alone: AGENTUTILS_WITHOUT_SERVE=1.
ifeq ($(AGENTUTILS_WITHOUT_SERVE),1)
SERVER =
endif

# Swift's library goes into the commands where they have no system's to use.
# Libraries are the system's: none is looked for beside a program. SWIFTFLAGS are whatever
# else one wants to say to it.
FLAGS = --disable-local-rpath --manifest-cache none --disable-build-manifest-caching
SWIFTFLAGS =
ifeq ($(SYSTEM),Linux)
FLAGS += --static-swift-stdlib
endif

# Two builds at a time would only wait for each other.
.NOTPARALLEL:
.PHONY: all deps build links check test quick unit cli peers real lint bench bench-filter bench-ssh bench-inbox bench-bus bench-archive bench-size bench-all figures fuzz demo install uninstall built deb tarball dist formula aur clean commands recipes former

all: deps build

deps:
	@sh .ci/deps

build:
	@AGENTUTILS_STATIC=$${AGENTUTILS_STATIC:-$$(sh .ci/static)} \
		AGENTUTILS_LEAN=$${AGENTUTILS_LEAN-$$(sh .ci/lean)} sh .ci/quietly "release build" \
		$(SWIFT) build -c release $(FLAGS) $(SWIFTFLAGS) $$(sh .ci/cxx)
	@$(MAKE) -s links

# LINKS=debug puts the debug build into bin.
LINKS = release
links:
	@$(foreach program,$(PROGRAMS),for command in $($(program)) $($(program)-former); do \
		ln -sf "../.build/$(LINKS)/$(program)" "bin/$$command"; done;) \
	for command in $(SERVER); do ln -sf "../.build/$(LINKS)/$$command" "bin/$$command"; done

check: test

# A release build keeps one core busy; meanwhile the other builds the unit tests, elsewhere, and
# runs them.
test: deps
	@mkdir -p .build; \
	$(AS_AT_FIRST) $(MAKE) -s unit UNITS="--scratch-path .build/unit" >.build/unit.log 2>&1 & units=$$!; \
	$(MAKE) -s build lint; status=$$?; \
	wait $$units || status=1; cat .build/unit.log; exit $$status
	@$(MAKE) -s cli

UNITS =
unit:
	@sh .ci/quietly "unit tests" $(SWIFT) test --disable-xctest $(UNITS)

# A job in the background of a shell ignores INT and QUIT, one under nohup HUP, and hands
# that on; the tests of signals need them as they were.
AS_AT_FIRST = perl -e '@SIG{qw(HUP INT QUIT)} = ("DEFAULT") x 3; exec @ARGV'
cli: all peers
	@echo "command tests"
	@PATH="$$PWD/bin:$$PATH" $(AS_AT_FIRST) Tests/cli/all

# In about two minutes: a debug build, the lint of changed files, and the command tests of changed
# commands, or of DIR=Tests/cli/FOLDER.
DIR =
quick: deps
	@$(AS_AT_FIRST) sh .ci/quick $(DIR)

# What others made, to hold ours against; without the network, tests do without.
peers:
	@sh .ci/peers

# Beside the real programs, which PEERS/NAME/box starts; what cannot be had is skipped.
PEERS =
real: all
	@sh Tests/real/run "$(PEERS)"

lint: all
	@sh Tests/lint/run

# All groups below, and from them the tables and README's figures.
bench-all: all
	@sh .ci/peers bench
	@PATH="$$PWD/bin:$$PATH" python3 Tests/bench/all.py

# The same from what was measured last.
figures:
	@python3 Tests/bench/figures/write.py

bench: all
	@sh .ci/peers bench
	@PATH="$$PWD/bin:$$PATH" sh Tests/bench/run

bench-filter: all
	@sh .ci/peers bench
	@PATH="$$PWD/bin:$$PATH" python3 Tests/bench/filter/bench.py

bench-ssh: all
	@PATH="$$PWD/bin:$$PATH" python3 Tests/bench/ssh/bench.py

bench-inbox: all
	@PATH="$$PWD/bin:$$PATH" python3 Tests/bench/inbox/bench.py

bench-bus: all
	@PATH="$$PWD/bin:$$PATH" python3 Tests/bench/bus/bench.py
	@PATH="$$PWD/bin:$$PATH" python3 Tests/bench/bus/scale.py

bench-archive: all
	@sh .ci/peers bench
	@PATH="$$PWD/bin:$$PATH" python3 Tests/bench/archive/bench.py

bench-size: all
	@PATH="$$PWD/bin:$$PATH" python3 Tests/bench/size/bench.py

# FUZZ_SECONDS (of each), FUZZ_SEED: see the scripts; FUZZ=stream for one alone.
FUZZ ?= filter stream websocket connect configuration hostkeys inbox serve
fuzz: all
	@for target in $(FUZZ); do \
		PATH="$$PWD/bin:$$PATH" python3 Tests/fuzz/$$target.py || exit; \
	done

demo: all
	@PATH="$$PWD/bin:$$PATH" sh Tests/demo

# Root only puts in place what somebody built.
built:
	@for command in $(COMMANDS) $(FORMER); do \
		test -x "bin/$$command" && continue; \
		test "$$(id -u)" -ne 0 || { \
			echo "bin/$$command is not built, and root builds nothing: run make as yourself" >&2; \
			exit 2; \
		}; \
		exec $(MAKE) all; \
	done

PLACES = DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' BINDIR='$(BINDIR)' PROGRAMDIR='$(PROGRAMDIR)' MANDIR='$(MANDIR)' \
	BASHDIR='$(BASHDIR)' ZSHDIR='$(ZSHDIR)' FISHDIR='$(FISHDIR)' UNITDIR='$(UNITDIR)' \
	DATADIR='$(DATADIR)' NOTE='$(NOTE)' SYSTEM='$(SYSTEM)'

install: built
	@$(PLACES) COMMANDS='$(COMMANDS)' FORMER='$(FORMER)' RECIPES='$(RECIPES)' MANUALS='$(MANUALS)' sh .ci/install

uninstall:
	@$(PLACES) sh .ci/install remove

# .build/agentutils_VERSION_ARCHITECTURE.deb
deb: built
	@MAKE='$(MAKE)' COMMANDS='$(COMMANDS)' sh .ci/deb

# .build/agentutils-VERSION-linux-ARCHITECTURE.tar.gz: the programs, for machines without Swift.
tarball: built
	@MAKE='$(MAKE)' sh .ci/tarball

# The sources of the last commit, which the two recipes below are about.
dist:
	@sh .ci/dist

# To build from the archive at URL, by default the one that dist makes:
# `make formula >agentutils.rb`, `make aur >PKGBUILD`.
formula aur:
	@URL='$(URL)' sh .ci/$@

# One list for the checks that go over everything.
commands:
	@echo $(COMMANDS)

recipes:
	@echo $(RECIPES)

former:
	@echo $(FORMER)

clean:
	rm -rf .build
	rm -f $(addprefix bin/,$(COMMANDS) $(FORMER))
