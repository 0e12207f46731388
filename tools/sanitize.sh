#!/bin/sh
# Runs the tests of the native core, and random calls with hostile arrays, on the library
# that checks every access to memory and all arithmetic. The argument is the Python to use.
set -eu
python=$1
# Python itself is not built with the sanitizer, whose library must then come first.
runtime=$("${CXX:-c++}" -print-file-name=libasan.so)
if [ ! -e "$runtime" ]; then
  echo "the address sanitizer's library was not found; install the compiler's libasan" >&2
  exit 2
fi
export BAYLEAF_SIMD=sanitized
# Python keeps memory until its end, which is no leak of ours.
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=0:halt_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export HOSTILE_CALLS=${HOSTILE_CALLS:-2000}
# The interceptor of exceptions looks for the C++ library's when the program starts.
LD_PRELOAD="$runtime $("${CXX:-c++}" -print-file-name=libstdc++.so)" "$python" -m pytest -p no:cacheprovider -p no:xdist -q --capture=sys \
  tests/native tests/counts tests/data/test_cut_points.py tests/cpds/test_random_network.py \
  tests/search tests/models -m "not slow"
