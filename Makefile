# make build   the command, as ./redfox
# make test    all tests; says at the end what it left out
# make quick   the same tests over fewer cases, without peers: go test -short
# make every   the tests that make test runs over a part of their cases, over all of them
# make mutations   tests of damaged files, a hundred thousand changes of each
# make check   vet and the house rules, in seconds
# make audit   staticcheck, govulncheck, and short tests with the race detector
# make fuzz    every fuzz target for FUZZTIME
# make bench   the benchmarks, against peers where they are installed
# make docs    rewrite the outputs in README.md and all golden files
# make ptx     what every kernel of the test programs takes of a GPU; needs ptxas
# make test-gpu   every test program and random ones on the GPU and on the go engine
# make primitives   compile primitives/src to bitcode, and the service kernels to PTX;
#                   needs clang-15 and llvm-15

GO       ?= go
FUZZTIME ?= 10s
PYTHON   ?= bench/data/venv/bin/python

.PHONY: build test quick every mutations check audit fuzz bench docs ptx test-gpu primitives

# The flags are those of a plain go run and go test, so nothing is compiled twice.
build:
	$(GO) build -o redfox ./cmd/redfox

# Skipped tests hide from a plain go test; runtests lists them with their reasons.
# The peer comparison needs what .ci/run installs.
test: check build
	$(GO) run ./internal/runtests ./...
	@if [ -x $(PYTHON) ] && [ -d bench/data/tpch ]; then \
	  $(GO) run ./bench -python $(PYTHON) -repeat 1 tc tpch ssb; \
	else \
	  echo "Left out: answers compared with DuckDB on TPC-H, SSB and real graphs; .ci/run installs what that needs."; \
	fi

quick:
	$(GO) run ./internal/runtests -short ./...

# These packages have tests that look at short.Every. REDFOX_EVERY_CASE=1 make test runs all
# cases, too.
EVERY = ./internal/driver ./primitives ./runtime/native ./weaver/expr

every:
	REDFOX_EVERY_CASE=1 $(GO) run ./internal/runtests $(EVERY)

mutations:
	REDFOX_EVERY_MUTATION=1 $(GO) run ./internal/runtests ./runtime/store/rfdb ./runtime/store/read

check:
	$(GO) vet ./...
	$(GO) test ./internal/lint

# The tools are not in go.mod, so that their dependencies are not ours.
audit:
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	sh .ci/vulnerabilities.sh
	sh .ci/races.sh

# go test fuzzes one target at a time. Inputs that reach new code are not made smaller for
# long, or files of kilobytes take all of the time.
fuzz:
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$pkg; \
	  done; \
	done

bench:
	$(GO) run ./bench -python $(if $(wildcard $(PYTHON)),$(PYTHON),python3)

docs:
	@set -e; for file in $$(grep -rlE '^[[:space:]]"github.com/cockroachdb/datadriven"$$' --include='*_test.go' .); do \
	  dirname $$file; \
	done | sort -u | while read -r dir; do $(GO) test $$dir -rewrite; done
	$(GO) test ./cmd/redfox -run 'TestReadme|TestReference' -rewrite
	$(GO) run ./bench docs

# A plain go test takes one kernel of each kind.
ptx:
	$(GO) test ./weaver/emit -run TestPTXRegisters -every -v -timeout 2h
	$(GO) test ./internal/driver -run TestPTXOfQueries -both -v -timeout 2h

# redfox-selftest runs on machines without Go, too: copy it and testdata there.
# Without cgo, it runs with any C library.
test-gpu:
	CGO_ENABLED=0 $(GO) build -trimpath -o redfox-selftest ./cmd/redfox-selftest
	./redfox-selftest -engine gpu -random 500 -runs 3
	./redfox-selftest -engine gpu -random 500 -seed 1000 -parallel 8
	./redfox-selftest -engine gpu -only quickstart -runs 1000

primitives:
	sh primitives/src/build.sh
	sh primitives/service/src/build.sh
