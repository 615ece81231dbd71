#!/usr/bin/env bash
# set12.sh BUILD [DEVICE ...]: Set12 with Gaussian noise in float, not clipped: mean PSNR by profile
# and sigma, for both phases and for the first phase alone. Table: BUILD/bench/set12_DEVICE.csv
#   LULL_PROFILES, LULL_SIGMAS: profiles and noise levels (default "fast balanced high paper" and
#   "10 25 50")
# The reference backend takes minutes per profile: give it as the only device, with few profiles.
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_data set12
[[ ${devices[*]} != auto ]] || devices=(cpu)
profiles=${LULL_PROFILES:-fast balanced high paper}
sigmas=${LULL_SIGMAS:-10 25 50}

for device in "${devices[@]}"; do
  csv=$out/set12_${device//[:,]/_}.csv
  "$build/bin/lull_quality" "$data"/set12/*.png --sigma "${sigmas// /,}" \
    --profile "${profiles// /,}" --device "$device" --csv "$csv" >"$work/set12.csv"
  echo "== Set12 on $device"
  cut -d, -f1,2,17-19,24 "$work/set12.csv" >"$work/short.csv"
  table "$work/short.csv"
done
