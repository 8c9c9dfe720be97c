# Everything happens in .venv, which is made when it is first needed. Another Python: make PYTHON=python3.13 test

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
INSTALL := $(RUN)/python -m pip install --quiet --constraint constraints.txt

.PHONY: demo examples test test-quick bench bench-aggregates bench-compare bench-engines bench-peers bench-proximity bench-spark bench-whole bench-whole-full clean

demo: $(VENV)/installed
	$(RUN)/rulescore demo
	@echo "'rulescore' is $(RUN)/rulescore here, or: . $(RUN)/activate"

examples: $(VENV)/installed
	$(RUN)/python examples/real-estate/run.py
	$(RUN)/python examples/flights/run.py
	$(RUN)/python examples/classification/run.py

test: $(VENV)/installed-test
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/lint-imports
	$(RUN)/pytest -n 2 --dist loadgroup --durations 30

# Without database servers, which `make test` starts by itself, and without what takes long: tests/README.md says what that is.
test-quick: $(VENV)/installed-test
	$(RUN)/pytest -n 2 --dist loadgroup --durations 10 -m 'not server and not slow'

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

bench-engines: $(VENV)/installed-test
	$(RUN)/python benchmarks/engines.py

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

$(VENV)/installed-bench: $(VENV)/installed
	$(INSTALL) --group bench
	@touch $@
