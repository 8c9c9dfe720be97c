# Everything happens in .venv, which is made when it is first needed. Another Python: make PYTHON=python3.13 test

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
INSTALL := $(RUN)/python -m pip install --quiet --constraint constraints.txt

.PHONY: demo docs examples release-check test test-core bench bench-aggregates bench-compare bench-discover bench-engines bench-peers bench-proximity bench-report bench-spark bench-whole bench-whole-full clean

demo: $(VENV)/installed
	$(RUN)/rulescore demo
	@echo "'rulescore' is $(RUN)/rulescore here, or: . $(RUN)/activate"

examples: $(VENV)/installed
	$(RUN)/python examples/real-estate/run.py
	$(RUN)/rulescore score real-estate/rulescore.toml
	$(RUN)/python examples/flights/run.py
	$(RUN)/rulescore score flights/rulescore.toml
	$(RUN)/python examples/classification/run.py
	$(RUN)/rulescore score classification/rulescore.toml

# A folder to read from disk: build/site. DOCS_GENERATOR=properdocs makes the same with another generator.
docs: $(VENV)/installed-docs
	$(RUN)/python tools/make_site.py --generator $(or $(DOCS_GENERATOR),zensical)

# Everything of a release but its publication.
release-check: $(VENV)/installed-docs $(VENV)/installed-release
	$(RUN)/python tools/release.py

test: $(VENV)/installed-test $(VENV)/installed-docs
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/lint-imports
	$(RUN)/pytest -n 2 --dist loadgroup --no-loadscope-reorder --durations 30

# What hangs on the core, and what shows the whole: `make test` has them, `make test-core` leaves them out.
EXTRAS := comparison datasets demo discovery docs examples formats init integrations mending ontologies plots postgres published repairs report reproduction spark verdicts

# The core on DuckDB, in three minutes: no server, nothing slow, fewer generated settings.
test-core: $(VENV)/installed-test
	RULESCORE_HYPOTHESIS=$${RULESCORE_HYPOTHESIS:-core} $(RUN)/pytest -n 2 --dist loadgroup --no-loadscope-reorder --durations 10 -m 'not server and not slow' $(EXTRAS:%=--ignore=tests/%)

bench: $(VENV)/installed-bench
	$(RUN)/python benchmarks/whole.py
	$(RUN)/python benchmarks/run.py
	$(RUN)/python benchmarks/proximity.py
	$(RUN)/python benchmarks/aggregates.py
	$(RUN)/python benchmarks/comparison.py

bench-whole: $(VENV)/installed
	$(RUN)/python benchmarks/whole.py

# 16 million facts and 2 million predictions: 5 GB of disk and of memory.
bench-whole-full: $(VENV)/installed
	$(RUN)/python benchmarks/whole.py --full

bench-aggregates: $(VENV)/installed
	$(RUN)/python benchmarks/aggregates.py

bench-compare: $(VENV)/installed
	$(RUN)/python benchmarks/comparison.py

bench-peers: $(VENV)/installed-bench
	$(RUN)/python benchmarks/peers.py

bench-discover: $(VENV)/installed
	$(RUN)/python benchmarks/discover.py

bench-engines: $(VENV)/installed-test
	$(RUN)/python benchmarks/engines.py

# Needs Chromium.
bench-report: $(VENV)/installed-test
	$(RUN)/python benchmarks/report.py

bench-proximity: $(VENV)/installed
	$(RUN)/python benchmarks/proximity.py

# Starts a Spark master and two workers, and stops them again.
bench-spark: $(VENV)/installed-test
	$(RUN)/python benchmarks/spark.py

clean:
	rm -rf $(VENV) build dist rulescore-demo real-estate flights classification .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} +

# Older versions of pip know nothing of dependency groups.
$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit("rulescore needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/installed: $(VENV)/made pyproject.toml constraints.txt
	$(INSTALL) --editable .
	@touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(INSTALL) --group test
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(INSTALL) --group docs
	@touch $@

$(VENV)/installed-release: $(VENV)/installed
	$(INSTALL) --group release
	@touch $@

$(VENV)/installed-bench: $(VENV)/installed
	$(INSTALL) --group bench
	@touch $@
