# Everything here needs python3 (3.11 or later) and make. One environment, .venv, holds what
# the targets need; the native core is built once into src/bayleaf/native, which every
# environment shares. Where no C++ compiler is found, the environment gets one (PyPI's
# ziglang), whose first build takes a minute longer.
PYTHON ?= python3
# That of the environment with pandas 2.
OTHER_PYTHON ?= $(PYTHON)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --no-compile
# Files and folders of tests; all if empty.
TESTS :=
NATIVE := $(shell find src/native -type f)
# "host" builds the core for this processor, "all" for every processor of its kind.
export BAYLEAF_LEVELS ?= host
CORE := build/core
BUILT := $(CORE)/built-$(BAYLEAF_LEVELS)
STEP := tools/step.sh
WITH_TOOLS := tools/with_build_tools.sh $(BIN)
# Packages are installed without byte code, which takes longer than all the rest; Python
# keeps that of the modules that are imported.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test slow long lint docs man levels cross platforms floors pandas2 tools bench accuracy accuracy-peers papers wheel sanitize clean ready lines options outputs requirements

demo: ready
	@$(STEP) "Fit, compare and explain classifiers" "5 s" $(BIN)/bayleaf demo

# A file's tests run in one process, which makes what they share once.
test: $(VENV)/group-test
	@$(STEP) "Run the quick tests" "2 minutes" \
	  $(BIN)/python -m pytest -n 2 --dist loadscope -m "not slow" --durations=20 $(TESTS)

# Other programs' packages are compared with ours in these tests, and the explorer is
# used in a browser: the program chromium-headless-shell or chromium, where there is one.
# One worker more than processors: browsers, databases and killed processes are waited for.
slow: $(VENV)/group-test $(VENV)/group-peers $(VENV)/group-browser $(VENV)/group-notebook
	@$(STEP) "Run the slow tests" "5 minutes" \
	  $(BIN)/python -m pytest -n 3 --dist loadscope -m "slow and not long" --durations=20 $(TESTS)

# More cases, data, peers and seeds than every change can wait for. Spark needs java.
long: $(VENV)/group-test $(VENV)/group-peers $(VENV)/group-browser $(VENV)/group-notebook $(VENV)/group-spark
	@$(STEP) "Run the long tests" "20 minutes" \
	  $(BIN)/python -m pytest -n 2 -m long --durations=20 $(TESTS)

lint: $(VENV)/group-lint
	@$(STEP) "Check style" "1 s" $(BIN)/ruff check .
	@$(STEP) "Check format" "1 s" $(BIN)/ruff format --check .
	@$(STEP) "Check types" "40 s" $(BIN)/mypy

docs: $(VENV)/group-docs $(VENV)/group-test
	@$(STEP) "Run the examples in docstrings" "10 s" \
	  $(BIN)/python -m pytest -q --doctest-modules src
	rm -rf docs/generated
	@$(STEP) "Write the documentation" "90 s" \
	  $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

# The manual page, from what --help prints.
man: $(VENV)/group-docs
	$(BIN)/python tools/man_page.py build/bayleaf.1

# Every instruction set of this kind of processor, and that all give the same bits.
levels: $(VENV)/group-test
	@$(MAKE) --no-print-directory BAYLEAF_LEVELS=all $(CORE)/built-all
	@BAYLEAF_LEVELS=all $(STEP) "Compare the bits of all instruction sets" "30 s" \
	  $(BIN)/python -m pytest -n 2 tests/native/test_levels.py

# Whether every source compiles for ARM and with macOS's integers and library.
cross: $(VENV)/group-platforms
	@$(STEP) -q "Compile the native core for aarch64 and macOS" "30 s" \
	  $(WITH_TOOLS) $(BIN)/python tools/platforms/cross_compile.py --quick \
	  aarch64-linux-gnu aarch64-macos

