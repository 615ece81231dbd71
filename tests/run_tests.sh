#!/usr/bin/env bash
# run_tests.sh BUILD [CTEST ARGUMENT ...]: the tests of a build, at once one more than there are
# cores, as some wait for other programs; one that is skipped for a reason which is not in
# allowed_skips.txt is a failure.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
results=$build/Testing/tests.xml
mkdir -p "${results%/*}"
rm -f "$results"
code=0 at_once=$(($(nproc) + 1))
ctest --test-dir "$build" --output-on-failure --output-junit "$results" -j $at_once "${@:2}" ||
  code=$?
if [[ -f $results ]]; then
  python3 "$here/check_skips.py" "$results" "$here/allowed_skips.txt" || code=1
fi
exit $code
