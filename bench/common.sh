# Functions for the scripts of this folder, which are called as SCRIPT BUILD [DEVICE ...].

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

# Ends the script without failure if its pictures are missing.
need_data() { # PATH BELOW LULL_TEST_DATA
  data=${LULL_TEST_DATA:-}
  [[ -n $data && -e $data/$1 ]] && return
  echo "${0##*/}: skipped (LULL_TEST_DATA does not contain $1)"
  exit 0
}

# Sets `gpus` to the GPUs of this machine as cuda:N; ends the script without failure if there is none.
need_gpu() {
  mapfile -t gpus < <("$lull" devices | grep -o '^cuda:[0-9]*')
  (( ${#gpus[@]} )) && return
  echo "${0##*/}: skipped (no GPU, or a build without CUDA)"
  exit 0
}

# Sets `noisy` and `clean` to a still with noise of sigma 20 and its clean version: those of
# LULL_TEST_DATA, otherwise the clip of samples/.
find_still() {
  local still=${LULL_TEST_DATA:-}/bench/kodak1080
  noisy=${still}_noisy20.png clean=${still}_clean.png
  [[ ! -e $noisy ]] || return 0
  noisy=$work/noisy.mkv clean=samples/coffee.mkv
  "$build/bin/lull_add_noise" "$clean" "$noisy" --sigma 20 --seed 1
}

# psnr COLUMN A B: prints the mean PSNR of the planes in dB. COLUMN: 2 for the mean over the frames,
# 3 for the error over all frames.
psnr() {
  "$lull" compare "$2" "$3" |
    awk -v column="$1" '$1 ~ /^(Y|Cb|Cr|R|G|B)$/ { sum += $column; n++ } END { printf "%.3f", sum / n }'
}

# psnr_of_plane PLANE COLUMN A B: prints the PSNR of a plane in dB.
psnr_of_plane() {
  "$lull" compare "$3" "$4" | awk -v plane="$1" -v column="$2" '$1 == plane { printf "%.3f", $column }'
}

# denoise ARGUMENT ...: runs `lull denoise` and sets `wall` and `cpu` in seconds, and the `fps` that it
# prints.
denoise() {
  local TIMEFORMAT='%R %U %S' times log=$work/denoise.log
  times=$({ time "$lull" denoise -y "$@" >"$log" 2>&1; } 2>&1) || { cat "$log" >&2; return 1; }
  read -r wall cpu system <<<"$times"
  cpu=$(awk -v a="$cpu" -v b="$system" 'BEGIN { printf "%.3f", a + b }')
  fps=$(sed -n 's/.* s, \([0-9.]*\) fps.*/\1/p' "$log" | tail -n 1)
}

# table FILE: prints a CSV file in columns.
table() {
  awk -F, 'NR == FNR { for (i = 1; i <= NF; i++) if (length($i) > w[i]) w[i] = length($i); next }
    { for (i = 1; i <= NF; i++) printf "%-*s", w[i] + 2, $i; print "" }' "$1" "$1"
}

# markdown FILE [COLUMN ...]: prints a CSV file as a Markdown table, with the named columns or all.
markdown() {
  awk -F, -v names="${*:2}" '
    NR == 1 {
      for (i = 1; i <= NF; i++) at[$i] = i
      n = split(names, wanted, " ")
      if (n == 0) for (n = NF; n > 0 && !(n in wanted); n--) wanted[n] = $n
      n = length(wanted)
    }
    {
      line = "|"
      for (i = 1; i <= n; i++) line = line " " $at[wanted[i]] " |"
      print line
      if (NR == 1) { gsub(/[^|]+/, "---", line); print line }
    }' "$1"
}

# judge VALUE MUST GOAL: prints VALUE and whether it meets its limits; larger is better if GOAL > MUST.
judge() {
  awk -v value="$1" -v must="$2" -v goal="$3" 'BEGIN {
    sign = goal >= must ? 1 : -1
    verdict = sign * value >= sign * goal ? "goal" : sign * value >= sign * must ? "met" : "MISSED"
    printf "%s (%s)", value, verdict }'
}
