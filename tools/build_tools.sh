#!/bin/sh
# Installs what builds the native core into an environment whose programs lie in the
# folder given: cmake and ninja and, where PATH has no C++ compiler, PyPI's ziglang with
# two small programs zig-cc and zig-c++. A build finds them by the variables CC and CXX.
set -eu
bin=$1
[ -x "$bin/cmake" ] && [ -x "$bin/ninja" ] \
  || "$bin/python" -m pip install --quiet --no-compile cmake ninja
[ -x "$bin/zig-c++" ] && exit 0
for compiler in "${CXX:-}" c++ g++ clang++; do
  if [ -n "$compiler" ] && command -v "$compiler" >/dev/null 2>&1; then
    exit 0
  fi
done
"$bin/python" -m pip install --quiet --no-compile ziglang || {
  echo "bayleaf needs a C++ compiler: install g++ (11 or later) or clang, or let pip reach PyPI" >&2
  exit 2
}
zig=$("$bin/python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).with_name("zig"))')
for language in cc c++; do
  printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$language" >"$bin/zig-$language"
  chmod +x "$bin/zig-$language"
done
