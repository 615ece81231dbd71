#!/usr/bin/env bash
# curve.sh BUILD [DEVICE ...]: docs/data/ours_cpu.csv and, for a device cuda:N, docs/data/ours_gpu.csv:
# what the plots of PSNR against time show of lull. The PSNR of the CPU's is that of Set12 at sigma
# 25 and its time that of the 1920x1080 still, as for the peers; the GPU's are both of the still.
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
    NR == FNR { if (FNR > 1) psnr[$2] = $18; next }
    FNR == 1 { print "device,tool,setting,psnr_db,cpu_s_per_mpixel,source"; next }
    { printf "%s,lull,%s,%s,%s,bench/curve.sh at %s: Set12 at sigma 25; speed on 1920x1080\n", \
        cpu, $2, psnr[$2], $10, commit }' "$work/quality.csv" "$work/speed.csv" >$csv
  table $csv
}

gpu_curve() { # DEVICE
  local gpu csv=docs/data/ours_gpu.csv
  gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
  "$build/bin/lull_gpu_time" "$noisy" --clean "$clean" --sigma 20 --device "${1#cuda:}" \
    --csv "$work/speed.csv" >/dev/null
  awk -F, -v gpu="$gpu" -v commit="$commit" '
    NR == 1 { print "device,tool,setting,psnr_db,ms,source"; next }
    $3 == 2 { printf "%s,lull,%s,%s,%s,bench/curve.sh at %s: kernels of both phases alone; median\n", \
        gpu, $2, $4, $6, commit }' "$work/speed.csv" >$csv
  table $csv
}

for device in "${devices[@]}"; do
  case $device in
    cpu) cpu_curve ;;
    cuda:*) gpu_curve "$device" ;;
  esac
done
