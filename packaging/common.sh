# What the scripts of packaging/ share. They run in the root of the repository.
# shellcheck shell=bash
set -euo pipefail

say() { printf 'packaging: %s\n' "$*" >&2; }

# The version has one place.
lull_version() { sed -n 's/^project(lull VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

# The time of the last commit is the time of everything in a package, so that equal commits give
# equal bytes. A source tarball has no history; the file in it states the time. (--git-dir: the tarball
# may be unpacked in the repository of another project.)
if [[ -z ${SOURCE_DATE_EPOCH:-} ]]; then
  SOURCE_DATE_EPOCH=$(cat packaging/source_date 2>/dev/null || git --git-dir=.git log -1 --format=%ct) ||
    { say "no time of the packages (git reports no commit, above); set SOURCE_DATE_EPOCH"; exit 69; }
fi
export SOURCE_DATE_EPOCH
export LC_ALL=C.UTF-8 TZ=UTC
umask 022

# pack FOLDER FILE: FOLDER as a tarball (xz) with sorted names, one owner and one time.
pack() {
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw,a-s \
    --mtime="@$SOURCE_DATE_EPOCH" --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime \
    --format=posix -C "$(dirname "$1")" "$(basename "$1")" | xz -T1 -9e >"$2"
}

# in_days SECONDS: the date of a changelog.
in_days() { date --utc --date="@$1" '+%a, %d %b %Y %H:%M:%S +0000'; }
