#!/bin/sh
# Repeats the recorded calls of the native core with the libraries that cross_compile.py
# built: Windows' with wine, aarch64's with qemu, those of x86-64 on this processor and
# the baseline on one of 2003 as well.
#   tools/platforms/repeat_calls.sh PYTHON
set -eu
python=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
built=$root/build/platforms
calls=$built/calls
export WINEPREFIX="$built/wine" WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml=
levels=$("$python" -c "from bayleaf.native.library import supported_levels
print(*supported_levels())")

program() {
  "$python" -m ziglang cc -O1 -target "$1" -mcpu=baseline -dynamic \
    "$calls/repeat_calls.c" -o "$2"
}
for target in x86_64-linux-gnu x86_64-linux-musl aarch64-linux-gnu; do
  program "$target" "$calls/$target"
done
program x86_64-windows-gnu "$calls/windows.exe"
# Its first start makes a folder, and says so.
wineboot --init >/dev/null 2>&1 || true

failed=
# repeat NAME LIBRARY COMMAND ...
repeat() {
  printf '%-36s ' "$1"
  library=$2
  shift 2
  "$@" "$library" "$calls/calls.bin" || failed=yes
}
repeat "aarch64, qemu" "$built/aarch64-linux-gnu/core_baseline.so" \
  qemu-aarch64 -L "$built/aarch64/system" "$calls/aarch64-linux-gnu"
repeat "x86-64 baseline, qemu" "$built/x86_64-linux-gnu/core_baseline.so" \
  qemu-x86_64 -cpu qemu64 "$calls/x86_64-linux-gnu"
for level in $levels; do
  repeat "x86-64 $level" "$built/x86_64-linux-gnu/core_$level.so" "$calls/x86_64-linux-gnu"
  repeat "musl $level" "$built/x86_64-linux-musl/core_$level.so" "$calls/x86_64-linux-musl"
  for windows in windows-gnu mingw; do
    repeat "$windows $level, wine" "$built/x86_64-$windows/core_$level.dll" \
      wine "$calls/windows.exe"
  done
done
[ -z "$failed" ]
