#!/usr/bin/env bash
# other_pictures.sh BUILD [DEVICE]: measures all profiles at sigma 10, 25 and 50 on three pictures
# that are not part of the still: Kodak 13 (fine texture) and 21 (sky, rocks, water) in grey, and
# Set12's Barbara (stripes). Noise is rounded and clipped to 8 bits. ms: kernels on a GPU, complete
# frames on the CPU. Table: BUILD/bench/other_pictures.csv
#   LULL_PROFILES, LULL_SIGMAS: profiles and noise levels (default "fast balanced paper high" and
#   "10 25 50")
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_data kodak
command -v ffmpeg >/dev/null || { echo "${0##*/}: skipped (ffmpeg is missing)"; exit 0; }
read -ra profiles <<<"${LULL_PROFILES:-fast balanced paper high}"
read -ra sigmas <<<"${LULL_SIGMAS:-10 25 50}"
device=${devices[0]}
[[ $device != auto ]] || device=$("$lull" devices | grep -o '^cuda:[0-9]*' | head -n 1) || device=cpu
csv=$out/other_pictures.csv

# measure NOISY CLEAN SIGMA: prints lines of profile, PSNR and ms.
measure() {
  local options=("$1" --clean "$2" --sigma "$3" --profile "$(IFS=,; echo "${profiles[*]}")"
                 --csv "$work/one.csv")
  if [[ $device == cuda:* ]]; then
    "$build/bin/lull_frame_bench" "${options[@]}" --device "${device#cuda:}" \
      --benchmark_filter=^kernels/ >/dev/null
    column=kernels_ms
  else
    "$build/bin/lull_throughput" "${options[@]}" --device "$device" --repeats 1 >/dev/null
    column=ms
  fi
  awk -F, -v column=$column 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { printf "%s,%.3f,%.3f\n", $at["setting"], $at["psnr_db"], $at[column] }' "$work/one.csv"
}

echo device,picture,sigma,noisy_db,profile,psnr_db,ms >"$csv"
for picture in kodak/13 kodak/21 set12/09; do
  clean=$work/clean.png noisy=$work/noisy.png
  ffmpeg -v error -y -i "$data/$picture.png" -pix_fmt gray "$clean"
  for sigma in "${sigmas[@]}"; do
    "$build/bin/lull_add_noise" "$clean" "$noisy" --sigma "$sigma" \
      --seed $(( 10#${picture#*/} * 1000 + sigma ))
    before=$(psnr 2 "$clean" "$noisy")
    measure "$noisy" "$clean" "$sigma" | sed "s|^|$device,$picture,$sigma,$before,|" >>"$csv"
  done
done
markdown "$csv"
