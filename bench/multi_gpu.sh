#!/usr/bin/env bash
# multi_gpu.sh BUILD: filters one stream of 1920x1080 grey frames from host memory to host memory
# with 1, 2, 4 .. GPUs of this machine. It prints frames per second, speed-up, and a hash of the
# results, which must not depend on the number of GPUs. Table: BUILD/bench/multi_gpu.csv. The exit
# code is 1 if results differ.
#   LULL_PROFILES: profiles (default "paper high")
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_gpu
find_still
read -ra profiles <<<"${LULL_PROFILES:-paper high}"
targets=()
for (( n = 1; n <= ${#gpus[@]}; n *= 2 )); do
  targets+=("cuda:$(seq -s + 0 $(( n - 1 )))")
done
"$build/bin/lull_throughput" "$noisy" --clean "$clean" --sigma 20 --hash \
  --profile "$(IFS=,; echo "${profiles[*]}")" --device "$(IFS=,; echo "${targets[*]}")" \
  --csv "$work/raw.csv" >/dev/null
awk -F, '
  NR == 1 {
    for (i = 1; i <= NF; i++) at[$i] = i
    print "profile,GPUs,psnr_db,fps,of one GPU,kernels_fps,ratio,hash,bytes"
    next
  }
  {
    gpus = split($at["device"], ignored, "+")
    profile = $at["setting"]
    if (gpus == 1) { fps[profile] = $at["fps"]; hash[profile] = $at["hash"] }
    speedup = $at["fps"] / fps[profile]
    verdict = gpus == 2 ? (speedup >= 1.95 ? " (met)" : " (MISSED 1.95)") \
            : gpus == 4 ? (speedup >= 3.8 ? " (met)" : " (MISSED 3.8)") : ""
    printf "%s,%d,%s,%s,%.3f%s,%s,%s,%s,%s\n", profile, gpus, $at["psnr_db"], $at["fps"], speedup,
      verdict, $at["kernels_fps"], $at["ratio"], $at["hash"],
      $at["hash"] == hash[profile] ? "same" : "DIFFERENT"
  }' "$work/raw.csv" >"$out/multi_gpu.csv"
markdown "$out/multi_gpu.csv"
(( ${#gpus[@]} > 1 )) || echo "(only one GPU: nothing to compare)"
! grep -q DIFFERENT "$out/multi_gpu.csv"
