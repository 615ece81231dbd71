#!/usr/bin/env bash
# gpu.sh BUILD: times on every GPU, for ./run gpu-check: frames per second from host memory to host
# memory at 1920x1080, with the PSNR of each profile. Table: BUILD/bench/gpu.csv
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
"$build/bin/lull_throughput" "$noisy" --clean "$clean" --sigma 20 --streams 1,2,4 \
  --device "$(IFS=,; echo "${targets[*]}")" --csv "$out/gpu.csv" >/dev/null
table "$out/gpu.csv"
