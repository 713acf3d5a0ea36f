# xfer: build, try, test. Packages that are missing are installed (Debian); everything built lies below .build.

SWIFT   ?= $(shell command -v swift || echo /opt/swift/usr/bin/swift)
PREFIX  ?= /usr/local
DESTDIR ?=
# What `make run` fetches, and further options for `xferctl add`, for example ARGS='--checksum sha-256=…'.
URL     ?=
ARGS    ?=
# What `make bench` measures anew, comma-separated; everything unless it says.
ROW     ?=
# Inputs per parser of `make fuzz`.
INPUTS  ?= 100000
# 1: the figures `make instructions` sees are the ones to hold from now on.
UPDATE  ?=

# 1: libraries were fetched before, and building asks no network.
OFFLINE ?=
# The key that signs `make apt-repo`: an id or address that gpg knows.
KEY     ?=

# Line tables are enough for backtraces. Paths begin at the tree, so that equal trees make equal programs.
DEBUG   := -Xswiftc -gline-tables-only -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=.
# Objects have no hash over the directory: neither of clang's modules, nor of the compiler's input.
EQUAL   := -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs \
           -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
# Each function has a section: the linker leaves out what is not called, and keeps one of functions with equal code.
# Without -internalize-at-link each public function counts as called.
CODE    := -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -Xfrontend -Xswiftc -internalize-at-link \
           -Xcc -ffunction-sections -Xcc -fdata-sections
# The programs carry Swift's runtime in themselves. Colours are a compiler flag: on a terminal everything would be built anew.
RELEASE := -c release --static-swift-stdlib --no-color-diagnostics $(DEBUG) $(EQUAL) $(CODE) \
           $(if $(OFFLINE),--skip-update --disable-automatic-resolution)
# Without TLS for listeners, which takes minutes to compile.
PLAIN   := $(RELEASE) --disable-default-traits
# The first try is compiled without optimisation, in a folder of its own: no other build begins anew by it.
FIRST   := .build/first
QUICK   := --scratch-path $(FIRST) --no-color-diagnostics --disable-default-traits $(DEBUG)
PRIVATE := .build/run

# For --version: 1.0.0 (COMMIT) of a tagged commit, 1.0.0~dev+COMMIT of any other.
TAGGED  := $(shell git describe --exact-match --tags HEAD 2> /dev/null)
export XFER_COMMIT := $(if $(TAGGED),,dev+)$(shell git rev-parse --short=12 HEAD 2> /dev/null)

export PATH := $(dir $(SWIFT)):$(PATH)

.PHONY: help build run stop test check lint instructions install uninstall bench fuzz soak test-alerts test-upgrade release screenshots \
	fleet-demo fleet-demo-stop clean deb test-deb dist image apt-repo reproducible packages-build packages-fleet packages-test packages-soak packages-bench packages-deb

help:
	@echo 'make run URL=… [ARGS=…] [CONFIG=…]   fetch something with a daemon of its own'
	@echo 'make stop                 end that daemon'
	@echo 'make fleet-demo           two nodes of a fleet on this machine, with a PostgreSQL of their own (make fleet-demo-stop)'
	@echo 'make build                all programs, optimised, in .build/release'
	@echo 'make test                 every test (make lint: style, imports, schema, units)'
	@echo 'make check [SINCE=HEAD]   the suites of the targets that changed since then'
	@echo 'make install [PREFIX=$(PREFIX)] [DESTDIR=]'
	@echo 'make deb                  Debian packages of what is committed, in .build/deb'
	@echo 'make dist                 a tarball with the programs and an install script, in .build/dist'
	@echo 'make image                an OCI image, in .build/image'
	@echo 'make apt-repo KEY=…       a signed repository of the packages for apt, in .build/apt'
	@echo 'make test-deb             install, upgrade and remove the packages in a bare Debian (root)'
	@echo 'make test-upgrade         50 transfers of the last release are finished by what is built now'
	@echo 'make reproducible         build the packages twice, in two directories, and compare (an hour)'
	@echo 'make bench [ROW=…]        beside curl, aria2, wget2 and wrk, into Benchmarks/RESULTS.md (three quarters of an hour; ARGS=--small is a try)'
	@echo 'make instructions         what xferd executes per task, against Benchmarks/instructions.json (UPDATE=1 writes it)'
	@echo 'make fuzz [INPUTS=100000]  every parser of outside input, with inputs made by libFuzzer (half an hour)'
	@echo 'make soak                 power cuts, long property runs, ThreadSanitizer (hours; root for some)'
	@echo 'make screenshots          pictures of the web page, into .build/screenshots and docs/images'
	@echo 'make clean                removes .build'

