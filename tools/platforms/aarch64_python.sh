#!/bin/sh
# Runs Debian's Python for aarch64 under qemu, with the packages that the tests need, this
# source tree and the core that cross_compile.py built.
#   tools/platforms/aarch64_python.sh PYTHON [ARGUMENT ...]
# PYTHON is one of this machine's, with pip. The system and the packages go to
# build/platforms/aarch64, once; nothing of this machine's system is changed.
set -eu
python=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/build/platforms/aarch64
system=$here/system

if ! [ -e "$here/system-done" ]; then
  state=$here/apt
  mkdir -p "$state/lists/partial" "$state/archives/partial" "$system"
  : >"$state/status"
  fetch() {
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
      -o Dir::State="$state" -o Dir::State::lists="$state/lists" \
      -o Dir::State::status="$state/status" -o Dir::Cache="$state" \
      -o Dir::Cache::archives="$state/archives" -o APT::Sandbox::User=root \
      -o APT::Install-Recommends=false "$@"
  }
  fetch update
  fetch install --download-only --yes python3 libstdc++6 >/dev/null
  for package in "$state"/archives/*.deb; do
    dpkg-deb --extract "$package" "$system"
  done
  touch "$here/system-done"
fi

packages="hypothesis mpmath networkx pandas polars pytest $("$python" -c "import tomllib
with open('$root/pyproject.toml', 'rb') as file:
    print(*tomllib.load(file)['project']['dependencies'])")"
if [ "$packages" != "$(cat "$here/packages-done" 2>/dev/null)" ]; then
  version=$(ls "$system"/usr/bin/python3.* | sed -n 's/.*python3\.\([0-9]*\)$/3\1/p' | head -1)
  # Every kind of wheel that this system's glibc can load.
  # shellcheck disable=SC2086
  "$python" -m pip install --quiet --no-compile --target "$here/packages" --upgrade \
    --only-binary :all: --implementation cp --python-version "$version" \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 \
    --platform manylinux_2_26_aarch64 --platform manylinux_2_24_aarch64 \
    --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 $packages
  echo "$packages" >"$here/packages-done"
fi

rm -rf "$here/source"
mkdir "$here/source"
cp -rp "$root/src/bayleaf" "$here/source"
rm -f "$here"/source/bayleaf/native/core_*
cp "$root"/build/platforms/aarch64-linux-gnu/core_*.so "$here/source/bayleaf/native"

# Programs that tests start with sys.executable must be emulated, too.
cat >"$here/source/sitecustomize.py" <<END
import sys
sys.executable = "$here/python"
sys.path.append("$here/packages")
END
cat >"$here/python" <<END
#!/bin/sh
exec qemu-aarch64 -L "$system" "$(ls "$system"/usr/bin/python3.[0-9]* | head -1)" "\$@"
END
chmod +x "$here/python"

unset PYTHONDONTWRITEBYTECODE BAYLEAF_SIMD
export PYTHONPATH="$here/source" PYTHONPYCACHEPREFIX="$here/pycache"
exec "$here/python" "$@"
