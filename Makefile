# Targets: build test check run bench fuzz. Each works in a fresh clone with Go alone.
GO ?= go
FUZZTIME ?= 30s
BENCHTIME ?= 1s
ROUNDS ?= 5

.PHONY: build test check run bench fuzz

# Without cgo the program needs no library of the system.
build:
	CGO_ENABLED=0 $(GO) build -o gslbd ./cmd/gslbd

test:
	$(GO) test ./...

# It is to compile for 32 bits too. The budgets and import rules are tests of cmd/gslbd; their texts are in testdata/layout.
check:
	@unformatted=$$(gofmt -l cmd dnsserver health zone examples testdata) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "not gofmt'ed: $$unformatted"; exit 1; fi
	$(GO) vet ./... ./testdata/bench
	GOOS=linux GOARCH=386 $(GO) vet ./... ./testdata/bench
	$(GO) tool staticcheck ./... ./testdata/bench
	$(GO) test -count=1 -run '^TestRepo' ./cmd/gslbd

# exec, so that what stops make stops the quickstart, and with it all that it started.
run: build
	@$(GO) build -o examples/quickstart/quickstart ./examples/quickstart
	@exec examples/quickstart/quickstart -dir examples/quickstart -gslbd ./gslbd

# What is measured and how: testdata/bench/README.md.
bench:
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...
	$(GO) run ./testdata/bench -rounds $(ROUNDS)
	$(GO) run ./testdata/bench packets
	$(GO) run ./testdata/bench latency
	$(GO) run ./testdata/bench memory
	$(GO) run ./testdata/bench probes

# Every fuzz target of every package, FUZZTIME each. "context deadline exceeded" without a failing input is
# a race of Go before 1.27 (golang/go#75804); FUZZTIME=1000000x, a number of inputs, avoids it.
fuzz:
	@for pkg in $$($(GO) list ./...); do \
	  names=$$($(GO) test -list '^Fuzz' $$pkg) || { echo "$$names"; exit 1; }; \
	  for name in $$(echo "$$names" | grep '^Fuzz'); do \
	    echo "== $$pkg $$name"; \
	    $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done; \
	done
