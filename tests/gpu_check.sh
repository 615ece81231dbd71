#!/usr/bin/env bash
# gpu_check.sh BUILD: runs everything that needs a machine with a GPU: all tests, the tests of
# kernels under compute-sanitizer, and timings. It ends with a table. The exit code is 1 if anything
# failed.
#
#   LULL_GPU_FILTER   tests of lull_bm3d_tests to run under compute-sanitizer (GoogleTest's
#                     --gtest_filter; default: single kernels, and sessions on small frames and
#                     clips, because racecheck is slow); lull_cuda_tests runs completely
#   LULL_GPU_SECONDS  time limit of each tool on each test program (default 150; all run at once)
#   LULL_GPU_TOOLS    tools of compute-sanitizer (default: memcheck racecheck initcheck synccheck)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
filter=${LULL_GPU_FILTER:-Cuda*:*AnySize/cuda:*PassesPlanes*/cuda:*TemporalSession.PlanesWithoutNoisePassThrough/cuda:-CudaMatch.AddsTheBias*:CudaLargeFrames.*}
limit=${LULL_GPU_SECONDS:-150}
read -ra tools <<<"${LULL_GPU_TOOLS:-memcheck racecheck initcheck synccheck}"
logs=$build/gpu-check
rm -rf "$logs"
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

# Runs one tool over the selected tests of one program; writes "RESULT|SECONDS" to
# $tool-$name.result. (A test requests more memory than available, so failed API calls are not
# errors.)
check_with() { # SANITIZER TOOL PROGRAM FILTER
  local tool=$2 name=${3##*/} code=0 begin=$SECONDS result options=()
  [[ $tool != memcheck ]] || options=(--report-api-errors no)
  timeout "$limit" "$1" --tool "$tool" "${options[@]}" --error-exitcode 99 "$3" \
    --gtest_filter="$4" >"$logs/$tool-$name.log" 2>&1 </dev/null || code=$?
  case $code in
    0) result="clean" ;;
    99) result="ERRORS, see $tool-$name.log" ;;
    124) result="TOO SLOW for $limit s" ;;
    *) result="DID NOT RUN (exit code $code)" ;;
  esac
  echo "$result|$((SECONDS - begin))" >"$logs/$tool-$name.result"
}

echo "== tests"
begin=$SECONDS
result=passed
LULL_SKIPS_GPU=0 bash tests/run_tests.sh "$build" || { result=FAILED; failed=1; }
note "ctest" "$result" $((SECONDS - begin))

echo "== compute-sanitizer, tests $filter"
if sanitizer=$(find_sanitizer); then
  if ! "$build/bin/lull_bm3d_tests" --gtest_list_tests --gtest_filter="$filter" | grep -q '^ '; then
    note "lull_bm3d_tests" "NO TEST matches $filter" 0
    failed=1
  fi
  for tool in "${tools[@]}"; do
    check_with "$sanitizer" "$tool" "$build/bin/lull_bm3d_tests" "$filter" &
    check_with "$sanitizer" "$tool" "$build/bin/lull_bm4d_tests" "Bm4dCuda*" &
    check_with "$sanitizer" "$tool" "$build/bin/lull_cuda_tests" "*" &
  done
  wait
  for file in "$logs"/*.result; do
    IFS='|' read -r result seconds <"$file"
    name=$(basename "$file" .result)
    note "${name/-/ }" "$result" "$seconds"
    [[ $result == clean ]] || { failed=1; tail -n 8 "$logs/$name.log"; }
  done
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
