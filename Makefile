# Everything that contributors run. "make help" lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Without paths in compiled code, another clone of the same commit compiles nothing again: Go's cache has it.
# Compiling Plaza and its tests, with the race detector and without, costs a fifth as much as running the tests.
export GOFLAGS := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)

# Pinned tools. golangci-lint contains gofumpt v0.12.0 and staticcheck v0.8.2, so neither is installed
# separately. It is built once (about a minute on two cores) into the cache folder, for each version of
# golangci-lint and of Go, because a build by an older Go refuses newer code.
LINT_VERSION := v2.15.0
CACHE ?= $(or $(PLAZA_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/plaza)
LINT := $(CACHE)/golangci-lint-$(LINT_VERSION)-$(shell go env GOVERSION)/golangci-lint

# make test PKG=./storage/... TESTFLAGS='-run TestModel -v'
PKG ?= ./...
TESTFLAGS ?=

# The race detector needs a C compiler. It skips two packages that only compute, and take several times as long with it: SQLite, which
# is WebAssembly translated to Go, and the driver's raw BSON. So it does not see a race on the bytes of a document that happens inside
# that package. It must not skip the rest of the driver, because without its atomic operations it reports false races. The check of
# unsafe pointers is off: Plaza has none.
COMPUTING := github.com/ncruces/go-sqlite3-wasm/... go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore
RACE := $(if $(shell command -v "$$(go env CC)"),-race -gcflags=all=-d=checkptr=0 $(foreach code,$(COMPUTING),-gcflags='$(code)=-race=false -d=checkptr=0'))

# Collecting garbage less often saves a tenth of the tests' time and half of the linter's. Processes that need much memory collect it
# more often.
LESS_GC := GOGC=400 GOMEMLIMIT=4GiB

# By default, each process sleeps for a second at its end, so that other goroutines can still report a race. Our tests wait for their goroutines.
export GORACE ?= atexit_sleep_ms=100

# Runs a command with a MongoDB beside it, one for all packages (storage/mongodb/mongotest chooses it).
WITHMONGO := bin/withmongo

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## build the server into bin/plaza
	go build -ldflags='-s -w' -o bin/plaza .

.PHONY: run
run: ## run the server: make run ARGS='--demo'
	go run . $(ARGS)

# Tests that perform thousands of steps one after another: cases of bad input, of hidden posts, of index use, and the parts of the
# storage contract that are not about concurrency, or that two servers repeat under the race detector. The detector makes them three
# times as expensive, and the other tests run the same code under it concurrently; golden cases run under it on SQLite. Also tests
# that start a dozen or more short commands: with it, a process takes a quarter of a second to start. All tests that these patterns
# do not name run with the race detector.
SEQUENTIAL := TestBad|TestAllMistakes|TestSignedOutMutations|TestCursorsBelong|TestLimits
SEQUENTIAL := $(SEQUENTIAL)|TestHidden|TestManyHidden|TestDeletedIsMissing|TestVisibilityMeetsValue|TestSearchesMatchVisibleValues
SEQUENTIAL := $(SEQUENTIAL)|AnIndex|UseIndexes|IndexRanges|CommandCounts|TestCommandsReachTheirShard
SEQUENTIAL := $(SEQUENTIAL)|TestNewsOlderThanTheList|TestAVeryLongThread|OfPopularUser|TestDocumentsOfEveryVersion
SEQUENTIAL := $(SEQUENTIAL)|TestBench|TestEarlier|Migration[A-Za-z]*IsKilled
SEQUENTIAL := $(SEQUENTIAL)|TestBucketsAreTidy|TestSparsePages|TestPartsStayInOrder|TestDocumentsHaveAVersion|TestFullThread|TestPagesHaveAByteLimit
SEQUENTIAL := $(SEQUENTIAL)|TestEveryEarlierFile|TestExport|TestScopesOfAllFields|TestPayloadsShowOnlyIDs|TestNoMutationIsCarriedOutTwice
SEQUENTIAL := $(SEQUENTIAL)|TestRecentPostsAreThose|TestRecentPostsOfMany|TestALongThread|TestNothingIsLeft|TestModel|TestDeletingPopularUser|TestAway|TestManyFollowersMove|TestSeed
SEQUENTIAL := $(SEQUENTIAL)|TestBuildingListsDuringChanges|TestUnfollowingDuringPushes|TestRenewingNews|TestChangesWhilePosts|TestKeptJobs|TestAnEmptyList|TestNodesOf|TestManyLosses|TestAdsOnOneServer
SEQUENTIAL := $(SEQUENTIAL)|TestCommandsWhileAServerRuns|TestCommandsCreate|TestUserCommands|TestMigrationsThatAreRefused|TestMigrateDocumentsCommand
NOUNS := ^(Store|Notifications|IdempotencyKeys|Users|Profiles|Sessions|Circles|Graph|Posts|Feeds|Comments|Importer|Deletion|Cases|Decisions|Marks|LeftHandles)$$
SEQUENTIAL_TESTS := $(SEQUENTIAL)|TestContract(FromMemory)?$$/$(NOUNS)|TestContractOnTwoServers$$/(Importer|Deletion)|TestGolden$$/mongodb|TestContract$$/.*/$(NOUNS)|TestAds$$/^(Zones|Actions|Reports|Spending)$$
SEQUENTIAL_PKG = $(shell grep -rlE '^func [A-Za-z]*(TestContract|TestAds|$(SEQUENTIAL))' --include='*_test.go' . | xargs dirname | sort -u)

# SCHED_BATCH saves another tenth: otherwise Linux interrupts a test for each answer from the database, and the database for each
# question. Only Linux has it.
BATCH := $(shell chrt -b 0 true 2>/dev/null && echo chrt -b 0)

# Most tests wait for a database most of the time.
PARALLEL := $(shell expr 2 '*' "$$(getconf _NPROCESSORS_ONLN)")

# Never uses the test cache, because random cases are new in each run. Runs no go vet, because make verify does.
GOTEST := $(LESS_GC) go test -count=1 -vet=off -shuffle=on -timeout 3h -parallel $(PARALLEL)

# The whole suite runs in two halves, and each test is in one of them. They run at the same time, with one MongoDB: while a package of
# one half waits for something, the other half has both cores.
HALF := $(shell expr '(' "$$(getconf _NPROCESSORS_ONLN)" + 1 ')' / 2)

.PHONY: test
ifeq ($(PKG) $(TESTFLAGS),./... )
test: $(WITHMONGO) need-race ## run all tests, on SQLite and on MongoDB, with the race detector where things happen at the same time
	@$(BATCH) $(WITHMONGO) -- $(MAKE) --no-print-directory halves
else
test: race
endif

.PHONY: halves
halves:
	@$(GOTEST) -p $(HALF) $(RACE) -skip '$(SEQUENTIAL_TESTS)' ./... & race=$$!; status=0; \
	$(GOTEST) -p $(HALF) -run '$(SEQUENTIAL_TESTS)' $(SEQUENTIAL_PKG) || status=$$?; \
	wait $$race || status=$$?; \
	exit $$status

.PHONY: race
race: $(WITHMONGO) need-race ## run all tests with the race detector
	$(WITHMONGO) -- $(GOTEST) $(RACE) $(TESTFLAGS) $(PKG)

.PHONY: need-race
need-race:
	@$(if $(RACE),,$(if $(filter true,$(CI)),echo 'make: no C compiler, so no race detector' >&2; exit 1,echo 'make: NO C COMPILER: testing without the race detector' >&2))

.PHONY: test-short
test-short: ## run the quick tests: no race detector, no MongoDB
	CI= PLAZA_TEST_MONGODB_URI=none go test -short -timeout 1h $(TESTFLAGS) $(PKG)

.PHONY: e2e
e2e: $(WITHMONGO) ## run the browser tests in Chromium (installs Debian's when there is none)
	scripts/need.sh chromium=chromium
	$(WITHMONGO) -- go test -tags e2e -count=1 -timeout 1h $(TESTFLAGS) ./web/...

.PHONY: clients
clients: $(WITHMONGO) ## run public GraphQL clients for JavaScript and Python against the server (needs Node.js and Python)
	scripts/clients.sh
	PLAZA_CLIENTS_VENV=$(CURDIR)/bin/clients $(WITHMONGO) -- go test -tags clients -count=1 -timeout 30m -v $(TESTFLAGS) ./tests/clients

.PHONY: cover
cover: $(WITHMONGO) ## measure what the tests cover, into bin/cover.html
	packages=$$(go list ./... | grep -v -e /graph/generated -e /internal/cmd/ -e /internal/plazatest -e /tests/ | paste -sd,); \
	$(WITHMONGO) -- go test -count=1 -timeout 3h -coverprofile=bin/cover.out -coverpkg="$$packages" $(TESTFLAGS) $(PKG)
	go tool cover -html=bin/cover.out -o bin/cover.html
	@go tool cover -func=bin/cover.out | tail -1

# SNAP's ego-facebook networks (plaza import ego-facebook); without them, the figures leave them out.
NETWORKS ?= $(wildcard ../shared/data/ego-facebook)

# Run this on an otherwise idle machine; each takes some minutes. make figures FIGURES=comments
FIGURES ?= feeds comments model ads live

.PHONY: figures
figures: build $(WITHMONGO) ## measure the layouts again, and update docs/figures
	for name in $(FIGURES); do \
		networks=; if [ "$$name" = feeds ] && [ -n '$(NETWORKS)' ]; then networks='--networks=$(NETWORKS)'; fi; \
		$(WITHMONGO) -- sh -c 'bin/plaza bench "$$@" --mongodb-uri="$$PLAZA_TEST_MONGODB_URI"' sh "$$name" $$networks --out docs/figures; \
	done

.PHONY: generate
generate: ## regenerate everything that is generated
	go generate ./...
	scripts/web.sh

.PHONY: fmt
fmt: $(LINT) ## format all Go code
	$(LINT) fmt

.PHONY: lint
lint: $(LINT) ## run all linters, including the check of the formatting
	go vet ./...
	$(LESS_GC) $(LINT) run ./...

.PHONY: verify
verify: ## check that generated files and go.mod are up to date, and lint
	scripts/unchanged.sh $(MAKE) --no-print-directory generate
	go mod tidy -diff
	go mod verify
	@$(MAKE) --no-print-directory lint

.PHONY: tools
tools: $(LINT) ## install the tools that the targets above install when they need them

.PHONY: clean
clean: ## remove what was built here (not the cache folder)
	rm -rf bin

.PHONY: $(WITHMONGO)
$(WITHMONGO):
	@go build -o $@ ./internal/cmd/withmongo

$(LINT):
	@echo 'installing golangci-lint $(LINT_VERSION) (about a minute, once) …' >&2
	@mkdir -p '$(@D)'
	@GOFLAGS= GOBIN='$(@D)' go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
