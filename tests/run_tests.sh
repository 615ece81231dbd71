#!/usr/bin/env bash
# run_tests.sh BUILD [--changed | CTEST ARGUMENT ...]: runs the tests of a build. With --changed, it
# leaves out tests that have passed before and depend on nothing that has changed (unchanged.py). The
# number of tests at a time is the number of cores plus one, because some tests wait for other
# programs. A test that is skipped for a reason that is not in allowed_skips.txt is a failure.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
results=$build/Testing/tests.xml suites=$build/Testing/suites
rm -rf "$results" "$suites"
mkdir -p "$suites"
code=0 at_once=$(($(nproc) + 1)) arguments=("${@:2}")
omitted=$(python3 "$here/unchanged.py" select "$build" "$build/Testing/selected")
if [[ ${2:-} == --changed ]]; then
  printf '%s\n' "$omitted" >&2
  arguments=(-I "$build/Testing/selected")
fi
ctest --test-dir "$build" --output-on-failure --output-junit "$results" -j $at_once \
  "${arguments[@]}" || code=$?
if [[ -f $results ]]; then
  if python3 "$here/check_skips.py" "$results" "$here/allowed_skips.txt" "$suites"; then
    python3 "$here/unchanged.py" record "$build" "$results"
  else
    python3 "$here/unchanged.py" forget "$build" "$results"
    code=1
  fi
fi
exit $code
