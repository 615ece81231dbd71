#!/usr/bin/env bash
# submit.sh QUEUE JOB SEGMENTS: submits an array job for the segments of the job in /farm/JOB, and a
# join job that runs after it. Prints the ids of both. AWS=echo prints the commands instead.
set -euo pipefail
queue=$1 job=$2 segments=$3
aws=${AWS:-aws}
array=()
((segments > 1)) && array=(--array-properties "size=$segments")
id=$($aws batch submit-job --job-name "lull-$job-segments" --job-queue "$queue" --job-definition lull \
  --parameters "job=$job" "${array[@]}" --query jobId --output text)
join="lull join /farm/$job || { code=\$?; [ \$code -eq 75 ] && lull denoise --job /farm/$job; exit \$code; }"
$aws batch submit-job --job-name "lull-$job-join" --job-queue "$queue" --job-definition lull \
  --depends-on "jobId=$id" --query jobId --output text \
  --container-overrides "$(printf '{"command":["sh","-c","%s"]}' "$join")"
echo "$id"
