#!/usr/bin/env bash
# depth.sh BUILD: creates a depth map with noise and holes, denoises it, prints the gain, and writes
# the maps and a picture of before and after to BUILD/depth.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
build=$1
out=$build/depth

python3 make_depth.py make "$out"
echo "\$ lull denoise -i noisy.pgm -o denoised.pgm --invalid 0 --sigma 20 --sigma-model depth2:1000 -y"
"$build/bin/lull" denoise -i "$out/noisy.pgm" -o "$out/denoised.pgm" --invalid 0 \
  --sigma 20 --sigma-model depth2:1000 -y
python3 make_depth.py show "$out"
echo "maps and a picture of before and after: $out"
