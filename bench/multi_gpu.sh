#!/usr/bin/env bash
# multi_gpu.sh BUILD: filters one stream of 1920x1080 frames from host memory to host memory with
# 1, 2, 4 .. GPUs of this machine, grey and 4:2:0, frame by frame and over time, and a volume of
# 512x512x512 voxels. It prints frames per second, speed-up, and a hash of the results, which must
# not depend on the number of GPUs. Table: BUILD/bench/multi_gpu.csv. The exit code is 1 if results
# differ.
#   LULL_SETTINGS: PROFILE:R:FRAMES (default: balanced and high with R = 0, 2 and 4, and best)
#   LULL_LAYOUTS: default "gray 420"
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_gpu
find_still
read -ra settings <<<"${LULL_SETTINGS:-balanced:0:4800 high:0:4800 best:0:1600 \
balanced:2:4800 high:2:4800 balanced:4:4800 high:4:4800 best:4:1600}"
counts=()
for (( n = 1; n <= ${#gpus[@]}; n *= 2 )); do counts+=("$n"); done
targets=$(for n in "${counts[@]}"; do echo "cuda:$(seq -s + 0 $(( n - 1 )))"; done | paste -sd,)

: >"$work/raw.csv"
for layout in ${LULL_LAYOUTS:-gray 420}; do
  for setting in "${settings[@]}"; do
    IFS=: read -r profile temporal frames <<<"$setting"
    "$build/bin/lull_throughput" "$noisy" --clean "$clean" --sigma 20 --hash --repeats 1 \
      --profile "$profile" --temporal "$temporal" --frames "$frames" --layout "$layout" \
      --device "$targets" --csv "$work/one.csv" >/dev/null
    awk -v name="$profile,$temporal,$layout" -F, '
      NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
      {
        gpus = split($at["device"], ignored, "+")
        print name "," gpus "," $at["psnr_db"] "," $at["fps"] "," $at["hash"]
      }' "$work/one.csv" >>"$work/raw.csv"
  done
done
awk -F, '
  BEGIN { print "profile,R,layout,GPUs,psnr_db,fps,of one GPU,hash,bytes" }
  $4 == 1 { fps = $6; hash = $7 }
  {
    printf "%s,%s,%s,%d,%s,%s,%.3f,%s,%s\n", $1, $2, $3, $4, $5, $6, $6 / fps, $7,
      $7 == hash ? "same" : "DIFFERENT"
  }' "$work/raw.csv" >"$out/multi_gpu.csv"
markdown "$out/multi_gpu.csv"

volume=${LULL_TEST_DATA:-}/mri/chris_t1.nii.gz
if [[ -e $volume ]]; then
  for n in "${counts[@]}"; do
    echo "== BM4D, 512x512x512, GPUs: $n"
    "$build/bin/lull_volume_quality" "$volume" --noise 3 --device cuda --size 512 512 512 --gpus "$n"
  done
fi
(( ${#gpus[@]} > 1 )) || echo "(only one GPU: nothing to compare)"
! grep -q DIFFERENT "$out/multi_gpu.csv"
