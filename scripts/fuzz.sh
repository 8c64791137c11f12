#!/usr/bin/env bash
# fuzz.sh [SECONDS [SEED]]: builds the libFuzzer targets with clang and runs each for so long.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10} seed=${2:-0}
cmake --preset fuzz >/dev/null
mapfile -t sources < <(find src -name '*_fuzz.cc' | sort)
programs=()
for source in "${sources[@]}"; do programs+=("$(basename "$source" .cc)"); done
cmake --build build/fuzz --target "${programs[@]}"
fuzz() {
  echo "fuzz: $1 for $seconds s" >&2
  local corpus=build/fuzz/corpus/$1
  mkdir -p "$corpus"
  build/fuzz/bin/"$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -seed="$seed" -print_final_stats=0 -verbosity=0 "$corpus"
}
export -f fuzz
export seconds seed
printf '%s\n' "${programs[@]}" | xargs --max-procs="$(nproc)" --replace bash -c 'fuzz {}'
echo "fuzz: ${#programs[@]} targets, nothing found" >&2
