#!/usr/bin/env bash
# openjd_rounds.sh LULL ROUNDS: runs the template for Open Job Description with `openjd run`. In odd
# rounds one segment is finished already, one is corrupted and one task runs twice. The exit code is
# 77 without openjd. OPENJD names the command.
set -euo pipefail
lull=$(realpath "$1") rounds=$2
template=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../farm/openjd" && pwd)/lull.template.yaml
openjd=${OPENJD:-openjd}
command -v "$openjd" >/dev/null || { echo "skipped: no openjd (pip install openjd-cli)"; exit 77; }
command -v ffmpeg >/dev/null || { echo "skipped: no ffmpeg"; exit 77; }
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
dir="$top/it's \$a clip" # a name that an unquoted shell argument would change
mkdir "$dir"
ffmpeg -v error -f lavfi -i "testsrc2=s=160x96:r=25:d=2.4" -f lavfi -i sine=d=2.4 \
  -vf "noise=alls=20:allf=t:all_seed=5" -c:v libx264 -preset fast -g 24 -bf 3 -c:a aac "$dir/in.mkv"
options=(--sigma 20 --profile fast --temporal 1 --device cpu)
"$lull" denoise -i "$dir/in.mkv" -o "$dir/one.mkv" --segment-frames 10 "${options[@]}" -q
digest=$(sha256sum <"$dir/one.mkv")
"$openjd" check "$template" --extensions TASK_CHUNKING >/dev/null
run() { # SEGMENTS JOB OUT
  "$openjd" run "$template" --extensions TASK_CHUNKING --step Join --run-dependencies \
    -p "Input=$dir/in.mkv" -p "Output=$3" -p "Job=$2" -p "Segments=$1" -p SegmentFrames=10 \
    -p "Options=${options[*]}" -p "Lull=$lull" -p SegmentsPerTask=$((1 + $1 % 2)) >"$dir/log" 2>&1
}
for ((r = 0; r < rounds; r++)); do
  job=$dir/job-$r out=$dir/out-$r.mkv
  if ((r % 2)); then
    "$lull" plan "$dir/in.mkv" -o "$out" --job "$job" --segment-frames 10 "${options[@]}" -q
    "$lull" denoise --job "$job" --segment 1-2 -q
    printf '\xa5' | dd of="$job/000002.lullseg" bs=1 seek=150 conv=notrunc 2>/dev/null
    "$lull" denoise --job "$job" --segment 3-5 -q &
  fi
  run 6 "$job" "$out" || { tail -n 20 "$dir/log"; echo "round $r: FAILED"; exit 1; }
  wait
  [ "$(sha256sum <"$out")" = "$digest" ] || { echo "round $r: FAILED: other bytes"; exit 1; }
  run 6 "$job" "$out" || { tail -n 20 "$dir/log"; echo "round $r: FAILED when run again"; exit 1; }
done
run 5 "$dir/job-x" "$dir/out-x.mkv" && { echo "FAILED: a wrong number of segments passed"; exit 1; }
grep -q "Segments differs from the plan" "$dir/log" || { tail -n 20 "$dir/log"; echo "FAILED"; exit 1; }
echo "$rounds rounds: the bytes of one process"
