#!/usr/bin/env bash
# Runs the tests that need real Kubernetes: clusters that leave nothing behind, our CRDs on its API
# server, its newest kubectl on the local cluster, the clients' tests on itself, which shows that they
# ask for nothing strange, scenarios on itself with our programs, the whole loop of co-location on a
# real node, everything installed by kustomize and Helm, and our programs killed.
#
#   tests/kubernetes/run.sh [DIRECTORY OF THE PROGRAMS [PART...]]
#
# Says at its end what passed, what failed, and what was not run and why. Exits with 2 where there is
# no Kubernetes and nothing to build it with, with 1 if anything failed.
set -uo pipefail
cd "$(dirname "$0")/../.."
bin=${1:-build/bin}
if [[ $bin == -* ]]; then
  sed -n '2,/^set/ s/^# \?//p' "$0"
  exit 0
fi
only=("${@:2}")
programs=$(scripts/kubernetes.sh) || exit $?
debian_kubectl=$(scripts/kubectl.sh) || exit 1
scripts/packages.sh test node || exit 1

# All temporary files of the tests are in one place, so that what names it is theirs.
notes=$(mktemp -d -t koord-notes-XXXXXX)
TMPDIR=$(mktemp -d -t koord-tests-XXXXXX)
export TMPDIR PYTHONUNBUFFERED=1
trap 'rm -rf "$notes"; rmdir "$TMPDIR" 2>/dev/null' EXIT
touch "$notes/outcomes" "$notes/skipped"
started=$SECONDS

# Why a part has not run something, and what, or how much: the reason is on the next line or, in what
# the clients' tests print, behind a colon.
skips='function note(what, why) { if (!count[why]++) reasons[++n] = why; last[why] = what }
  /^SKIP / { what = substr($0, 6); next }
  what && /^     / { note(what, substr($0, 6)) }
  { what = "" }
  /^skip / { at = index($0, ": "); note(substr($0, 6, at - 6), substr($0, at + 2)) }
  END { for (i = 1; i <= n; ++i) { why = reasons[i]
          print "  " part ": " (count[why] > 1 ? count[why] " tests" : last[why]) ": " why } }'

# run PART WHAT COMMAND...: unless others were asked for, runs the part and prints what it printed.
run() {
  local part=$1 what=$2 start=$SECONDS output=$notes/$1.log status=0 outcome numbers
  shift 2
  if ((${#only[@]})) && [[ " ${only[*]} " != *" $part "* ]]; then
    echo "  $part: not asked for" >>"$notes/skipped"
    return
  fi
  echo "-- $part begins"
  "$@" >"$output" 2>&1 &
  child=$!
  wait "$child" || status=$?
  child=
  case $status in
    0) outcome=passed ;;
    77) outcome="not run" ;;
    *) outcome=FAILED ;;
  esac
  numbers=$(tail --lines=1 "$output" | cut --bytes=-150)
  {
    flock 9
    echo "== $part: $what"
    cat "$output"
    printf '%-7s %5d s  %s: %s\n' "$outcome" $((SECONDS - start)) "$part" "$numbers" |
      tee --append "$notes/outcomes"
    awk -v part="$part" "$skips" "$output" >>"$notes/skipped"
  } 9>"$notes/lock"
}

# Runs parts after each other, beside others: most of the time they wait. Told to stop, a lane stops the
# part, which then stops what it has started.
lane() {
  local child=
  trap 'trap - EXIT; [[ -z $child ]] || { kill "$child"; wait "$child"; }; exit 143' INT TERM
  trap - EXIT
  "$@"
}

without_nodes() {
  run chart "what the chart renders" tests/kubernetes/chart_test.py
  run crds "CRDs on Kubernetes" tests/kubernetes/crds_test.py
  # Debian's kubectl, the oldest that must work, is what `make test` takes.
  run clients-local "clients on the local cluster" tests/clients/run.py --koord "$bin/koord" \
    --deadline 120 --kubectl "$programs/kubectl"
  run clients "clients on Kubernetes" tests/kubernetes/cluster.py run --controller-manager \
    --scheduler -- tests/clients/run.py --deadline 120 --kubectl "$programs/kubectl" \
    --kubectl "$debian_kubectl"
  run scenarios "scenarios on Kubernetes, with koord-scheduler and koord-manager" \
    tests/kubernetes/scenarios_test.py "$bin"
}

# One at a time: all nodes have the same address.
with_nodes() {
  run leftovers "clusters leave nothing behind" tests/kubernetes/leftovers_test.py
  run colocation "co-location on a real node" tests/kubernetes/colocation_test.py "$bin"
  run deploy "installation by kustomize and Helm" tests/kubernetes/deploy_test.py "$bin"
  run failover "programs that are killed" tests/kubernetes/failover_test.py "$bin"
}

tests/kubernetes/leftovers.py remember "$TMPDIR" "$notes/before"
lane with_nodes &
lanes=($!)
lane without_nodes &
lanes+=($!)
trap 'kill "${lanes[@]}"; wait; exit 143' INT TERM
for pid in "${lanes[@]}"; do
  wait "$pid" || echo "FAILED: the parts after those below were not run" >>"$notes/outcomes"
done
trap - INT TERM
only=()
run left "what all of them left behind" \
  tests/kubernetes/leftovers.py compare "$TMPDIR" "$notes/before"

echo "== summary, after $((SECONDS - started)) s"
if [[ -s $notes/skipped ]]; then
  echo "Not run:"
  cat "$notes/skipped"
fi
cat "$notes/outcomes"
! grep -q '^FAILED' "$notes/outcomes"
