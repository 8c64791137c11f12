#!/usr/bin/env bash
# Lays out the root of a container image: a program, the libraries that it was linked with, and
# nothing else.
#
#   scripts/image-root.sh build/bin/koordlet DIR
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 PROGRAM DIR" >&2; exit 2; }
program=$1 root=$2
mkdir -p "$root"
cp "$program" "$root/"
ldd "$program" | sed -n 's/^.*[[:space:]]\(\/[^ ]*\) (0x.*/\1/p' | while read -r library; do
  install -D "$(readlink -f "$library")" "$root$library"
done
