#!/usr/bin/env bash
# Runs every benchmark program of the build.
set -euo pipefail
cd "$(dirname "$0")/.."
for program in build/bin/*_bench; do
  echo "== $(basename "$program")"
  "$program"
done
