#!/usr/bin/env bash
# fuzz.sh [SECONDS [SEED [TARGET...]]]: builds the libFuzzer targets with clang and runs each for so long.
#
# Every run starts with the inputs of corpus/TARGET beside the target's source, and with a seed that is
# printed: the same seed makes the same inputs. 0 is a random one. What a target fails on is kept in
# build/fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10} seed=${2:-0}
((seed != 0)) || seed=$((RANDOM << 15 | RANDOM | 1))
mapfile -t sources < <(find src -name '*_fuzz.cc' | sort)
targets=("${@:3}")
if ((${#targets[@]} == 0)); then
  for source in "${sources[@]}"; do targets+=("$(basename "$source" .cc)"); done
fi
cmake --preset fuzz >/dev/null
cmake --build build/fuzz --target "${targets[@]}"
mkdir -p build/fuzz/found

# An input of a few KiB must not cost much: no more than 10 s, no allocation beyond 64 MiB. (What is
# freed is kept back by the sanitizer for a while, hence the GiB in all.)
fuzz() {
  local target=$1 log=build/fuzz/found/$1.log grown seeds
  seeds=$(find src -path "*/corpus/$target" -type d)
  if [[ -z $seeds ]]; then
    echo "fuzz: $target has nothing to start with: put some inputs into corpus/$target beside it" >&2
    return 1
  fi
  grown=$(mktemp -d)
  echo "fuzz: $target for $seconds s, seed $seed" >&2
  if build/fuzz/bin/"$target" -max_total_time="$seconds" -seed="$seed" -timeout=10 \
      -rss_limit_mb=1024 -malloc_limit_mb=64 -max_len=16384 -artifact_prefix=build/fuzz/found/"$target"- \
      -close_fd_mask=3 -print_final_stats=0 -verbosity=0 "$grown" "$seeds" >"$log" 2>&1; then
    rm -r "$grown" "$log"
    return
  fi
  rm -r "$grown"
  cat "$log" >&2
  echo "fuzz: $target FAILED; the input is in build/fuzz/found (build/fuzz/bin/$target FILE tries it" \
    "again), the same run is: make fuzz FUZZ_SEED=$seed FUZZ_SECONDS=$seconds FUZZ_TARGETS=$target" >&2
  return 1
}
export -f fuzz
export seconds seed
printf '%s\n' "${targets[@]}" | xargs --max-procs="$(nproc)" --replace bash -c 'fuzz {}' || {
  echo "fuzz: FAILED with seed $seed: see above" >&2
  exit 1
}
echo "fuzz: ${#targets[@]} targets, seed $seed, nothing found" >&2
