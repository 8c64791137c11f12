#!/usr/bin/env bash
# Fails if a source is not laid out as clang-format wants it, or if clang-tidy finds something.
# With arguments, checks only those files.
set -euo pipefail
cd "$(dirname "$0")/.."
files=("$@")
if [ ${#files[@]} -eq 0 ]; then
  mapfile -t files < <(git ls-files 'src/*.h' 'src/*.cc')
fi
clang-format-14 --dry-run --Werror "${files[@]}"
[ -f build/compile_commands.json ] || cmake --preset release >/dev/null
printf '%s\n' "${files[@]}" | grep '\.cc$' | xargs -r -P "$(nproc)" -n 4 clang-tidy-14 -quiet -p build
