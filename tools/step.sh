#!/bin/sh
# Runs one step of a target: prints its purpose and expected duration, then how long it
# took. With -q the step's own output is shown only if it fails.
#   tools/step.sh [-q] PURPOSE EXPECTED COMMAND [ARGUMENT ...]
quiet=
[ "$1" = -q ] && quiet=yes && shift
purpose=$1 expected=$2
shift 2
echo "==> $purpose (about $expected)"
start=$(date +%s)
if [ -n "$quiet" ]; then
  log=$(mktemp)
  "$@" >"$log" 2>&1
  status=$?
  [ $status -eq 0 ] || cat "$log" >&2
  rm -f "$log"
else
  "$@"
  status=$?
fi
# The second line of `times` is that of the commands that this shell has run; a pipe would
# ask another shell.
figures=$(mktemp)
times >"$figures"
cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4 + 0.5) }' "$figures")
rm -f "$figures"
[ $status -eq 0 ] && result=done || result="failed (status $status)"
echo "    $purpose: $result in $(($(date +%s) - start)) s, $cpu s of CPU time"
exit $status
