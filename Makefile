# What people run most. CONTRIBUTING.md says more. Each line works without make, too.
export GOWORK = off

BASE ?= main
.PHONY: build test check docs bench

build:
	go build -o krigo ./cmd/krigo

test:
	gofmt -l . | (! grep .)
	go vet ./...
	go test -vet=off -short ./...

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