packages-build packages-fleet packages-test packages-soak packages-bench packages-deb: packages-%:
	@scripts/packages $*

build: packages-build
	$(SWIFT) build $(RELEASE) --product xferd
	$(SWIFT) build $(RELEASE) --product xferctl
	$(SWIFT) build $(RELEASE) --product xfer-fleet
	ln -sf xferctl .build/release/xfer-aria2c

run: packages-build
	@[ -x $(FIRST)/debug/xferctl ] || echo 'The first build takes some three minutes on two cores. It is not optimised; `make build` is.'
	$(SWIFT) build $(QUICK) --product xferd
	$(SWIFT) build $(QUICK) --product xferctl
	@if [ -z '$(URL)' ]; then echo "make run URL=https://example.org/file [ARGS='-o name']" >&2; exit 2; fi
	@scripts/private-daemon start $(PRIVATE) $(FIRST)/debug
	@$(FIRST)/debug/xferctl add --socket '$(CURDIR)/$(PRIVATE)/xferd.sock' --wait $(ARGS) '$(URL)'

stop:
	@scripts/private-daemon stop $(PRIVATE) $(FIRST)/debug

fleet-demo: packages-build packages-fleet
	$(SWIFT) build $(PLAIN) --product xferd
	$(SWIFT) build $(PLAIN) --product xferctl
	$(SWIFT) build $(PLAIN) --product xfer-fleet
	@scripts/fleet-demo start $(PRIVATE)/fleet

fleet-demo-stop:
	@scripts/fleet-demo stop $(PRIVATE)/fleet

test: packages-test
	.ci/test

check: packages-test
	.ci/check $(SINCE)

lint: packages-test
	.ci/lint

install: build
	scripts/install '$(DESTDIR)' '$(PREFIX)'

uninstall:
	scripts/install --remove '$(DESTDIR)' '$(PREFIX)'

deb: packages-deb
	scripts/deb

dist: build
	scripts/dist

image: deb
	scripts/image

apt-repo: deb
	scripts/apt-repo '$(KEY)'

test-deb: deb
	Tests/debian/run $(ARGS)

reproducible: packages-deb
	scripts/reproducible

bench: build packages-bench
	$(SWIFT) build $(RELEASE) --product fleet-bench
	Benchmarks/bench.py --programs .build/release --write $(if $(ROW),--rows '$(ROW)') $(ARGS)

# The programs of the tests are counted: they are optimised as those that are installed.
instructions: packages-build packages-test
	.ci/build --product xferd
	Benchmarks/instructions.py --programs .build/tested/release $(if $(UPDATE),--update) $(ARGS)

fuzz: packages-build
	.ci/fuzz $(INPUTS)

# Debian's Prometheus scrapes a daemon, and each alert fires in its case.
test-alerts: packages-soak
	$(SWIFT) build --product xferd
	Tests/alerts/run

# Transfers of the last release (scripts/releases) are finished by today's xferd.
test-upgrade: packages-build
	$(SWIFT) build --product xferd
	Tests/Campaigns/upgrade

# Goes through the list for a release; makes none.
release:
	scripts/release

soak: build packages-soak
	.ci/soak

screenshots: packages-test
	$(SWIFT) build --product xferd
	$(SWIFT) build --product xferctl
	scripts/screenshots $(ARGS)

clean: stop
	rm -rf .build
