#!/usr/bin/env bash
# host_cost.sh BUILD: measures what a frame costs the host, which bounds the number of GPUs that one
# process can serve. 1, 2, 4 and 8 sessions share the GPUs of this machine, 8-bit frames of 4:2:0.
# For each number of sessions the script prints frames per second, CPU time of all threads per frame,
# the number of cores that this is, and whether the results have the same bytes as those of one
# session. Frames of 64x64 samples show the cost that does not depend on the size. Table:
# BUILD/bench/host_cost.csv. The exit code is 1 if results differ.
#   LULL_SETTINGS: PROFILE:R (default: fast, balanced and high with R = 0, balanced with R = 2)
#   LULL_SIZES: default "64x64 1920x1080 3840x2160"
# shellcheck source=bench/common.sh
source "$(dirname "$0")/common.sh"
need_gpu
find_still
read -ra settings <<<"${LULL_SETTINGS:-fast:0 balanced:0 high:0 balanced:2}"
targets=$(for n in 1 2 4 8; do
  for (( i = 0; i < n; i++ )); do echo "${gpus[i % ${#gpus[@]}]#cuda:}"; done | paste -sd+ | sed 's/^/cuda:/'
done | paste -sd,)

: >"$work/raw.csv"
for size in ${LULL_SIZES:-64x64 1920x1080 3840x2160}; do
  case $size in 64x64) frames=4000 ;; 1920x1080) frames=800 ;; *) frames=240 ;; esac
  for setting in "${settings[@]}"; do
    IFS=: read -r profile temporal <<<"$setting"
    "$build/bin/lull_throughput" "$noisy" --clean "$clean" --sigma 20 --hash --repeats 1 \
      --frames "$frames" \
      --profile "$profile" --temporal "$temporal" --size "$size" --layout 420 \
      --device "$targets" --csv "$work/one.csv" >/dev/null
    awk -v name="$size,$profile,$temporal" -v samples=$(( ${size%x*} * ${size#*x} )) -F, '
      NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
      {
        cpu = $at["cpu_s_per_mpixel"] * samples / 1e6
        printf "%s,%d,%s,%.3f,%.1f,%s\n", name, split($at["device"], ignored, "+"), $at["fps"],
          1000 * cpu, cpu * $at["fps"], $at["hash"]
      }' "$work/one.csv" >>"$work/raw.csv"
  done
done
awk -F, '
  BEGIN { print "size,profile,R,sessions,fps,CPU ms per frame,cores,bytes" }
  $4 == 1 { hash = $8 }
  {
    print $1 "," $2 "," $3 "," $4 "," $5 "," $6 "," $7 "," ($8 == hash ? "same" : "DIFFERENT")
  }' "$work/raw.csv" >"$out/host_cost.csv"
markdown "$out/host_cost.csv"
! grep -q DIFFERENT "$out/host_cost.csv"
