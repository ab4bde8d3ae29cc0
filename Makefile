# make run   plays a recorded session through the gate, then serves the gateway
# make test  runs every test, with the race detector where it matters, and real
#            client libraries against the gateway
GO ?= go

.PHONY: run build cross release release-programs release-sizes release-check release-test release-tools image site tools house playground prove clients test test-long agents servers peers evidence learning bench bench-gateway bench-growth fuzz properties check clean

run: build
	./bin/stopgate demo
	./bin/stopgate up

# stopgate-hook answers hooks: agents start it once for each call.
#
# Go itself writes the version and the revision of the checkout into the programs. VERSION
# says it where there is no checkout, as in an image.
VERSION ?=
VCS := $(if $(VERSION),-buildvcs=false)
BUILD = CGO_ENABLED=0 $(GO) build -trimpath $(VCS) -ldflags "-s -w $(if $(VERSION),-X github.com/stopgate/stopgate/internal/release.version=$(VERSION))"

BIN ?= bin/
build:
	$(BUILD) -o $(BIN) ./cmd/...

# Systems that are not this one: macOS with its tests, and Windows, where programs only
# say that it is not supported but packages are good for other programs.
cross:
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) build ./...

# Everything that is published: archives, packages, image, formula, installer, notes, checksums; deploy/release
# has the table. The same bytes from every checkout of a commit with the same compiler. The tag, or what
# git makes of the last one, is their version. STOPGATE_RELEASE_KEY names the key that signs. PROGRAMS is a
# directory of programs that release-programs compiled before.
PROGRAMS ?=
SYSTEMS ?=
DESCRIBED = $(or $(VERSION),$(shell git describe --tags --always --dirty))
RELEASE = cd deploy && $(GO) run ./release -version "$(DESCRIBED)"
release:
	rm -rf dist/image dist/*.*
	$(RELEASE) $(if $(PROGRAMS),-programs $(abspath $(PROGRAMS)))
	$(MAKE) -C clients release VERSION=$(DESCRIBED)
	$(RELEASE) checksums

release-programs:
	$(RELEASE) -programs $(abspath $(PROGRAMS)) $(if $(SYSTEMS),-systems $(SYSTEMS)) programs

# The table of sizes in docs/install.md, of the files in dist.
release-sizes:
	$(RELEASE) sizes ../docs/install.md

# The packages for this system, from the programs in bin: signed, installed, run and removed, as far as the machine
# can: .ci/run does it.
CHECKED = $(abspath dist/check)
release-check: build
	@command -v minisign >/dev/null || $(call install,minisign,the installer)
	rm -rf dist/check && mkdir -p dist/check/programs/$(HERE)
	cp bin/stopgate bin/stopgate-hook dist/check/programs/$(HERE)
	minisign -G -W -f -p dist/check/key.pub -s dist/check/key >/dev/null
	export STOPGATE_RELEASE_KEY=$(CHECKED)/key; $(RELEASE) -programs $(CHECKED)/programs -systems $(subst -,/,$(HERE)) -o $(CHECKED)/files && \
		$(GO) run ./release -version "$(DESCRIBED)" -o $(CHECKED)/files checksums
	cd deploy && STOPGATE_RELEASE=$(CHECKED)/files $(GO) test -count=1 -timeout $(LIMIT) -v -run 'Installs|Runs|OfRelease|Archives' ./release
HERE = $(shell $(GO) env GOOS)-$(shell $(GO) env GOARCH)

# Makes the release twice and compares it, then installs every package and runs what it has: many minutes. Needs root
# for deb. STEP is a command that runs each step; COLD=1 compiles the second release without what the first one compiled.
TWICE ?= dist/twice
release-test: release-tools
	rm -rf $(TWICE)
	COLD=$(COLD) STEP="$(STEP)" deploy/release/twice.sh $(abspath $(TWICE))
	cd deploy && STOPGATE_RELEASE=$(abspath $(TWICE))/a/dist STOPGATE_RELEASE_WHOLE=1 $(STEP) $(GO) test -count=1 -timeout 60m -v ./release

# The image as an OCI layout, made without a daemon, and a list of the modules in the programs (CycloneDX).
image:
	$(RELEASE) -systems linux/amd64,linux/arm64 image bill

# The documentation site with the playground, as a version of dist/site: tools from PyPI, then no network.
site: VERSION := $(or $(VERSION),$(shell git describe --tags --always --dirty))
site: playground
	rm -rf dist/site
	$(MAKE) -C site site VERSION=$(VERSION)

# Measures of the code: lines, what deciding links, sizes of packages and types, what is
# exported, words of comments.
house:
	@$(GO) run ./internal/testkit/house

# The page that decides calls in the browser (docs/try.md): the same bytes from every
# checkout of a commit with the same compiler.
playground:
	$(GO) run ./playground -o dist/playground

# The clients for Python and TypeScript, with the agent frameworks that they have adapters for.
clients: build
	$(MAKE) -C clients test

# The model of how gates that share a store release calls, in every interleaving.
prove: tools
	$(GO) test -count=1 -v ./proofs

# What tests start: installed by name where it is missing and can be.
install = { command -v apt-get >/dev/null && { apt-get install -y -qq $(1) >/dev/null || { apt-get update -qq && apt-get install -y -qq $(1) >/dev/null; }; }; } || \
	  { echo "install $(1): tests of $(2) need it"; exit 1; }
tools:
	@command -v redis-server >/dev/null || command -v valkey-server >/dev/null || $(call install,redis-server,the Redis publisher)
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || $(call install,postgresql,the PostgreSQL store)
	@test "$$(uname)" != Linux || ls /usr/lib/*/faketime/libfaketime.so.1 >/dev/null 2>&1 || $(call install,libfaketime,clocks)
	@command -v spin >/dev/null || $(call install,spin,the model of releases)
	@test "$$(uname)" != Linux || command -v systemd-analyze >/dev/null || $(call install,systemd,the units)
	@command -v minisign >/dev/null || $(call install,minisign,signed policy bundles)

