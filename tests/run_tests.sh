#!/usr/bin/env bash
# run_tests.sh BUILD [CTEST ARGUMENT ...]: runs the tests of a build. The number of tests at a time
# is the number of cores plus one, because some tests wait for other programs. A test that is
# skipped for a reason that is not in allowed_skips.txt is a failure.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
results=$build/Testing/tests.xml suites=$build/Testing/suites
rm -rf "$results" "$suites"
mkdir -p "$suites"
code=0 at_once=$(($(nproc) + 1))
ctest --test-dir "$build" --output-on-failure --output-junit "$results" -j $at_once "${@:2}" ||
  code=$?
if [[ -f $results ]]; then
  python3 "$here/check_skips.py" "$results" "$here/allowed_skips.txt" "$suites" || code=1
fi
exit $code
