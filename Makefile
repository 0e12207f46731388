# Everything here needs python3 (3.11 or later) and make; the environment is made in .venv,
# and the native core is built into src/bayleaf/native. Where no C++ compiler is found,
# the environment gets one (PyPI's ziglang), whose first build takes about two minutes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Files and folders of tests; all if empty.
TESTS :=
NATIVE := $(shell find src/native -type f)

.PHONY: demo test slow long lint docs man floors bench accuracy accuracy-peers papers wheel sanitize clean

# The page that it writes at its end takes an extra.
demo: $(VENV)/installed-report
	$(BIN)/bayleaf demo

test: $(VENV)/installed-test
	$(BIN)/python -m pytest -n 2 -m "not slow" $(TESTS)

# Other programs' packages are held against ours in these tests, and the explorer is
# used in a browser: the program chromium, where there is one. Spark needs java.
slow: $(VENV)/installed-test $(VENV)/installed-peers $(VENV)/installed-browser $(VENV)/installed-notebook $(VENV)/installed-spark
	$(BIN)/python -m pytest -n 2 --dist loadscope -m "slow and not long"

# More data, peers and seeds than every change can wait for: about ten minutes.
long: $(VENV)/installed-test $(VENV)/installed-peers
	$(BIN)/python -m pytest -n 2 -m long

lint: $(VENV)/installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/installed-docs
	rm -rf docs/generated
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# The manual page, from what --help says.
man: $(VENV)/installed-docs
	$(BIN)/python tools/man_page.py build/bayleaf.1

# The least version of every requirement: two classifiers must work with all of them.
floors: $(VENV)/installed-test
	$(PYTHON) -m venv .venv-floors
	$(BIN)/python tools/floors.py > .venv-floors/floors.txt
	.venv-floors/bin/python -m pip install --quiet -r .venv-floors/floors.txt \
	  hypothesis jinja2 matplotlib mpmath networkx pandas polars pytest pytest-xdist
	PYTHONPATH=src .venv-floors/bin/python -m pytest -n 2 -m "not slow" \
	  -k "nb or tan or command" tests/contract tests/cli/test_commands.py

bench: $(VENV)/installed-test $(VENV)/installed-browser
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
	$(BIN)/python benchmarks/speed/fitting.py
	$(BIN)/python benchmarks/speed/explorer.py
	$(BIN)/python benchmarks/speed/merging.py
	$(BIN)/python benchmarks/speed/sql.py

# Takes about half an hour; what was interrupted goes on where it stopped.
accuracy: $(VENV)/installed-test
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/accuracy.py --page

# The same beside boosting by other packages, and learning curves: some hours.
accuracy-peers: $(VENV)/installed-test $(VENV)/installed-accuracy-peers
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/accuracy.py --page
	$(BIN)/python benchmarks/learning_curves.py
	$(BIN)/python benchmarks/learning_curves.py --page

# What the committed CSV files lack is run: all of it takes about an hour.
papers: $(VENV)/installed-test
	$(BIN)/bayleaf reproduce all --output docs/results
	$(BIN)/python benchmarks/papers/write_pages.py docs/results

# One file for every version of Python on this kind of machine.
wheel: $(VENV)/created
	$(WITH_COMPILER) $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation \
	  -C build-dir=build/wheel$(notdir $(VENV)) --wheel-dir dist .
	@ls dist/*.whl

# The native core under the address and undefined-behaviour sanitizers: its tests, and
# random calls with hostile arrays.
sanitize: $(VENV)/installed-test
	$(WITH_COMPILER) cmake -S src/native -B build/sanitize -G Ninja \
	  -DBAYLEAF_SANITIZE=ON -DSKBUILD_STATE=editable && cmake --build build/sanitize
	tools/sanitize.sh $(BIN)/python

clean:
	rm -rf $(VENV) .venv-system .venv-floors build dist docs/_build docs/generated docs/gallery .pytest_cache .mypy_cache .ruff_cache
	rm -f src/bayleaf/native/core_*

# The shell finds the build's tools first; cmake reads CC and CXX at its first run.
WITH_COMPILER = PATH="$(abspath $(BIN)):$$PATH"; export PATH; \
  if [ -x $(BIN)/zig-c++ ]; then \
    CC="$(abspath $(BIN)/zig-cc)"; CXX="$(abspath $(BIN)/zig-c++)"; export CC CXX; fi;

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "bayleaf needs Python 3.11 or later; set PYTHON=/path/to/python3" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet cmake ninja 'scikit-build-core>=0.11'
	@tools/find_compiler.sh $(BIN)
	@touch $@

# An editable installation sees later changes of the Python sources by itself; those of
# the native core are built anew, changed files only.
$(VENV)/installed: $(VENV)/created pyproject.toml $(NATIVE)
	$(WITH_COMPILER) $(BIN)/python -m pip install --quiet --no-build-isolation \
	  -C build-dir=build/editable$(notdir $(VENV)) --editable .
	@touch $@

$(VENV)/installed-%: $(VENV)/installed pyproject.toml
	$(WITH_COMPILER) $(BIN)/python -m pip install --quiet --no-build-isolation \
	  -C build-dir=build/editable$(notdir $(VENV)) --editable '.[$*]'
	@touch $@
