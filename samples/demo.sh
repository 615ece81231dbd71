#!/usr/bin/env bash
# demo.sh BUILD: adds known noise to samples/coffee.mkv, removes it, says what that gained, and
# leaves the clips and a picture of before and after in BUILD/demo.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
build=$1
out=$build/demo
mkdir -p "$out"

"$build/bin/lull_add_noise" coffee.mkv "$out/noisy.mkv" --sigma 20 --seed 1
printf '\n$ lull denoise -i noisy.mkv -o denoised.mkv --sigma 20 --lossless -y\n'
"$build/bin/lull" denoise -i "$out/noisy.mkv" -o "$out/denoised.mkv" --sigma 20 --lossless -y
"$build/bin/lull_before_after" "$out/noisy.mkv" "$out/denoised.mkv" "$out/before_after.png" --frame 36

printf '\nbefore: '
"$build/bin/lull" compare coffee.mkv "$out/noisy.mkv"
printf '\nafter: '
"$build/bin/lull" compare coffee.mkv "$out/denoised.mkv"
printf '\npicture: %s\n' "$out/before_after.png"
