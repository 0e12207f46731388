#!/bin/sh
# Installs Debian's compilers and emulators of other platforms, where they are missing.
set -eu
missing=
needs() {
  command -v "$1" >/dev/null || missing="$missing $2"
}
needs x86_64-w64-mingw32-g++-posix g++-mingw-w64-x86-64-posix
needs clang++-16 "clang-16 libc++-16-dev libc++abi-16-dev"
needs qemu-aarch64 qemu-user
needs wine "wine wine64"
needs /lib/ld-musl-x86_64.so.1 musl
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
else
  echo "install these Debian packages:$missing" >&2
  exit 1
fi
