#!/usr/bin/env bash
# Builds the libFuzzer targets with clang and runs each for the given number of seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10}
cmake --preset fuzz >/dev/null
mapfile -t sources < <(git ls-files 'src/*_fuzz.cc')
programs=()
for source in "${sources[@]}"; do programs+=("$(basename "$source" .cc)"); done
cmake --build build/fuzz --target "${programs[@]}"
for program in "${programs[@]}"; do
  echo "fuzz: $program for $seconds s" >&2
  corpus=build/fuzz/corpus/$program
  mkdir -p "$corpus"
  build/fuzz/bin/"$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=0 -verbosity=0 "$corpus"
done
echo "fuzz: ${#programs[@]} targets, nothing found" >&2
