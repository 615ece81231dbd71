#!/usr/bin/env bash
# tennis.sh BUILD [DEVICE ...]: denoises real footage with sound with the command: 40 frames of
# tennis in 4:2:0, with noise (sigma 20 in every plane), FFV1 and AAC in Matroska. Prints the gain
# of denoising and checks that frames, timestamps and sound are preserved. Needs ffmpeg and ffprobe.
# Table: BUILD/bench/tennis.csv
#   LULL_PROFILES: profiles (default "fast balanced high")
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_data video/tennis
for command in ffmpeg ffprobe; do
  command -v $command >/dev/null || { echo "${0##*/}: skipped ($command is missing)"; exit 0; }
done
csv=$out/tennis.csv
read -ra profiles <<<"${LULL_PROFILES:-fast balanced high}"

timestamps() {
  ffprobe -v error -select_streams v:0 -show_entries frame=pts -of csv=p=0 "$1" | cut -d, -f1
}
sound() { ffmpeg -v error -i "$1" -map 0:a -c copy -f streamhash -hash sha256 - ; }
same() { [[ $1 == "$2" ]] && echo same || echo DIFFERENT; }

ffmpeg -v error -y -framerate 24 -i "$data/video/tennis/%05d.png" \
  -f lavfi -i "sine=frequency=440:sample_rate=48000:duration=1.667" \
  -pix_fmt yuv420p -c:v ffv1 -c:a aac -b:a 96k -metadata title=tennis "$work/clean.mkv"
"$build/bin/lull_add_noise" "$work/clean.mkv" "$work/noisy.mkv" --sigma 20 --seed 1

echo device,profile,noisy_y_db,y_db,cb_db,cr_db,fps,frames,timestamps,sound >"$csv"
before=$(psnr_of_plane Y 3 "$work/clean.mkv" "$work/noisy.mkv")
for device in "${devices[@]}"; do
  for profile in "${profiles[@]}"; do
    denoise -i "$work/noisy.mkv" -o "$work/out.mkv" --sigma 20 --profile "$profile" --lossless \
      --device "$device"
    planes=()
    for plane in Y Cb Cr; do
      planes+=("$(psnr_of_plane $plane 3 "$work/clean.mkv" "$work/out.mkv")")
    done
    frames=$(timestamps "$work/out.mkv" | wc -l)
    times=$(same "$(timestamps "$work/noisy.mkv")" "$(timestamps "$work/out.mkv")")
    audio=$(same "$(sound "$work/noisy.mkv")" "$(sound "$work/out.mkv")")
    echo "${device//,/ },$profile,$before,${planes[0]},${planes[1]},${planes[2]},$fps,$frames,$times,$audio" \
      >>"$csv"
  done
done
table "$csv"
! grep -q DIFFERENT "$csv"
