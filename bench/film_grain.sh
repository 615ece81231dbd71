#!/usr/bin/env bash
# film_grain.sh BUILD [DEVICE]: measures the cost and the benefit of --grain keep. It prints the
# size of libaom's streams at equal crf, for the noisy clip and for the denoised clip with a film
# grain table. It compares the grain that dav1d adds with the original noise (lull_grain_likeness).
# The noise is synthetic: Gaussian, blurred, strongest at medium luma. Needs ffmpeg with libaom-av1
# and libdav1d. Tables: BUILD/bench/film_grain.csv, film_grain_CLIP_CRF.csv
#   LULL_CRFS: values of crf (default "30 40"); LULL_FRAMES: frames per clip (default 10); LULL_SIGMA
#   (default auto)
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_data video/tennis
for need in encoders:libaom-av1 decoders:libdav1d; do
  ffmpeg -v quiet "-${need%%:*}" | grep " ${need#*:} " >/dev/null ||
    { echo "${0##*/}: skipped (ffmpeg has no ${need#*:})"; exit 0; }
done
frames=${LULL_FRAMES:-10}
video=$data/video

clean() { # NAME, what ffmpeg reads
  ffmpeg -v error -y "${@:2}" -frames:v "$frames" -vf format=yuv420p "$work/$1_clean.y4m"
}
clean tennis -i "$video/tennis/%05d.png"
clean park_joy -i "$video/park_joy_480x270_10f.y4m"

add_grain() { # NAME
  local size
  size=$(ffprobe -v error -show_entries stream=width,height -of csv=p=0:s=x "$work/$1_clean.y4m")
  ffmpeg -v error -y -i "$work/$1_clean.y4m" -f lavfi -i "color=0x808080:s=$size:r=25,format=gray" \
    -frames:v "$frames" -filter_complex "
      [1]format=yuv420p,noise=alls=22:allf=t:all_seed=7,gblur=sigma=0.45[n];
      [0][n]blend=all_expr='A+(B-128)*(0.35+0.65*sin(A/255*PI))'" "$work/$1_noisy.y4m"
}

csv=$out/film_grain.csv
echo "clip,crf,sigma,noisy_bytes,denoised_bytes,kept_bytes" >"$csv"
for clip in tennis park_joy; do
  add_grain $clip
  for crf in ${LULL_CRFS:-30 40}; do
    sigma=${LULL_SIGMA:-auto}
    encode=(--vcodec libaom-av1 --crf "$crf" --vopts cpu-used=6 -y -q --device "${devices[0]}")
    "$lull" "$work/${clip}_noisy.y4m" "$work/noisy.mkv" --sigma 0 "${encode[@]}"
    "$lull" "$work/${clip}_noisy.y4m" "$work/dropped.mkv" --sigma "$sigma" "${encode[@]}"
    "$lull" "$work/${clip}_noisy.y4m" "$work/kept.mkv" --sigma "$sigma" --grain keep \
      --grain-table "$out/film_grain_$clip.tbl" "${encode[@]}"
    bytes=()
    for stream in noisy dropped kept; do
      ffmpeg -v error -y -i "$work/$stream.mkv" -c copy -f obu "$work/stream.obu"
      bytes+=("$(wc -c <"$work/stream.obu")")
    done
    echo "$clip,$crf,$sigma,${bytes[0]},${bytes[1]},${bytes[2]}" >>"$csv"
    ffmpeg -v error -y -c:v libdav1d -filmgrain 1 -i "$work/kept.mkv" "$work/grain.y4m"
    ffmpeg -v error -y -c:v libdav1d -filmgrain 0 -i "$work/kept.mkv" "$work/plain.y4m"
    "$build/bin/lull_grain_likeness" "$work/${clip}_noisy.y4m" "$work/${clip}_clean.y4m" \
      "$work/grain.y4m" "$work/plain.y4m" >"$out/film_grain_${clip}_$crf.csv"
    table "$out/film_grain_${clip}_$crf.csv"
  done
done
table "$csv"
