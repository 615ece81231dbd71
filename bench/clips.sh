#!/usr/bin/env bash
# clips.sh BUILD [DEVICE]: measures the gain of patches from neighbouring frames on complete clips,
# with noise in float (lull_clip_quality). Needs ffmpeg. Table: BUILD/bench/clips.csv
#   LULL_PROFILES: profiles (default "balanced high")
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_data video/tennis
command -v ffmpeg >/dev/null || { echo "${0##*/}: skipped (ffmpeg is missing)"; exit 0; }
csv=$out/clips.csv
profiles=${LULL_PROFILES:-balanced high}
video=$data/video

# to_gray NAME ARGUMENT ...: converts an input of ffmpeg to grey.
to_gray() { ffmpeg -v error -y "${@:2}" -f yuv4mpegpipe -strict -1 "$work/$1.y4m"; }
to_gray tennis -i "$video/tennis/%05d.png" -vf format=gray
to_gray park_joy -i "$video/park_joy_480x270_10f.y4m" -vf extractplanes=y
to_gray cisco -f rawvideo -s 320x192 -pix_fmt yuv420p \
  -i "$video/CiscoVT2people_320x192_12fps.yuv" -vf extractplanes=y

"$build/bin/lull_clip_quality" "$work"/{tennis,park_joy,cisco}.y4m --each --sigma 20,40 \
  --profile "${profiles// /,}" --temporal 0,2,4 --device "${devices[0]}" >"$csv"
table "$csv"