# How long the tests of one package may take on a busy machine.
LIMIT ?= 40m

# What release-test installs packages with.
release-tools:
	@for tool in rpm pipx ruby zsh fish dash busybox shellcheck minisign wget; do command -v $$tool >/dev/null || set -- $$@ $$tool; done; \
	command -v man >/dev/null || set -- $$@ man-db; command -v systemd-analyze >/dev/null || set -- $$@ systemd; \
	test $$# -eq 0 || apt-get install -y -qq $$@ >/dev/null || { apt-get update -qq && apt-get install -y -qq $$@ >/dev/null; }

test: export STOPGATE_REQUIRE_REDIS = 1
test: export STOPGATE_REQUIRE_MINISIGN = 1
test: tools
	$(GO) vet ./...
	$(GO) test -timeout $(LIMIT) ./...
	cd interop/mcp && $(GO) vet ./... && $(GO) test -timeout $(LIMIT) ./...
	cd deploy && $(GO) vet ./... && $(GO) test -timeout $(LIMIT) ./...
	$(GO) test -timeout $(LIMIT) -race -short ./gate/... ./gateway/... ./internal/gateway/... ./audit/... ./decide/... ./approve/... ./internal/approve/... ./internal/replay/... ./internal/record/... ./internal/system/socket ./internal/flow/index
	$(MAKE) -C interop test

# The long tier: a million evaluator cases, every re-chunking, ten thousand kills;
# properties draw new cases.
test-long:
	STOPGATE_LONG=1 STOPGATE_SEED=random $(GO) test -timeout 40m ./...

# Servers that packs know, installed by name, against the table of known tools.
servers:
	cd interop/mcp && STOPGATE_SERVERS=1 $(GO) test -count=1 -v -run TestPacksKnowTheServers .

# Other gateways that the benchmarks compare with, where they are installed.
peers:
	@command -v nginx >/dev/null || apt-get install -y -qq nginx-light
	$(MAKE) -C interop peers

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# The gateway as users run it beside other proxies, in the page with the numbers: takes half an hour.
bench-gateway: build peers
	cd interop && $(GO) run ./gatewaybench -write ../docs/performance.md

# What 1,000 to 100,000 rules cost, with the exponent of the growth: takes minutes.
bench-growth:
	$(GO) test ./internal/prove/diff -run '^$$' -bench Growth -benchtime 1x -timeout 1h

FUZZTIME ?= 30s
fuzz:
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "== $$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzzminimizetime 20x -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done; done

# Recorded agent runs under prompt injection through the policies of examples/flow.
evidence:
	$(MAKE) -C interop evidence

# What rules that are learned from approvals save, by cross-validation on recorded calls: takes minutes.
learning:
	$(MAKE) -C interop learning

CHECKS ?= 20000
properties:
	STOPGATE_SEED=random RAPID_CHECKS=$(CHECKS) $(GO) test -timeout 60m $$(grep -rl 'testkit/property"' --include=*_test.go . | xargs -n1 dirname | sort -u)

# Real coding agents, installed by name: takes minutes.
agents:
	$(MAKE) -C interop agents

clean:
	rm -rf bin dist
