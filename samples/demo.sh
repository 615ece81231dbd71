#!/usr/bin/env bash
# demo.sh BUILD: adds known noise to samples/coffee.mkv, removes it, prints the gain, and writes the
# clips and a picture of before and after to BUILD/demo.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
build=$1
out=$build/demo
mkdir -p "$out"

lull=$build/bin/lull

echo "adding Gaussian noise of sigma 20 to samples/coffee.mkv"
"$build/bin/lull_add_noise" coffee.mkv "$out/noisy.mkv" --sigma 20 --seed 1
# --temporal 2 is the default for a video.
echo "\$ lull denoise -i noisy.mkv -o denoised.mkv --sigma 20 --temporal 2 --lossless -y"
(cd "$out" && "$lull" denoise -i noisy.mkv -o denoised.mkv --sigma 20 --temporal 2 --lossless -y 2>&1)
"$build/bin/lull_before_after" "$out/noisy.mkv" "$out/denoised.mkv" "$out/before_after.png" --frame 36

"$lull" compare coffee.mkv "$out/noisy.mkv" >"$out/before.txt"
"$lull" compare coffee.mkv "$out/denoised.mkv" >"$out/after.txt"
printf '\nPSNR against the clean clip\nplane  before    after\n'
# Column 3 of `lull compare` is the PSNR of the error over all frames.
awk '$1 !~ /^(Y|Cb|Cr)$/ { next } NR == FNR { before[$1] = $3; next }
  { printf "%-5s  %.2f dB  %.2f dB\n", $1, before[$1], $3 }' "$out/before.txt" "$out/after.txt"
printf '\nclips and a picture of before and after: %s\n' "$out"