# Other platforms on Linux and x86-64: their compilers, and emulators to run what they
# build. macOS cannot be emulated; nothing is run there.
PLATFORMS := build/platforms
platforms: $(VENV)/group-test $(VENV)/group-platforms
	@$(STEP) -q "Install compilers and emulators" "1 minute" tools/platforms/emulators.sh
	@$(STEP) -q "Build the native core for other platforms" "5 minutes" \
	  $(WITH_TOOLS) $(BIN)/python tools/platforms/cross_compile.py
	@$(STEP) "Record calls of the native core" "5 s" \
	  $(BIN)/python tools/platforms/record_calls.py $(PLATFORMS)/calls
	@$(STEP) -q "Install a Python for aarch64" "1 minute" \
	  tools/platforms/aarch64_python.sh $(BIN)/python -c "import bayleaf"
	@$(STEP) "Repeat the calls on other platforms" "1 minute" \
	  tools/platforms/repeat_calls.sh $(BIN)/python
	@$(STEP) "Run the native tests on aarch64" "5 minutes" \
	  tools/platforms/aarch64_python.sh $(BIN)/python -m pytest -q -m "not slow" tests/native
	@$(STEP) "Fit every classifier here" "10 s" \
	  $(BIN)/python tools/platforms/fitted_models.py fit $(PLATFORMS)/x86_64.npz
	@$(STEP) "Fit every classifier on aarch64" "5 minutes" \
	  tools/platforms/aarch64_python.sh $(BIN)/python \
	  tools/platforms/fitted_models.py fit $(PLATFORMS)/aarch64.npz
	@$(STEP) "Compare the models" "1 s" $(BIN)/python tools/platforms/fitted_models.py \
	  compare $(PLATFORMS)/x86_64.npz $(PLATFORMS)/aarch64.npz

# The least version of every requirement: classifiers must work with all of them. The core
# has no Python in it and is not built again.
floors: .venv-floors/installed
	@PYTHONPATH=src $(STEP) "Run tests with the least versions" "40 s" \
	  .venv-floors/bin/python -m pytest -n 2 --dist loadscope -m "not slow" -k "nb or command" \
	  tests/contract tests/cli/test_commands.py

.venv-floors/installed: pyproject.toml tools/floors.py | ready
	@$(STEP) "Create the environment .venv-floors" "5 s" $(PYTHON) -m venv .venv-floors
	@$(BIN)/python tools/floors.py > .venv-floors/floors.txt
	@$(STEP) -q "Install the least versions" "20 s" sh -c '\
	  .venv-floors/bin/python -m pip install --quiet --upgrade pip && \
	  .venv-floors/bin/python -m pip install --quiet --no-compile -r .venv-floors/floors.txt \
	    hypothesis jinja2 matplotlib mpmath networkx "pandas==2.3.*" polars pytest pytest-xdist'
	@touch $@

# The quick tests with pandas 2, whose text columns are objects.
pandas2: .venv-pandas2/installed
	@$(STEP) "Run the quick tests with pandas 2.3" "2 minutes" \
	  .venv-pandas2/bin/python -m pytest -n 2 --dist loadscope -m "not slow" $(TESTS)

.venv-pandas2/installed: pyproject.toml | ready
	@$(STEP) "Create the environment .venv-pandas2" "5 s" $(OTHER_PYTHON) -m venv .venv-pandas2
	@$(STEP) -q "Install the requirements with pandas 2.3" "20 s" sh -c '\
	  .venv-pandas2/bin/python -m pip install --quiet --upgrade pip "scikit-build-core>=0.11" && \
	  .venv-pandas2/bin/python -m pip install --quiet --no-compile --no-build-isolation \
	    -C wheel.cmake=false --editable . "pandas==2.3.*" --group test'
	@touch $@

# Tools that users combine with the estimators, in an environment of their own: some need
# old versions of the requirements, and lime has no wheel. The plugin of dash, which interpret brings, uses
# options that pytest is about to drop.
tools: .venv-tools/installed
	@$(STEP) "Run the tests of other tools" "5 minutes" \
	  .venv-tools/bin/python -m pytest -p no:dash -n 2 --dist loadscope tests/works_with

.venv-tools/installed: pyproject.toml | ready
	@$(STEP) "Create the environment .venv-tools" "5 s" $(PYTHON) -m venv .venv-tools
	@$(STEP) -q "Install other tools" "2 minutes" sh -c '\
	  .venv-tools/bin/python -m pip install --quiet --upgrade pip "scikit-build-core>=0.11" \
	    "setuptools>=70.1" && \
	  .venv-tools/bin/python -m pip install --quiet --no-compile --no-build-isolation \
	    -C wheel.cmake=false --editable . --group test --group peers --group tools'
	@touch $@

# Whether wheels of all requirements exist for every system; nothing is installed.
requirements: $(VENV)/group-wheels
	@$(STEP) "Look for wheels of the requirements" "1 minute" \
	  $(BIN)/python tools/check_requirements.py

# Lines by package: code, docstrings, comments.
lines:
	@$(PYTHON) tools/count_lines.py

# Options of the command line, from the signatures and docstrings of the estimators.
options: ready
	$(BIN)/python tools/write_model_options.py src/bayleaf/cli/model_options.json

# make outputs PAGES="README.md docs/start.md"
outputs: ready
	PYTHONPATH=tests $(BIN)/python -m readme.write_outputs $(PAGES)

