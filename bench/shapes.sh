#!/usr/bin/env bash
# shapes.sh BUILD [cuda:N]: time and memory of a frame on a GPU by size, planes and frames in flight.
# Tables: BUILD/bench/shapes.csv (each shape), shapes_ratios.csv
#   LULL_PROFILES: profiles (default "fast balanced paper high")
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_gpu
[[ ${devices[*]} != auto ]] || devices=("${gpus[0]}")
find_still
read -ra profiles <<<"${LULL_PROFILES:-fast balanced paper high}"
csv=$out/shapes.csv
"$build/bin/lull_frame_bench" "$noisy" --clean "$clean" --sigma 20 --device "${devices[0]#cuda:}" \
  --profile "$(IFS=,; echo "${profiles[*]}")" --size 640x360,1920x1080,3840x2160,4608x3072 \
  --layout gray,420 --repeats 20 --csv "$csv" >/dev/null

# figure PROFILE SIZE LAYOUT COLUMN: prints a figure of the table.
figure() {
  awk -F, -v setting="$1" -v size="$2" -v layout="$3" -v column="$4" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["setting"] == setting && $at["width"] "x" $at["height"] == size &&
      $at["layout"] == layout { print $at[column] }' "$csv"
}
# ratio PROFILE SIZE LAYOUT SIZE LAYOUT: prints the ratio of two kernel times.
ratio() {
  awk -v a="$(figure "$1" "$2" "$3" kernels_ms)" -v b="$(figure "$1" "$4" "$5" kernels_ms)" \
    'BEGIN { printf "%.3f", a / b }'
}
gigabytes() { awk -v mb="$(figure "$1" "$2" gray memory_mb)" 'BEGIN { printf "%.3f", mb / 1000 }'; }

{
  echo "profile,PSNR dB,1080p ms,4K / 1080p (<= 4.1),640x360 / 1080p (<= 0.25),4:2:0 / luma (<= 1.7)$(
    ),GB at 1080p (<= 0.25),GB at 14 Mpixel (<= 0.7)"
  for profile in "${profiles[@]}"; do
    echo "$profile,$(figure "$profile" 1920x1080 gray psnr_db),$(
      )$(figure "$profile" 1920x1080 gray kernels_ms),$(
      )$(judge "$(ratio "$profile" 3840x2160 gray 1920x1080 gray)" 4.1 4),$(
      )$(judge "$(ratio "$profile" 640x360 gray 1920x1080 gray)" 0.25 0.112),$(
      )$(judge "$(ratio "$profile" 1920x1080 420 1920x1080 gray)" 1.7 1.5),$(
      )$(judge "$(gigabytes "$profile" 1920x1080)" 0.25 0.2),$(
      )$(judge "$(gigabytes "$profile" 4608x3072)" 0.7 0.6)"
  done
} >"$out/shapes_ratios.csv"
markdown "$csv" setting width height layout psnr_db psnr_chroma_db upload_ms kernels_ms \
  kernels_p90_ms download_ms memory_mb in_flight_1_ms in_flight_2_ms in_flight_4_ms
echo
markdown "$out/shapes_ratios.csv"
