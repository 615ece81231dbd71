#!/usr/bin/env bash
# gpu.sh BUILD: speed of the GPUs, for ./run gpu-check: kernels and copies of one frame, and frames
# per second from host memory to host memory. Tables:
# BUILD/bench/gpu_frames.csv, gpu_coloured.csv, gpu_throughput.csv
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_gpu
find_still
targets=("${gpus[0]}")
(( ${#gpus[@]} < 2 )) || targets+=("cuda:$(IFS=+; echo "${gpus[*]#cuda:}")")
"$build/bin/lull_frame_bench" "$noisy" --clean "$clean" --sigma 20 --phases 1,2 \
  --csv "$out/gpu_frames.csv" >/dev/null
table "$out/gpu_frames.csv"
# Coloured noise and white noise, both added to the clean picture.
"$build/bin/lull_frame_bench" "$noisy" --clean "$clean" --sigma 20 --squares 1,3 \
  --profile balanced,high --in-flight 1 --csv "$out/gpu_coloured.csv" >/dev/null
table "$out/gpu_coloured.csv"
"$build/bin/lull_throughput" "$noisy" --clean "$clean" --sigma 20 --streams 1,2,4 \
  --device "$(IFS=,; echo "${targets[*]}")" --csv "$out/gpu_throughput.csv" >/dev/null
table "$out/gpu_throughput.csv"