bench: $(VENV)/group-test $(VENV)/group-browser
	$(BIN)/python benchmarks/speed/counting.py
	$(BIN)/python benchmarks/speed/discretize.py
	$(BIN)/python benchmarks/speed/classifiers.py
	$(BIN)/python benchmarks/speed/cold_start.py
	$(BIN)/python benchmarks/speed/averaged_kdb.py
	$(BIN)/python benchmarks/speed/carry.py
	$(BIN)/python benchmarks/speed/inference.py
	$(BIN)/python benchmarks/speed/hnb.py
	$(BIN)/python benchmarks/speed/mixtures.py
	$(BIN)/python benchmarks/speed/tree_learning.py
	$(BIN)/python benchmarks/speed/structure_learning.py
	$(BIN)/python benchmarks/speed/fitting.py
	$(BIN)/python benchmarks/speed/reading.py
	$(BIN)/python benchmarks/speed/explorer.py
	$(BIN)/python benchmarks/speed/merging.py
	$(BIN)/python benchmarks/speed/sql.py

# Takes about half an hour; what was interrupted goes on where it stopped.
accuracy: $(VENV)/group-test
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/accuracy.py --page

# The same beside boosting by other packages, and learning curves: some hours.
accuracy-peers: $(VENV)/group-test $(VENV)/group-accuracy-peers
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/accuracy.py --page
	$(BIN)/python benchmarks/learning_curves.py
	$(BIN)/python benchmarks/learning_curves.py --page

# What the committed CSV files lack is run: all of it takes about an hour.
papers: $(VENV)/group-test
	$(BIN)/bayleaf reproduce all --output docs/results
	$(BIN)/python benchmarks/papers/write_pages.py docs/results

# One file for every version of Python and every processor of this kind.
wheel: $(VENV)/created
	@BAYLEAF_LEVELS=all $(STEP) "Build a wheel with all instruction sets" "1 minute" \
	  $(WITH_TOOLS) $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation \
	  -C build-dir=build/wheel --wheel-dir dist .
	@ls dist/*.whl

# The native core under the address and undefined-behaviour sanitizers: its tests, and
# random calls with hostile arrays.
sanitize: $(VENV)/group-test
	$(WITH_TOOLS) cmake -S src/native -B build/sanitize -G Ninja \
	  -DSKBUILD_STATE=editable -DBAYLEAF_SANITIZE=ON
	$(WITH_TOOLS) cmake --build build/sanitize
	tools/sanitize.sh $(BIN)/python

clean:
	rm -rf $(VENV) .venv-system .venv-floors .venv-pandas2 .venv-tools build dist docs/_build docs/generated docs/gallery .pytest_cache .mypy_cache .ruff_cache
	rm -f src/bayleaf/native/core_*

# The package and the core are installed and built at the same time.
ready:
	@$(MAKE) --no-print-directory -j2 $(VENV)/package $(BUILT)

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "bayleaf needs Python 3.11 or later; set PYTHON=/path/to/python3" >&2; exit 2; }
	@$(STEP) "Create the environment $(VENV)" "5 s" $(PYTHON) -m venv $(VENV)
	@$(STEP) -q "Install the tools of the build" "5 s" sh -c '\
	  $(PIP) --upgrade pip "scikit-build-core>=0.11" && \
	  { test -e $(BUILT) || $(WITH_TOOLS) true; }'
	@touch $@

# An editable installation: later changes of the Python sources need no installation.
$(VENV)/package: $(VENV)/created pyproject.toml
	@$(STEP) -q "Install bayleaf and its requirements" "15 s" \
	  $(PIP) --no-build-isolation -C wheel.cmake=false --editable '.[report]'
	@touch $@

# All levels include this processor's; building that one alone removes the others, which
# may be of earlier sources.
$(BUILT): $(NATIVE) | $(VENV)/created
	@rm -f $(CORE)/built-*
	@$(STEP) -q "Build the native core ($(BAYLEAF_LEVELS))" \
	  "$(if $(filter all,$(BAYLEAF_LEVELS)),90,$$(test -x $(BIN)/zig-c++ && echo 90 || echo 30)) s" \
	  $(WITH_TOOLS) sh -c 'cmake -S src/native -B $(CORE) -G Ninja -DSKBUILD_STATE=editable && cmake --build $(CORE)'
	@touch $(CORE)/built-host $@

$(VENV)/group-%: pyproject.toml | ready
	@$(STEP) -q "Install the requirements of: $*" "20 s" $(PIP) --group $*
	@touch $@
