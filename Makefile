# What people run most. CONTRIBUTING.md says more. Each line works without make, too.
export GOWORK = off

BASE ?= main

# Tests of whole fits take minutes. Of the packages that have them, make test runs what is quick.
LONG = krigo$$|internal/command|cmd/krigo|internal/fit|docs/record|verify
QUICK = Options|Settings|Flags|Schema|Help|Fields|Words|Usage|Parse

.PHONY: build test check docs bench

build:
	go build -o krigo ./cmd/krigo

test:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...
	go test -vet=off -short $$(go list ./... | grep -vE '$(LONG)')
	go test -vet=off -short -run '$(QUICK)' $$(go list ./... | grep -E '$(LONG)')

check:
	.ci/run

docs:
	go generate ./internal/...
	UPDATE_SNAPSHOTS=1 go test ./internal/command -run 'TestSettings|TestSchema|TestFlags'
	cd laboratory && go run ./results
	go -C tools test ./site
	go run ./docs/record --check

bench:
	laboratory/bench/compare $(BASE)
