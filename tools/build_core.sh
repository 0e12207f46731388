#!/bin/sh
# Builds the native core into src/bayleaf/native, changed files only.
#   tools/build_core.sh FOLDER_OF_PROGRAMS BUILD_FOLDER [CMAKE_OPTION ...]
set -eu
bin=$1 build=$2
shift 2
tools/build_tools.sh "$bin"
PATH="$bin:$PATH"
# cmake reads CC and CXX at its first run.
if [ -x "$bin/zig-c++" ]; then
  CC="$bin/zig-cc" CXX="$bin/zig-c++"
  export CC CXX
fi
cmake -S src/native -B "$build" -G Ninja -DSKBUILD_STATE=editable "$@"
cmake --build "$build"
