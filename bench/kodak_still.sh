#!/usr/bin/env bash
# kodak_still.sh BUILD [DEVICE ...]: the 1920x1080 benchmark still (Kodak, grey, sigma 20, 8 bits)
# through the command, for every profile, with both phases and with the first phase alone.
# Table: BUILD/bench/kodak_still.csv
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_data bench/kodak1080_noisy20.png
csv=$out/kodak_still.csv
noisy=$data/bench/kodak1080_noisy20.png clean=$data/bench/kodak1080_clean.png

echo device,profile,phases,psnr_db,wall_s,cpu_s >"$csv"
echo "none,noisy,0,$(psnr 2 "$clean" "$noisy"),," >>"$csv"
for device in "${devices[@]}"; do
  for profile in fast balanced high paper; do
    for phases in 1 2; do
      denoise -i "$noisy" -o "$work/out.png" --sigma 20 --profile "$profile" --phases $phases \
        --device "$device"
      echo "${device//,/ },$profile,$phases,$(psnr 2 "$clean" "$work/out.png"),$wall,$cpu" >>"$csv"
    done
  done
done
table "$csv"
