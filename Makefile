# make help lists the targets.

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
# IMAGE is the image's name, with the registry before it where there is one.
IMAGE    ?= swarmdiag
ARCHS    ?= amd64 arm64
# LIVE_FAULTS is what the live tests make go wrong on Docker 20.10: short or whole.
LIVE_FAULTS ?= short

DOCKER_CONFIG ?= $(HOME)/.docker
BUILD = CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION) -X main.revision=$(REVISION)'

.DEFAULT_GOAL := test
.PHONY: help build run plugin docs image binaries version test test-all lint unit oracle bench fuzz demo prometheus live clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## the static binary, bin/swarmdiag
	$(BUILD) -o bin/swarmdiag ./cmd/swarmdiag

run: build ## the demo: every way in which the scheduler refuses a task, on an embedded swarm, until Ctrl-C; needs no Docker, no root
	bin/swarmdiag demo

plugin: build ## install the Docker CLI plugin for this user: docker swarmdiag why
	install -D -m 755 bin/swarmdiag $(DOCKER_CONFIG)/cli-plugins/docker-swarmdiag

docs: ## write docs/causes.md anew
	CGO_ENABLED=0 go run ./cmd/swarmdiag causes --markdown > docs/causes.md.new
	mv docs/causes.md.new docs/causes.md

image: binaries ## the image for each of ARCHS, named IMAGE:VERSION-ARCH
	IMAGE=$(IMAGE) VERSION=$(VERSION) REVISION=$(REVISION) deploy/image $(ARCHS)

binaries: $(ARCHS:%=dist/linux-%) ## the static binary for each of ARCHS, below dist

dist/linux-%: FORCE
	GOOS=linux GOARCH=$* $(BUILD) -o $@/swarmdiag ./cmd/swarmdiag

FORCE:

version: ## print VERSION, the tag of the images
	@echo $(VERSION)

test: ## everything: all of the stages below, live swarms included (as root)
	LIVE_FAULTS=$(LIVE_FAULTS) deploy/ci/test

test-all: ## as test, with 1,000,000 verdicts, and on Docker 20.10 all that 27.5.1 has
	LIVE_FAULTS=whole ORACLE_PAIRS=$${ORACLE_PAIRS:-1000000} deploy/ci/test

lint: ## gofmt, vet, staticcheck, go mod tidy -diff, imports between folders
	deploy/ci/test lint

unit: ## the tests that need neither root nor Docker
	deploy/ci/test unit

oracle: ## 1,000,000 verdicts and every sentence held against swarmkit's own scheduler (ORACLE_PAIRS, ORACLE_SEED)
	ORACLE_PAIRS=$${ORACLE_PAIRS:-1000000} deploy/ci/test oracle

bench: build ## what it costs at 1,000 nodes and 50,000 tasks, and whether the bars are met: exit status 1 where one is short
	go run ./deploy/bench

fuzz: ## every fuzz target, 10,000 runs each
	deploy/ci/test fuzz

demo: ## the demo, once: its exit status says whether every planted fault was named
	deploy/ci/test demo

prometheus: ## promtool on the scrape example, the alerts and what /metrics shows
	deploy/ci/test prometheus

live: ## end to end on real swarms of Docker 27.5.1 and 20.10, and of 28.5.2 for cluster volumes; needs root
	LIVE_FAULTS=$(LIVE_FAULTS) deploy/ci/test live-27.5.1 live-20.10 live-28.5.2

clean: ## remove bin and dist; the cache of fetched daemons stays (~/.cache/swarmdiag)
	rm -rf bin dist
