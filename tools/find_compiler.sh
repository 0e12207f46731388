#!/bin/sh
# Makes sure that the native core can be built: where PATH has no C++ compiler, installs
# one from PyPI into an environment whose programs lie in the folder given, as two
# small programs zig-cc and zig-c++ there. A build finds them by the variables CC and CXX.
set -eu
bin=$1
for compiler in "${CXX:-}" c++ g++ clang++; do
  if [ -n "$compiler" ] && command -v "$compiler" >/dev/null 2>&1; then
    exit 0
  fi
done
echo "no C++ compiler on PATH: installing ziglang into $bin (first build: about 2 minutes)" >&2
"$bin/python" -m pip install --quiet ziglang || {
  echo "bayleaf needs a C++ compiler: install g++ (11 or later) or clang, or let pip reach PyPI" >&2
  exit 2
}
zig=$("$bin/python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).with_name("zig"))')
for language in cc c++; do
  printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$language" >"$bin/zig-$language"
  chmod +x "$bin/zig-$language"
done
