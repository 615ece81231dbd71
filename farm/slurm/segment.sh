#!/usr/bin/env bash
# segment.sh JOB: a task of the array. After exit code 75 the task is requeued, possibly on another
# node.
job=$1 try=${SLURM_RESTART_COUNT:-0}
echo "segment $SLURM_ARRAY_TASK_ID, attempt $try, on $SLURMD_NODENAME"
"${LULL:-lull}" denoise --job "$job" --segment "$SLURM_ARRAY_TASK_ID" --progress none
code=$?
if ((code == 75 && try < ${RETRIES:-5})); then
  sleep $((try + 1))
  scontrol requeue "$SLURM_JOB_ID" && sleep 60 # Slurm ends this attempt meanwhile
fi
((code == 75)) && code=1 # otherwise RequeueExit=75 would requeue without end
exit $code
