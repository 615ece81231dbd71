#!/usr/bin/env bash
# volumes.sh BUILD [DEVICE ...]: measures BM4D on a part of the Colin27 head, and on a part of
# another head, with Gaussian noise of 3 and 9 % of the maximum: PSNR where the clean volume is
# above 15/255, and CPU-seconds per megavoxel on one thread. (The other head has its own noise,
# which counts as detail.) Then slices of several millimetres, and the residual of the other head
# without added noise.
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_data mri
[[ ${devices[*]} != auto ]] || devices=(cpu)

for device in "${devices[@]}"; do
  echo "== Colin27 [26:154, 44:172, 42:138] on $device"
  "$build/bin/lull_volume_quality" "$data/mri/colin27_t1.nii.gz" --crop 26 154 44 172 42 138 \
    --device "$device"
  echo "== another head [40:150, 60:190, 50:120] on $device"
  "$build/bin/lull_volume_quality" "$data/mri/chris_t1.nii.gz" --crop 40 150 60 190 50 120 \
    --device "$device"

  for thick in 2 4; do
    echo "== Colin27, slices of $thick mm, on $device"
    "$build/bin/lull_volume_quality" "$data/mri/colin27_t1.nii.gz" --crop 26 154 44 172 42 138 \
      --device "$device" --thick "$thick" --profile balanced
  done
done

# Real noise: the residual should not be correlated with the anatomy.
clean=$(mktemp --suffix=.nii)
trap 'rm -f "$clean"' EXIT
for sigma in 2 3 6; do
  "$build/bin/lull" "$data/mri/chris_t1.nii.gz" "$clean" -y -q --sigma "$sigma" --datatype float32
  echo "== the other head without added noise, --sigma $sigma"
  "$build/bin/lull_volume_quality" "$data/mri/chris_t1.nii.gz" --result "$clean"
done
