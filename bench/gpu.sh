#!/usr/bin/env bash
# gpu.sh BUILD: times on the GPUs, for ./run gpu-check: kernels and copies of one frame, then frames
# per second from host memory to host memory. Tables: BUILD/bench/gpu_time.csv, gpu_throughput.csv
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
mapfile -t gpus < <("$lull" devices | grep -o '^cuda:[0-9]*')
if [[ -n ${LULL_TEST_DATA:-} && -e $LULL_TEST_DATA/bench/kodak1080_noisy20.png ]]; then
  noisy=$LULL_TEST_DATA/bench/kodak1080_noisy20.png clean=$LULL_TEST_DATA/bench/kodak1080_clean.png
else
  noisy=$work/noisy.mkv clean=samples/coffee.mkv
  "$build/bin/lull_add_noise" "$clean" "$noisy" --sigma 20 --seed 1
fi
targets=("${gpus[0]}")
(( ${#gpus[@]} < 2 )) || targets+=("cuda:$(IFS=+; echo "${gpus[*]#cuda:}")")
"$build/bin/lull_gpu_time" "$noisy" --clean "$clean" --sigma 20 --csv "$out/gpu_time.csv" >/dev/null
table "$out/gpu_time.csv"
"$build/bin/lull_throughput" "$noisy" --clean "$clean" --sigma 20 --streams 1,2,4 \
  --device "$(IFS=,; echo "${targets[*]}")" --csv "$out/gpu_throughput.csv" >/dev/null
table "$out/gpu_throughput.csv"
