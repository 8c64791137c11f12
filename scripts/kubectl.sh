#!/usr/bin/env bash
# Prints the path of Debian's kubectl (1.20), which the tests use as the oldest client that must work.
# It is unpacked below build/, not installed: another kubectl may well be on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
directory=build/tools/kubernetes-client
kubectl=$directory/usr/bin/kubectl
if [ ! -x "$kubectl" ]; then
  echo "Fetching Debian's kubernetes-client into $directory (for the tests)" >&2
  rm -rf "$directory"
  mkdir -p "$directory"
  (
    cd "$directory"
    apt-get download -q kubernetes-client >&2 || {
      echo "apt-get download failed; run 'apt-get update' as root and try again" >&2
      exit 1
    }
    dpkg-deb -x kubernetes-client_*.deb .
    rm kubernetes-client_*.deb
  )
fi
echo "$PWD/$kubectl"
