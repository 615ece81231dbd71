#!/usr/bin/env bash
# all.sh BUILD: implements ./run bench. It makes all measurements of docs/measurements that are
# possible on the GPUs and the CPU of this machine. Tables: BUILD/bench/*.csv
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
devices=(cpu)
while read -r gpu; do devices+=("$gpu"); done < <("$lull" devices | grep -o '^cuda:[0-9]*' || true)

# Speed on the project's own clip, for machines without the pictures of LULL_TEST_DATA.
"$build/bin/lull_add_noise" samples/coffee.mkv "$work/noisy.mkv" --sigma 20 --seed 1
echo "== 480x270, 4:2:0, from host memory to host memory"
"$build/bin/lull_throughput" "$work/noisy.mkv" --clean samples/coffee.mkv --sigma 20 \
  --device "$(IFS=,; echo "${devices[*]}")" --repeats 1 --csv "$out/coffee.csv" >/dev/null
table "$out/coffee.csv"

for script in kodak_still.sh tennis.sh clips.sh set12.sh kodak_colour.sh film_grain.sh volumes.sh; do
  echo "== $script"
  bash "bench/$script" "$build" "${devices[@]}"
done

(( ${#devices[@]} > 1 )) || exit 0
for script in shapes.sh other_pictures.sh end_to_end.sh multi_gpu.sh; do
  echo "== $script"
  bash "bench/$script" "$build"
done
