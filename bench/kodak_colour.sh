#!/usr/bin/env bash
# kodak_colour.sh BUILD [DEVICE ...]: the six Kodak pictures in colour through the command, with
# Gaussian noise that is rounded and clipped to 8 bits; PSNR is the mean of the three channels.
# Tables: BUILD/bench/kodak_colour.csv (each picture), kodak_colour_mean.csv
#   LULL_PROFILES, LULL_SIGMAS: profiles and noise levels (default "high" and "25 50")
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_data kodak
csv=$out/kodak_colour.csv
read -ra profiles <<<"${LULL_PROFILES:-high}"
read -ra sigmas <<<"${LULL_SIGMAS:-25 50}"

echo device,profile,sigma,picture,noisy_db,psnr_db,cpu_s >"$csv"
for clean in "$data"/kodak/*.png; do
  picture=$(basename "$clean" .png)
  for sigma in "${sigmas[@]}"; do
    # Each picture and sigma has its own noise, which is the same in every run.
    "$build/bin/lull_add_noise" "$clean" "$work/noisy.png" --sigma "$sigma" \
      --seed $(( 10#$picture * 1000 + sigma ))
    before=$(psnr 2 "$clean" "$work/noisy.png")
    for device in "${devices[@]}"; do
      for profile in "${profiles[@]}"; do
        denoise -i "$work/noisy.png" -o "$work/out.png" --sigma "$sigma" --profile "$profile" \
          --device "$device"
        after=$(psnr 2 "$clean" "$work/out.png")
        echo "${device//,/ },$profile,$sigma,$picture,$before,$after,$cpu" >>"$csv"
      done
    done
  done
done
awk -F, 'NR == 1 { print "device,profile,sigma,pictures,noisy_db,psnr_db"; next }
  { key = $1 "," $2 "," $3; n[key]++; noisy[key] += $5; psnr[key] += $6 }
  END { for (key in n) printf "%s,%d,%.3f,%.3f\n", key, n[key], noisy[key] / n[key], psnr[key] / n[key] }
  ' "$csv" >"$out/kodak_colour_mean.csv"
table "$csv"
table "$out/kodak_colour_mean.csv"
