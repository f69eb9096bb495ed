#!/usr/bin/env bash
# Builds cypool from its sdist on other platforms of this machine, and checks it there: platforms/run.sh [PLATFORM]...
#   debian-amd64  Debian 13 (CPython 3.13, gcc 14), set up by debootstrap; needs root
#   debian-arm64  the same for arm64, emulated by qemu-user with binfmt_misc; needs root, and takes half an hour
#   clang         this system with clang instead of its own compiler
# Folders and packages stay in build/platforms, so a second run is quicker. Environment: MIRROR, PYTHON.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PYTHON=${PYTHON:-.venv/bin/python}
MIRROR=${MIRROR:-http://deb.debian.org/debian}
WORK=$PWD/build/platforms
mkdir -p "$WORK"

say() { printf '%s  %s\n' "$(date +%H:%M:%S)" "$*"; }

# The packages that building and checking need, fetched here, since what is set up may know no index.
fetch() { # machine, Python, folder
  local tags=()
  for version in 2_28 2_27 2_26 2_24 2_17; do tags+=(--platform "manylinux_${version}_$1"); done
  tags+=(--platform "manylinux2014_$1")
  "$PYTHON" -m pip download --quiet --only-binary=:all: --implementation cp --python-version "$2" --abi "cp${2/./}" --abi abi3 --abi none \
    "${tags[@]}" --dest "$3" 'setuptools>=77' 'cython>=3.1,<4' 'numpy>=2' 'onnx>=1.16' 'ml_dtypes>=0.5' 'python-flint>=0.7' 'click>=8.1' \
    'rich>=13.7' 'jinja2>=3.1' 'junitparser>=3.1' 'tomlkit>=0.13'
}

source_distribution() {
  rm -rf "$WORK/sdist"
  "$PYTHON" -m build --sdist --no-isolation --outdir "$WORK/sdist" . > /dev/null
}

# Install the sdist with a Python, and check what came of it.
install_and_check() { # how to run a command there, Python there, folder there
  $1 "$2" -m venv --clear "$3/env"
  $1 "$3/env/bin/python" -m pip install --quiet --no-index --find-links "$3/packages" 'setuptools>=77' 'cython>=3.1,<4' 'numpy>=2'
  $1 "$3/env/bin/python" -m pip install --quiet --no-index --find-links "$3/packages" --no-build-isolation "$3/cypool.tar.gz[check]"
  $1 "$3/env/bin/python" "$3/check/check.py"
}

put_in_place() { # folder
  mkdir -p "$1/check"
  cp "$WORK"/sdist/cypool-*.tar.gz "$1/cypool.tar.gz"
  cp platforms/check.py platforms/outputs.tsv "$1/check/"
}

debian() { # Debian's name of the architecture, the kernel's
  local root=$WORK/debian-$1
  if [ ! -e "$root.done" ]; then
    say "debootstrap of Debian 13, $1"
    rm -rf "$root"
    debootstrap --arch="$1" --variant=minbase --include=ca-certificates,gcc,libc6-dev,python3-dev,python3-venv trixie "$root" "$MIRROR" \
      > "$root.log" 2>&1
    touch "$root.done"
  fi
  mkdir -p "$root/cypool"
  fetch "$2" 3.13 "$root/cypool/packages"
  put_in_place "$root/cypool"
  say "build and check on Debian 13, $1"
  install_and_check "chroot $root /usr/bin/env -i PATH=/usr/bin:/bin" python3 /cypool
}

clang() {
  local here=$WORK/clang
  mkdir -p "$here"
  "$PYTHON" -m pip download --quiet --only-binary=:all: --dest "$here/packages" 'setuptools>=77' 'cython>=3.1,<4' 'numpy>=2' 'onnx>=1.16' \
    'ml_dtypes>=0.5' 'python-flint>=0.7' 'click>=8.1' 'rich>=13.7' 'jinja2>=3.1' 'junitparser>=3.1' 'tomlkit>=0.13'
  put_in_place "$here"
  say "build and check with $(command clang --version | head -1)"
  CC=clang install_and_check env "$("$PYTHON" -c 'import sys; print(sys.executable)')" "$here"
}

source_distribution
[ $# -gt 0 ] || set -- debian-amd64 debian-arm64 clang
for platform; do
  case $platform in
    debian-amd64) debian amd64 x86_64 ;;
    debian-arm64) debian arm64 aarch64 ;;
    clang) clang ;;
    *) echo "no platform $platform; there are debian-amd64, debian-arm64, clang" >&2; exit 2 ;;
  esac
  say "$platform is as it should be"
done
