#!/usr/bin/env bash
# submit.sh IN OUT JOB [OPTION of lull plan ...]: plans the job, and submits an array job for its
# segments and a join job that runs after it. Prints the ids of both.
set -euo pipefail
in=$1 out=$2 job=$3
shift 3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
read -ra plan_with <<<"${PLAN_WITH:-}"
read -ra more <<<"${SBATCH_ARGS:-}"

facts=$("${plan_with[@]}" "${LULL:-lull}" plan "$in" -o "$out" --job "$job" --json --progress none "$@")
last=$(sed -n 's/.*"last_segment":\([0-9]*\).*/\1/p' <<<"$facts")
job=$(cd "$job" && pwd)

array=$(sbatch --parsable --requeue --open-mode=append --array="0-$last" -J lull-segments \
  -o "$job/segment-%a.log" --export=ALL "${more[@]}" "$here/segment.sh" "$job")
join=$(sbatch --parsable --requeue --open-mode=append --dependency="afterany:$array" -J lull-join \
  -o "$job/join.log" --export=ALL "${more[@]}" "$here/join.sh" "$job")
echo "$array $join"
