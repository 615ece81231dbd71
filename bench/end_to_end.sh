#!/usr/bin/env bash
# end_to_end.sh BUILD [DEVICE]: tests whether the pipeline keeps the kernels busy.
# 1. Without codecs: raw 8-bit 4:2:0 frames from memory to a null output, compared with the kernels
#    alone. Frame by frame.
# 2. With codecs: an H.264 clip through `lull denoise` to x264, x265, SVT-AV1 and FFV1, compared with
#    `ffmpeg` transcoding with the same settings and no filter. The input of ffmpeg is the denoised
#    frames at the noisy clip's bit rate, so that encoder and decoder have the same work. The upper
#    bound for lull is the slower of ffmpeg and the session alone (on a GPU its kernels). --sigma 0
#    is lull without filtering between the codecs, on the noisy clip, compared with ffmpeg on that
#    clip. Uses --temporal LULL_TEMPORAL, also for the session alone.
# Runs alternate, and medians are printed. Rates are those that the programs report, without their
# startup time. Tables: BUILD/bench/end_to_end_raw.csv, end_to_end.csv
#   LULL_SIZE, LULL_FRAMES, LULL_REPEATS, LULL_PROFILE, LULL_TEMPORAL
#   default 1920x1080, 240, 3, balanced, 2
#   LULL_ENCODERS, default "x264 ultrafast,x264 veryfast,x265 fast,svtav1 8,ffv1"
#   LULL_HWACCEL: --hwaccel for lull, for example cuda (default none)
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
size=${LULL_SIZE:-1920x1080} frames=${LULL_FRAMES:-240} repeats=${LULL_REPEATS:-3}
profile=${LULL_PROFILE:-balanced} temporal=${LULL_TEMPORAL:-2}
IFS=, read -ra encoders <<<"${LULL_ENCODERS:-x264 ultrafast,x264 veryfast,x265 fast,svtav1 8,ffv1}"
decoding=(${LULL_HWACCEL:+--hwaccel "$LULL_HWACCEL"})
device=${devices[0]}
[[ $device != auto ]] || device=$("$lull" devices | grep -o '^cuda:[0-9]*' | head -n 1) || device=cpu

echo "## Without codecs"
echo
find_still
"$build/bin/lull_throughput" "$noisy" --clean "$clean" --sigma 20 --profile "$profile" \
  --size "$size" --layout 420 --device "$device" --repeats "$repeats" \
  --csv "$out/end_to_end_raw.csv" >/dev/null
markdown "$out/end_to_end_raw.csv" device setting shape psnr_db fps ms kernels_fps ratio
if (( temporal > 0 )); then
  "$build/bin/lull_throughput" "$noisy" --clean "$clean" --sigma 20 --profile "$profile" \
    --temporal "$temporal" --size "$size" --layout 420 --device "$device" --repeats "$repeats" \
    --csv "$work/alone.csv" >/dev/null
else
  cp "$out/end_to_end_raw.csv" "$work/alone.csv"
fi
alone=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
  { print $at["kernels_fps"] ? $at["kernels_fps"] : $at["fps"] }' "$work/alone.csv")

echo
echo "## With codecs"
echo
command -v ffmpeg >/dev/null || { echo "skipped (ffmpeg is missing)"; exit 0; }
ffmpeg -v error -encoders 2>/dev/null | grep libx264 >/dev/null || { echo "skipped (ffmpeg has no libx264)"; exit 0; }

# The frame moves over a larger picture.
moving="scroll=horizontal=0.0021:vertical=0.0013,crop=${size/x/:}:0:0,format=yuv420p"
if [[ -e ${LULL_TEST_DATA:-}/kodak/21.png ]]; then
  tiles=()
  for tile in 01 05 13 21 01 05 13 21 01; do tiles+=(-i "$LULL_TEST_DATA/kodak/$tile.png"); done
  ffmpeg -v error -y "${tiles[@]}" -frames:v 1 -filter_complex \
    "xstack=inputs=9:layout=0_0|768_0|1536_0|0_512|768_512|1536_512|0_1024|768_1024|1536_1024" \
    "$work/picture.png"
else
  ffmpeg -v error -y -i samples/coffee.mkv -frames:v 1 -vf scale=2304:1536 "$work/picture.png"
fi
# The noise repeats after some frames, because its generation is slow.
period=$(( frames < 48 ? frames : 48 ))
ffmpeg -v error -y -loop 1 -framerate 30 -i "$work/picture.png" -vf "$moving" \
  -frames:v $period -c:v ffv1 -level 3 "$work/period.mkv"
"$build/bin/lull_add_noise" "$work/period.mkv" "$work/grain.mkv" --sigma 20 --seed 1
ffmpeg -v error -y -stream_loop -1 -i "$work/period.mkv" -frames:v "$frames" -c copy \
  "$work/clean.mkv"
