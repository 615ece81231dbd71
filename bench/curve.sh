#!/usr/bin/env bash
# curve.sh BUILD [DEVICE ...]: writes docs/data/ours_cpu.csv and, for a device cuda:N,
# docs/data/ours_gpu.csv: lull's data for the plots of PSNR against time. CPU: PSNR of Set12 at sigma
# 25, time for the 1920x1080 still, as for the peers. GPU: PSNR and time of the still; the script also
# prints the ratio to the fastest peer at each PSNR (bench/ratios.py).
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_data bench/kodak1080_noisy20.png
[[ ${devices[*]} != auto ]] || devices=(cpu)
noisy=$data/bench/kodak1080_noisy20.png clean=$data/bench/kodak1080_clean.png
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)

cpu_curve() {
  local cpu csv=docs/data/ours_cpu.csv
  cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
  "$build/bin/lull_quality" "$data"/set12/*.png --sigma 25 --no-basic \
    --profile fast,balanced,high,paper --device cpu >"$work/quality.csv"
  "$build/bin/lull_throughput" "$noisy" --sigma 20 --device cpu --csv "$work/speed.csv" >/dev/null
  awk -F, -v cpu="$cpu" -v commit="$commit" '
    NR == FNR { if (FNR > 1) psnr[$2] = $19; next }
    FNR == 1 { print "device,tool,setting,psnr_db,cpu_s_per_mpixel,source"; next }
    { printf "%s,lull,%s,%s,%s,bench/curve.sh at %s: Set12 at sigma 25; speed on 1920x1080\n", \
        cpu, $2, psnr[$2], $10, commit }' "$work/quality.csv" "$work/speed.csv" >$csv
  table $csv
}

# The profiles, and settings between and below them.
gpu_curve() { # DEVICE
  local gpu csv=docs/data/ours_gpu.csv
  rm -f "$work/speed.csv"
  gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
  grid() { # DEVICE OPTION ...: appends to $work/speed.csv
    "$build/bin/lull_frame_bench" "$noisy" --clean "$clean" --sigma 20 --device "${1#cuda:}" \
      --repeats 30 --benchmark_filter=^kernels/ --csv "$work/part.csv" "${@:2}" >/dev/null
    if [[ ! -e $work/speed.csv ]]; then
      cp "$work/part.csv" "$work/speed.csv"
    else
      tail -n +2 "$work/part.csv" >>"$work/speed.csv"
    fi
  }
  grid "$1" --profile fast,balanced,high,paper
  grid "$1" --profile fast --phases 1 --step 8,7,6 --window 9,11,13,15,19 --group 8,16
  grid "$1" --profile fast --step 8,7,6,5 --window 9,11,13,15,19 --group 8,16
  grid "$1" --profile balanced --step 5,4,3 --window 13,19,25 --group 16,16:32
  grid "$1" --profile high --step 4,3 --window 25,39
  awk -F, -v gpu="$gpu" -v commit="$commit" '
    NR == 1 {
      for (i = 1; i <= NF; i++) at[$i] = i
      print "device,tool,setting,psnr_db,ms,source"
      next
    }
    { printf "%s,lull,%s,%.3f,%.4f,bench/curve.sh at %s: kernels of all phases alone; median\n", \
        gpu, $at["setting"], $at["psnr_db"], $at["kernels_ms"], commit }' "$work/speed.csv" >$csv
  table $csv
  python3 bench/ratios.py
}

for device in "${devices[@]}"; do
  case $device in
    cpu) cpu_curve ;;
    cuda:*) gpu_curve "$device" ;;
  esac
done
