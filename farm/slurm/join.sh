#!/usr/bin/env bash
# join.sh JOB: runs after the array, also if tasks failed. It makes missing or damaged segments
# itself. With HEAL=0 it only names them.
job=$1 lull=${LULL:-lull}
for try in 0 1 2; do
  "$lull" join "$job"
  code=$?
  ((code == 75 && ${HEAL:-1} && try < 2)) || break
  "$lull" denoise --job "$job" --progress none || sleep $((5 * (try + 1)))
done
((code == 75)) && code=1
exit $code
