# The one door: `make` lists what it can do. Python 3.11 or newer, git and make are all it needs;
# everything else is installed into .venv from the hash-locked requirements.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
UV := uv==0.13.9

# The parts whose every branch is tested: the rule, the wire, the choice of a route, the sums, and
# the client library.
PROVEN := src/latchway/turn/*,src/latchway/wire/*,src/latchway/routes/select.py
PROVEN := $(PROVEN),src/latchway/ledger/prices.py,src/latchway/ledger/reservation.py
PROVEN := $(PROVEN),client/src/latchway_client/*

CHECKED := src client tests tools bench examples site

.DEFAULT_GOAL := help
.PHONY: help run demo test lock lock-splits mutants mutant mutate lint format docs site held defaults clients agents upstreams fuzz sim sim-long sim-bugs explore wheel relock bench profile costs bench-programs clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(READY) ## the gateway: latchway.yaml if it is here, else the demo configuration
	$(BIN)/latchway serve

demo: $(READY) ## two scripted upstreams, the first fails; watch one replayed turn
	$(BIN)/latchway demo

test: lint ## all that CI runs: format, lint, types, tests, coverage, the repository's rules
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage report --skip-covered --include='$(PROVEN)' --fail-under=100

lint: $(READY) ## format check, lint, strict types
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/mypy

lock: $(READY) ## play every scenario anew, write its fixtures and LOCK, print the difference
	PYTHONPATH=tests $(BIN)/python -m lock record

lock-splits: $(READY) ## every upstream's bytes, cut at every place and ended in every way
	PYTHONPATH=tests $(BIN)/python -m lock splits

mutants: $(READY) ## break every rule on purpose; the lock must notice each time
	PYTHONPATH=tests $(BIN)/python -m mutants.run

mutant: $(READY) ## what the lock says of a patch: make mutant FILE=x.patch
	PYTHONPATH=tests $(BIN)/python -m mutants.run --patch '$(FILE)'

mutate: $(READY) ## break every line of the proven sources in small ways; a quarter of an hour
	PYTHONPATH=tests $(BIN)/python -m mutants.mutate

format: $(READY) ## rewrite src and tests in the one format
	$(BIN)/ruff format $(CHECKED)
	$(BIN)/ruff check --fix $(CHECKED)

docs: $(READY) ## print the pages of docs/ that are made from tables
	$(BIN)/python tools/print_docs.py

site: .site/.ready docs ## docs/ as a site in .site/html, to be read from the folder: no network
	rm -rf .site/html
	.site/venv/bin/sphinx-build -q -W --keep-going -b html -c site -d .site/doctrees docs .site/html
	! grep -rlE '<(script|img|link|iframe)[^>]*(src|href)="https?:' .site/html --include='*.html'
	@echo 'open .site/html/index.html'

held: $(READY) ## how long events are held, behind scripted and real upstreams; minutes
	cd tests && ../$(BIN)/python -m docs.held

defaults: $(READY) ## how often clients send a failed turn, by default; minutes, a network, node
	cd tests && ../$(BIN)/python -m docs.defaults

fuzz: $(READY) ## 5 million new inputs for all that reads; TARGET=, SEED=, FILE=: one again
	PYTHONPATH=tests $(BIN)/python -m fuzz $(if $(INPUTS),--inputs $(INPUTS)) \
		$(if $(TARGET),--target $(TARGET)) $(if $(SEED),--seed $(SEED)) $(if $(FILE),--file $(FILE))

sim: $(READY) ## half a million turns in simulated worlds; SEED=: one world again, all that happens
	PYTHONPATH=tests $(BIN)/python -m sim $(if $(TURNS),--turns $(TURNS)) $(if $(SEED),--seed $(SEED))

sim-long: $(READY) ## the same for a night: until it is stopped, or finds something
	PYTHONPATH=tests $(BIN)/python -m sim --forever

sim-bugs: $(READY) ## plant bugs in copies of the source: the simulation must find each
	PYTHONPATH=tests $(BIN)/python -m sim.bugs

explore: $(READY) ## all that can happen to a turn, to eight events deep, a kill after each
	PYTHONPATH=tests $(BIN)/python -m turn.deep $(if $(DEPTH),--depth $(DEPTH))

clients: $(READY) ## real clients against every way of failing; minutes, a network, node and curl
	cd tests && ../$(BIN)/python -m clients.run

upstreams: $(READY) ## real model servers as upstreams, asked, stopped and killed; installs them
	cd tests && ../$(BIN)/python -m servers.run $(SERVER)

agents: $(READY) ## agent SDKs and Codex, each turn of theirs failing before output; needs a network
	cd tests && ../$(BIN)/python -m agents.run

bench: $(READY) bench-programs ## what a turn costs, beside other gateways; WORKLOADS=, SUBJECTS=, TRANSPORTS=, RUNS=
	PYTHONPATH=tests $(BIN)/python -m bench $(if $(RUNS),--runs $(RUNS)) \
		$(if $(SECONDS),--seconds $(SECONDS)) $(if $(WORKLOADS),--workloads '$(WORKLOADS)') \
		$(if $(SUBJECTS),--subjects '$(SUBJECTS)') $(if $(TRANSPORTS),--transports '$(TRANSPORTS)') \
		$(if $(FOLDER),--folder '$(FOLDER)')

profile: $(READY) bench-programs ## where a turn's time goes, by function; WORKLOADS=, TRANSPORT=
	PYTHONPATH=tests $(BIN)/python -m bench.profile $(if $(WORKLOADS),--workloads '$(WORKLOADS)') \
		$(if $(TRANSPORT),--transport '$(TRANSPORT)')

costs: $(READY) bench-programs ## what each thing costs that is done for a turn, by itself
	PYTHONPATH=tests $(BIN)/python -m bench.costs

bench-programs: .bench/bin/upstream .bench/bin/load

.bench/bin/%: bench/%.c $(wildcard bench/*.h)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -Wall -Wextra -Werror -o $@ $<

.site/.ready: site/requirements.lock
	$(PYTHON) -m venv .site/venv
	.site/venv/bin/pip --disable-pip-version-check install --quiet --require-hashes --requirement $<
	@touch $@

wheel: $(READY) ## build dist/latchway-*.whl, and latchway_client's
	$(BIN)/pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation --wheel-dir dist . ./client

relock: $(READY) ## choose new versions of all dependencies and lock them with their hashes
	$(BIN)/pip --disable-pip-version-check install --quiet '$(UV)'
	$(BIN)/uv $(LOCK) --output-file requirements.lock pyproject.toml
	$(BIN)/uv $(LOCK) --output-file requirements-dev.lock pyproject.toml --group dev
	$(BIN)/uv $(LOCK) --output-file site/requirements.lock site/requirements.in

# Universal: one lock for every platform. No index address is written: pip's own setting decides.
LOCK := --system-certs pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header

clean: ## remove what was built; .venv too
	rm -rf $(VENV) .clients .bench .site dist build .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "latchway needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(READY): $(VENV)/.made requirements-dev.lock pyproject.toml client/pyproject.toml
	$(BIN)/pip --disable-pip-version-check install --quiet --require-hashes --requirement requirements-dev.lock
	$(BIN)/pip --disable-pip-version-check install --quiet --no-deps --no-build-isolation --editable . --editable ./client
	@touch $@
