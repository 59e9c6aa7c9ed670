# vBNG. `make help` lists what can be done.
GO      ?= go
BIN     := bin
PACKAGES := ./...
# Every fuzz target gets this long in `make fuzz`; CI divides a minute and a half among all of them.
FUZZTIME ?= 5s
LABARGS ?=
# What "vbngd version" and the package say.
VERSION ?= $(shell cat etc/deb/version)

.DEFAULT_GOAL := help
.PHONY: help build test race fuzz lint bench bench-report lab run packages deb clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

build: ## build vbngd, vbng and vbng-sim into bin/
	@mkdir -p $(BIN)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-X main.release=$(VERSION)' -o $(BIN)/ ./cmd/vbngd ./cmd/vbng ./cmd/vbng-sim

test: lint ## unit and golden tests, no root needed
	$(GO) test $(PACKAGES)

race: ## the same tests under the race detector
	$(GO) test -race $(PACKAGES)

fuzz: ## run every fuzz target for FUZZTIME
	@etc/fuzz.sh $(FUZZTIME)

lint: ## gofmt, go vet, staticcheck
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "not gofmt-clean: $$bad"; exit 1; }
	$(GO) vet $(PACKAGES)
	$(GO) vet -tags lab ./etc/lab/... ./routing/bgp
	$(GO) tool staticcheck $(PACKAGES)

bench: build ## the engine's benchmark, as ratios to this machine's calibration
	$(BIN)/vbng-sim bench --scenario upstream --size 256 --sessions 32768 --routes 500000
	$(BIN)/vbng-sim bench --scenario downstream --size 256 --sessions 32768 --routes 500000

bench-report: build ## the benchmark over many cases, with plots, into docs/performance (minutes)
	$(GO) run ./etc/bench -sim $(BIN)/vbng-sim -out docs/performance

packages: ## install the Debian packages that run and lab need (root)
	@etc/lab/packages.sh

lab: packages build ## end-to-end tests with real peers in network namespaces (root)
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/ ./etc/lab/umlexec
	$(GO) test -tags lab -count=1 -timeout 60m -v $(LABARGS) ./etc/lab/... ./routing/bgp

run: packages build ## a lab of your own: router, subscribers, Internet, and the CLI (root)
	@etc/lab/run.sh

deb: build ## a Debian package with systemd units, in dist/
	@etc/deb/build.sh $(BIN) dist $(VERSION)

clean: ## remove what was built
	rm -rf $(BIN) dist
