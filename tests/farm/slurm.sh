#!/usr/bin/env bash
# Runs Slurm on one machine, without systemd, for tests: `slurm.sh start DIR`, `slurm.sh stop DIR`,
# `slurm.sh kill-node DIR n1`, `slurm.sh start-node DIR n1`. Clients like sbatch need `. DIR/env`.
# The script must run as root. It requires slurmctld, slurmd, slurm-client and munge.
set -euo pipefail
say() { printf '%s\n' "$*" >&2; }
command=${1:?start|stop|kill-node|start-node} dir=${2:?DIR}
nodes=${NODES:-3} cpus=${CPUS:-1} port=${PORT:-17900}
mkdir -p "$dir" && dir=$(cd "$dir" && pwd)
export SLURM_CONF=$dir/slurm.conf # every client needs it, too

start_node() { # the node runs in the background; its pid is in DIR/slurmd-NAME.daemon
  mkdir -p "$dir/spool-$1"
  slurmd -D -N "$1" >"$dir/slurmd-$1.out" 2>&1 &
  echo $! >"$dir/slurmd-$1.daemon"
}
# Simulates a cut cable: the controller loses the node, but the processes of the job continue.
# With LOST=power these processes die, too.
kill_node() {
  kill -KILL "$(cat "$dir/slurmd-$1.daemon")" || true
  [ "${LOST:-link}" = power ] || return 0
  local step pid child
  for step in "$dir/spool-$1/$1"_*.*; do
    [ -S "$step" ] || continue # the stepd of the step listens on NODE_JOB.STEP
    for pid in $(ss -xlpH "src = $step" 2>/dev/null | grep -o "pid=[0-9]*" | cut -d= -f2); do
      for child in $(pgrep -P "$pid"); do kill -KILL -- "-$child" || true; done # each job is a process group
      kill -KILL "$pid" || true
    done
  done
}
stop_one() {
  [ -s "$1" ] && kill "$(cat "$1")" 2>/dev/null && tail --pid="$(cat "$1")" -f /dev/null
  rm -f "$1"
}

case $command in
start)
  for file in "$dir"/*.daemon; do
    [ -s "$file" ] && kill -0 "$(cat "$file")" 2>/dev/null && { say "already up in $dir"; exit 1; }
  done
  host=$(hostname -s)
  mkdir -p "$dir/state"
  chmod 700 "$dir"
  [ -s "$dir/munge.key" ] || (umask 077 && head -c 128 /dev/urandom >"$dir/munge.key")
  cat >"$SLURM_CONF" <<CONF
ClusterName=lull
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/munge
# cred_expire is also the time before a requeued job may start again (default: 120 s)
AuthInfo=socket=$dir/munge.socket,cred_expire=5
CredType=cred/munge
MpiDefault=none
# no cgroups, accounting or prolog, because containers lack them
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$dir/jobcomp.txt
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0,sched_interval=2
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd-%n.log
# the controller notices a dead node within about 10 s and requeues its jobs
SlurmdTimeout=10
SlurmctldTimeout=10
ReturnToService=2
JobRequeue=1
KillWait=3
MinJobAge=3600
MaxArraySize=10001
SlurmdParameters=config_overrides
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1))-$((port + nodes)) CPUs=$cpus RealMemory=1000 State=UNKNOWN
PartitionName=farm Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
  printf 'export SLURM_CONF=%q\n' "$SLURM_CONF" >"$dir/env"
  # munged rejects a folder under /tmp without --force
  munged --foreground --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" \
    --pid-file="$dir/munged.pid" --log-file="$dir/munged.log" --seed-file="$dir/munged.seed" \
    >"$dir/munged.out" 2>&1 &
  echo $! >"$dir/munged.daemon"
  for _ in $(seq 50); do
    [ -S "$dir/munge.socket" ] && break
    sleep 0.1
  done
  slurmctld -D -i >"$dir/slurmctld.out" 2>&1 &
  echo $! >"$dir/slurmctld.daemon"
  for n in $(seq "$nodes"); do start_node "n$n"; done
  for _ in $(seq 150); do
    [ "$(sinfo -h -N -t idle 2>/dev/null | wc -l)" -eq "$nodes" ] && exit 0
    sleep 0.2
  done
  say "Slurm did not come up"
  tail -n 5 "$dir"/*.log "$dir"/*.out >&2
  exit 1 ;;
stop)
  scancel --state=PENDING,RUNNING --user="$(id -un)" 2>/dev/null || true
  sleep 1
  for file in "$dir"/slurmd-*.daemon "$dir"/slurmctld.daemon "$dir"/munged.daemon; do
    [ -e "$file" ] && stop_one "$file" || true
  done ;;
kill-node) kill_node "${3:?node}" ;;
start-node) start_node "${3:?node}" ;;
*) say "start, stop, kill-node or start-node" && exit 2 ;;
esac
