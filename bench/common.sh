# Shared by the scripts of this folder, which source it: SCRIPT BUILD [DEVICE ...].

# shellcheck shell=bash disable=SC2034
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build}
[[ $build == /* ]] || build=$PWD/$build
shift $(( $# > 0 ))
devices=("$@")
(( ${#devices[@]} )) || devices=(auto)
lull=$build/bin/lull
out=$build/bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# Ends the script, without failure, where its pictures are not there.
need_data() { # PATH BELOW LULL_TEST_DATA
  data=${LULL_TEST_DATA:-}
  [[ -n $data && -e $data/$1 ]] && return
  echo "${0##*/}: left out (LULL_TEST_DATA does not hold $1)"
  exit 0
}

# psnr COLUMN A B: dB, mean of the planes. COLUMN: 2 mean of frames, 3 of the error over all frames.
psnr() {
  "$lull" compare "$2" "$3" |
    awk -v column="$1" '$1 ~ /^(Y|Cb|Cr|R|G|B)$/ { sum += $column; n++ } END { printf "%.3f", sum / n }'
}

# psnr_of_plane PLANE COLUMN A B
psnr_of_plane() {
  "$lull" compare "$3" "$4" | awk -v plane="$1" -v column="$2" '$1 == plane { printf "%.3f", $column }'
}

# denoise ARGUMENT ...: runs `lull denoise` and sets `wall` and `cpu` in seconds, and `fps` of its
# own report.
denoise() {
  local TIMEFORMAT='%R %U %S' times log=$work/denoise.log
  times=$({ time "$lull" denoise -y "$@" >"$log" 2>&1; } 2>&1) || { cat "$log" >&2; return 1; }
  read -r wall cpu system <<<"$times"
  cpu=$(awk -v a="$cpu" -v b="$system" 'BEGIN { printf "%.3f", a + b }')
  fps=$(sed -n 's/.* s, \([0-9.]*\) fps.*/\1/p' "$log" | tail -n 1)
}

# table FILE: a CSV file in columns.
table() {
  awk -F, 'NR == FNR { for (i = 1; i <= NF; i++) if (length($i) > w[i]) w[i] = length($i); next }
    { for (i = 1; i <= NF; i++) printf "%-*s", w[i] + 2, $i; print "" }' "$1" "$1"
}
