#!/bin/sh
# Runs a command with what builds the native core: cmake and ninja and, where PATH has no
# C++ compiler, PyPI's ziglang with two small programs zig-cc and zig-c++. Installs what
# is missing into the environment whose programs lie in the folder given.
#   tools/with_build_tools.sh FOLDER COMMAND [ARGUMENT ...]
set -eu
bin=$(cd "$1" && pwd)
shift

# Compiles a trial program: macOS has a c++ that only offers to install one.
has_compiler() {
  for compiler in "${CXX:-}" c++ g++ clang++; do
    [ -n "$compiler" ] \
      && echo '#include <span>' | $compiler -std=c++20 -fsyntax-only -x c++ - \
        >/dev/null 2>&1 && return
  done
  return 1
}

install() {
  "$bin/python" -m pip install --quiet --no-compile "$@"
}

[ -x "$bin/cmake" ] && [ -x "$bin/ninja" ] || install cmake ninja
if ! [ -x "$bin/zig-c++" ] && ! has_compiler; then
  install ziglang || {
    echo "bayleaf needs a C++ compiler: install g++ (11 or later) or clang, or let pip reach PyPI" >&2
    exit 2
  }
  zig=$("$bin/python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).with_name("zig"))')
  for language in cc c++; do
    # It would otherwise use every instruction of this processor, at every level.
    printf '#!/bin/sh\nexec "%s" %s -mcpu=baseline "$@"\n' "$zig" "$language" \
      >"$bin/zig-$language"
    chmod +x "$bin/zig-$language"
  done
fi
# cmake reads CC and CXX at its first run.
if [ -x "$bin/zig-c++" ]; then
  CC="$bin/zig-cc" CXX="$bin/zig-c++"
  export CC CXX
fi
PATH="$bin:$PATH" exec "$@"
