#!/usr/bin/env bash
# Installs the Debian packages that are missing for the purposes named: build, test, node, lint, fuzz.
# Says what it installs and why before it does; asks sudo for help when not run as root.
set -euo pipefail

build=(g++ cmake ninja-build ccache mold pkg-config
  libboost1.81-dev libboost-json1.81-dev libboost-url1.81-dev libssl-dev libnghttp2-dev libsqlite3-dev
  libabsl-dev libfmt-dev libyaml-dev libcli11-dev prometheus-cpp-dev libre2-dev libgoogle-perftools-dev
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  libgtest-dev libgmock-dev libbenchmark-dev)
test=(python3 python3-kubernetes openssl curl tzdata)
# A real Kubernetes node: see tests/kubernetes/node.py.
node=(containerd runc containernetworking-plugins busybox-static util-linux)
lint=(python3 clang-format-14 clang-tidy-14)
fuzz=(clang-14 libclang-rt-14-dev)

missing=()
for purpose in "$@"; do
  declare -n packages=$purpose
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "To $* this project, these Debian packages are missing and will be installed:" >&2
echo "  ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "Not root and no sudo here. Install them as root, then run make again:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  }
  echo "(with sudo, since apt needs root)" >&2
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q >&2
"${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" >&2
