#!/usr/bin/env bash
# slurm_rounds.sh LULL ROUNDS [SEED]: runs a real Slurm with three nodes on this machine. Each round
# is a job of 12 segments with temporal filtering and a fault: nodes are killed with their processes
# (power) or without them (link), tasks are requeued and doubled, a segment is corrupted, or the
# disk is full. Each round must end with the bytes of one process, or name the missing segments. The
# exit code is 77 without Slurm. WHICH="0 3" selects rounds: 0 mod 5 loses power, 1 the network, 2
# requeues and doubles tasks, 3 corrupts a segment (3 mod 10 without repair), 4 has a full disk.
set -euo pipefail
lull=$(realpath "$1") rounds=$2 seed=${3:-1}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) farm=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../farm/slurm" && pwd)
skip() { echo "skipped: $*"; exit 77; }
for tool in slurmctld slurmd sbatch munged ss; do
  PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null || skip "no $tool"
done
command -v ffmpeg >/dev/null || skip "no ffmpeg"
[ "$(id -u)" = 0 ] || skip "Slurm's daemons are started as root"
export PATH=$PATH:/usr/sbin PORT=${PORT:-$((17000 + $$ % 1000 * 10))}
dir=$(mktemp -d) tell=0
RANDOM=$seed
trap 'umount -l "$dir"/job-* 2>/dev/null || true; "$here/slurm.sh" stop "$dir/slurm" >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
"$here/slurm.sh" start "$dir/slurm" || skip "Slurm does not start here"
. "$dir/slurm/env"

segments=12 frames=10
ffmpeg -v error -f lavfi -i "testsrc2=s=160x96:r=25:d=4.8" -f lavfi -i sine=d=4.8 \
  -vf "noise=alls=20:allf=t:all_seed=5" -c:v libx264 -preset fast -g 24 -bf 3 \
  -x264-params open-gop=1:scenecut=0 -c:a aac "$dir/in.mkv"
options=(--segment-frames $frames --sigma 20 --profile fast --temporal 2 --device cpu --threads 1)
"$lull" denoise -i "$dir/in.mkv" -o "$dir/one.mkv" "${options[@]}" -q
digest=$(sha256sum <"$dir/one.mkv")
sound() { ffmpeg -v error -i "$1" -map 0:a -c copy -f framemd5 - | grep -v '^#'; }
cmp <(sound "$dir/in.mkv") <(sound "$dir/one.mkv") || { echo "FAILED: sound is out of step"; exit 1; }

state() { scontrol show job "$1" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p' | head -n 1; }
note() { happened+="${happened:+, }$1"; }
some_file() { ls "$job"/*.lullseg 2>/dev/null | shuf -n 1 --random-source=<(yes $RANDOM); }
lose_node() { # power|link
  local node=n$((1 + RANDOM % 3))
  note "$node lost ($1)"
  LOST=$1 "$here/slurm.sh" kill-node "$dir/slurm" "$node" >/dev/null 2>&1 || true
  (sleep $((12 + RANDOM % 4)); "$here/slurm.sh" start-node "$dir/slurm" "$node") >/dev/null 2>&1 &
}
double() {
  local k=$((RANDOM % segments))
  note "segment $k doubled"
  "$lull" denoise --job "$job" --segment $k -q >/dev/null 2>&1 &
}
requeue() {
  local k=$((RANDOM % segments))
  scontrol requeue "${array}_$k" >/dev/null 2>&1 && note "segment $k requeued" || true
}
corrupt() {
  local file
  for _ in $(seq 100); do
    file=$(some_file) && [ -n "$file" ] && break
    sleep 0.1
  done
  [ -n "$file" ] || return 0
  note "$(basename "$file") corrupted"
  printf '\xa5\x5a' | dd of="$file" bs=1 seek=$((100 + RANDOM % 200)) conv=notrunc 2>/dev/null
}
small_disk() {
  mkdir -p "$job"
  mount -t tmpfs -o size=64k tmpfs "$job" 2>/dev/null || { note "no small disk (mount is not allowed)"; return 0; }
  note "disk full"
  (sleep $((4 + RANDOM % 4)); mount -o remount,size=64m "$job") &
}

one_round() {
  job=$dir/job-$1 out=$dir/out-$1.mkv happened=
  export HEAL=1 LULL=$lull
  (($1 % 10 == 3)) && HEAL=0
  (($1 % 5 == 4)) && small_disk
  read -r array join <<<"$("$farm/submit.sh" "$dir/in.mkv" "$out" "$job" "${options[@]}")"
  sleep "$((RANDOM % 2)).$((RANDOM % 10))"
  case $(($1 % 5)) in
  0) lose_node power ;;
  1) lose_node link ;;
  2) double; requeue; double ;;
  3) corrupt ;;
  4) double ;;
  esac
  sleep "0.$((RANDOM % 10))"
  case $((RANDOM % 4)) in 0) requeue ;; 1) double ;; 2) requeue; double ;; 3) ;; esac
  local limit=$((SECONDS + 300)) is
  while is=$(state "$join"); [[ $is != COMPLETED && $is != FAILED && $is != CANCELLED && $is != TIMEOUT ]]; do
    ((SECONDS < limit)) || { squeue; tail -n 3 "$job"/*.log; echo "round $1: FAILED: no end ($happened)"; return 1; }
    sleep 0.5
  done
  wait_for_nodes
  if [ "$is" = COMPLETED ] && [ "$(sha256sum <"$out")" = "$digest" ]; then
    echo "round $1: the bytes of one process ($happened)"
  elif [ "$is" = FAILED ] && [ ! -e "$out" ] && grep -qE 'segments? .* (is|are) (missing|damaged)' "$job/join.log"; then
    echo "round $1: $(grep -oE 'segments? .* (is|are) (missing|damaged)' "$job/join.log" | tail -n 1), and said so ($happened)"
    "$lull" denoise --job "$job" -q && "$lull" join "$job" -q
    [ "$(sha256sum <"$out")" = "$digest" ] || { echo "round $1: FAILED: other bytes after that"; return 1; }
    tell=$((tell + 1))
  else
    tail -n 5 "$job"/*.log
    echo "round $1: FAILED: $is, $(sha256sum <"$out" 2>&1) ($happened)"
    return 1
  fi
  wait # for doubled tasks and for the node that restarts
  umount -l "$job" 2>/dev/null || true
  rm -rf "$job" "$out"
}
wait_for_nodes() {
  for _ in $(seq 100); do
    [ "$(sinfo -h -N -t idle,mixed,allocated 2>/dev/null | grep -vc '\*')" -eq 3 ] && return 0
    sleep 0.3
  done
}

for r in ${WHICH:-$(seq 0 $((rounds - 1)))}; do one_round "$r"; done
echo "all rounds ended with the same SHA-256, $tell of them after naming what was missing"