ffmpeg -v error -y -stream_loop -1 -i "$work/grain.mkv" -frames:v "$frames" -c:v libx264 \
  -preset veryfast -crf 18 "$work/noisy.mkv"
rm "$work/period.mkv" "$work/grain.mkv"
denoise -i "$work/noisy.mkv" -o "$work/frames.mkv" --sigma 20 --profile "$profile" --lossless \
  --temporal "$temporal" --device "$device"
bits=$(( $(stat -c %s "$work/noisy.mkv") * 8 * 30 / frames ))
ffmpeg -v error -y -i "$work/frames.mkv" -c:v libx264 -preset veryfast -b:v $bits \
  "$work/denoised.mkv"
rm "$work/frames.mkv"

# transcode IN ARGUMENT ...: runs ffmpeg without a filter; sets `fps` by its own clock.
transcode() {
  local seconds
  seconds=$(ffmpeg -hide_banner -nostdin -benchmark -y -i "$1" -an "${@:2}" "$work/out.mkv" 2>&1 |
    sed -n 's/.*rtime=\([0-9.]*\)s.*/\1/p' | tail -n 1)
  fps=$(awk -v frames="$frames" -v s="$seconds" 'BEGIN { printf "%.2f", frames / s }')
}
# decoding FILE: prints the frames per second of the decoder alone.
decoding() {
  local seconds
  seconds=$(ffmpeg -hide_banner -nostdin -benchmark -i "$1" -f null - 2>&1 |
    sed -n 's/.*rtime=\([0-9.]*\)s.*/\1/p' | tail -n 1)
  awk -v frames="$frames" -v s="$seconds" 'BEGIN { printf "%.1f", frames / s }'
}
median() { sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }

echo "device,profile and R,encoder,PSNR of Y dB,lull fps,busiest stage,session alone fps,ffmpeg fps,$(
  )ratio (>= 0.95),--sigma 0 fps,ffmpeg on the noisy clip fps,ratio" >"$out/end_to_end.csv"
for encoder in "${encoders[@]}"; do
  preset=${encoder#* } crf=18
  case $encoder in
    ffv1) ours=(--lossless) theirs=(-c:v ffv1 -level 3 -slicecrc 1) ;;
    x264*) library=libx264 ;;
    x265*) library=libx265 crf=22 ;;
    svtav1*) library=libsvtav1 crf=35 ;;
    *) echo "LULL_ENCODERS: $encoder: neither x264, x265, svtav1 nor ffv1" >&2; exit 2 ;;
  esac
  if [[ $encoder != ffv1 ]]; then
    ffmpeg -v error -encoders 2>/dev/null | grep "$library" >/dev/null ||
      { echo "$encoder: skipped (ffmpeg has no $library)"; continue; }
    ours=(--vcodec "$library" --vopts "preset=$preset" --crf $crf)
    theirs=(-c:v "$library" -preset "$preset" -crf $crf)
  fi
  rm -f "$work"/{lull,ffmpeg,idle,plain}
  for (( i = 0; i < repeats; i++ )); do
    transcode "$work/noisy.mkv" "${theirs[@]}" && echo "$fps" >>"$work/plain"
    denoise -i "$work/noisy.mkv" -o "$work/out.mkv" --sigma 0 --device cpu "${ours[@]}"
    echo "$fps" >>"$work/idle"
    transcode "$work/denoised.mkv" "${theirs[@]}" && echo "$fps" >>"$work/ffmpeg"
    denoise -i "$work/noisy.mkv" -o "$work/out.mkv" --sigma 20 --profile "$profile" \
      --temporal "$temporal" --device "$device" "${decoding[@]}" "${ours[@]}"
    echo "$fps" >>"$work/lull"
  done
  busiest=$(sed -n 's/.*busiest stage: //p' "$work/denoise.log")
  quality=$(psnr_of_plane Y 3 "$work/clean.mkv" "$work/out.mkv")
  awk -v head="${device//,/ },$profile $temporal,$encoder,$quality" -v busiest="${busiest//,/;}" -v alone="$alone" \
    -v lull="$(median <"$work/lull")" -v ffmpeg="$(median <"$work/ffmpeg")" \
    -v idle="$(median <"$work/idle")" -v plain="$(median <"$work/plain")" 'BEGIN {
      ratio = lull / (alone < ffmpeg ? alone : ffmpeg)
      printf "%s,%s,%s,%s,%s,%.3f (%s),%s,%s,%.3f\n", head, lull, busiest, alone, ffmpeg, ratio,
        (ratio >= 0.95 ? "met" : "MISSED"), idle, plain, idle / plain }' >>"$out/end_to_end.csv"
done
markdown "$out/end_to_end.csv"
echo
echo "Decoder alone: $(decoding "$work/noisy.mkv") fps on the noisy clip," \
  "$(decoding "$work/denoised.mkv") on the denoised one."
