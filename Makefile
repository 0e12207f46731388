# Everything here needs python3 (3.11 or later) and make; the environment is made in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test slow lint docs bench accuracy papers clean

# The page that it writes at its end takes an extra.
demo: $(VENV)/installed-report
	$(BIN)/bayleaf demo

test: $(VENV)/installed-test
	$(BIN)/python -m pytest -n 2 -m "not slow"

# Other programs' packages are held against ours in these tests, and the explorer is
# used in a browser: the program chromium, where there is one.
slow: $(VENV)/installed-test $(VENV)/installed-peers $(VENV)/installed-browser
	$(BIN)/python -m pytest -n 2 --dist loadscope -m slow

lint: $(VENV)/installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/installed-docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/installed-test
	$(BIN)/python benchmarks/speed/counting.py
	$(BIN)/python benchmarks/speed/discretize.py
	$(BIN)/python benchmarks/speed/classifiers.py
	$(BIN)/python benchmarks/speed/cold_start.py
	$(BIN)/python benchmarks/speed/averaged_kdb.py
	$(BIN)/python benchmarks/speed/inference.py
	$(BIN)/python benchmarks/speed/hnb.py
	$(BIN)/python benchmarks/speed/mixtures.py
	$(BIN)/python benchmarks/speed/tree_learning.py
	$(BIN)/python benchmarks/speed/structure_learning.py

# Takes about half an hour; what was interrupted goes on where it stopped.
accuracy: $(VENV)/installed-test
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/accuracy.py --page

# What the committed CSV files lack is run: all of it takes about an hour.
papers: $(VENV)/installed-test
	$(BIN)/bayleaf reproduce all --output docs/results

clean:
	rm -rf $(VENV) build dist docs/_build docs/generated docs/gallery .pytest_cache .mypy_cache .ruff_cache

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "bayleaf needs Python 3.11 or later; set PYTHON=/path/to/python3" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

# An editable installation sees later changes of the sources by itself.
$(VENV)/installed: $(VENV)/created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-%: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@
