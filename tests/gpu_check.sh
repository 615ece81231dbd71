#!/usr/bin/env bash
# gpu_check.sh BUILD: what only a machine with a GPU can show, in one go: all tests, the tests that
# run kernels under compute-sanitizer, and times. Ends with a table. Exit code 1 if anything failed.
#
#   LULL_GPU_FILTER   tests to run under compute-sanitizer (GoogleTest's --gtest_filter)
#   LULL_GPU_SECONDS  time limit of each tool on each test program (default 90)
#   LULL_GPU_TOOLS    which tools of compute-sanitizer (default: memcheck racecheck initcheck synccheck)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
filter=${LULL_GPU_FILTER:-*Cuda*:*cuda*}
limit=${LULL_GPU_SECONDS:-90}
read -ra tools <<<"${LULL_GPU_TOOLS:-memcheck racecheck initcheck synccheck}"
logs=$build/gpu-check
mkdir -p "$logs"
table=()
failed=0

note() { # WHAT RESULT SECONDS
  table+=("$(printf '%-44s %-34s %6s s' "$1" "$2" "$3")")
}

find_sanitizer() {
  local place
  for place in "$(command -v compute-sanitizer || true)" /usr/local/cuda*/bin/compute-sanitizer \
    /usr/local/cuda*/extras/compute-sanitizer/compute-sanitizer; do
    [[ -x $place ]] && echo "$place" && return
  done
  return 1
}

# Runs one tool over the chosen tests of one program.
check_with() { # SANITIZER TOOL PROGRAM
  local sanitizer=$1 tool=$2 program=$3 name=${3##*/} log code=0 begin=$SECONDS result
  log=$logs/$tool-$name.log
  timeout "$limit" "$sanitizer" --tool "$tool" --error-exitcode 99 "$program" \
    --gtest_filter="$filter" >"$log" 2>&1 </dev/null || code=$?
  case $code in
    0) result="clean" ;;
    99) result="ERRORS, see $tool-$name.log" ;;
    124) result="TOO SLOW for $limit s" ;;
    *) result="DID NOT RUN (exit code $code)" ;;
  esac
  note "$tool $name" "$result" $((SECONDS - begin))
  (( code == 0 )) || { failed=1; tail -n 8 "$log"; }
}

echo "== tests"
begin=$SECONDS
result=passed
ctest --test-dir "$build" --output-on-failure -j "$(nproc)" || { result=FAILED; failed=1; }
note "ctest" "$result" $((SECONDS - begin))

echo "== compute-sanitizer, tests $filter"
if sanitizer=$(find_sanitizer); then
  found=0
  for program in "$build"/bin/lull_*_tests; do
    "$program" --gtest_list_tests --gtest_filter="$filter" | grep -q '^ ' || continue
    found=1
    for tool in "${tools[@]}"; do check_with "$sanitizer" "$tool" "$program"; done
  done
  (( found )) || { note "compute-sanitizer" "NO TEST matches $filter" 0; failed=1; }
else
  note "compute-sanitizer" "NOT INSTALLED" 0
  failed=1
fi

echo "== times"
begin=$SECONDS
result="see the table above"
bash bench/gpu.sh "$build" || { result=FAILED; failed=1; }
note "times" "$result" $((SECONDS - begin))

printf '\n== gpu-check on %s\n' "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)"
printf '%s\n' "${table[@]}"
exit $failed
