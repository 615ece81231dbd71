#!/usr/bin/env bash
# segment.sh JOB: a task of the array. 75 is worth another try, on another node maybe.
job=$1 try=${SLURM_RESTART_COUNT:-0}
echo "segment $SLURM_ARRAY_TASK_ID, attempt $try, on $SLURMD_NODENAME"
"${LULL:-lull}" denoise --job "$job" --segment "$SLURM_ARRAY_TASK_ID" --progress none
code=$?
if ((code == 75 && try < ${RETRIES:-5})); then
  sleep $((try + 1))
  scontrol requeue "$SLURM_JOB_ID" && sleep 60 # until Slurm ends this attempt
fi
((code == 75)) && code=1 # so that RequeueExit=75 does not go on for ever
exit $code
