#!/usr/bin/env bash
# reproducible.sh [PART ...]: makes the packages (packaging/package.sh) twice, in two folders with
# different names and without a compiler cache, and compares the bytes. Takes twice the time of a
# release.
source packaging/common.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for folder in first second_with_another_length; do
  git clone -q . "$work/$folder"
  (cd "$work/$folder" && CCACHE_DISABLE=1 ./run package "$@")
done
diff "$work"/*/build/package/SHA256SUMS && say "equal bytes twice"
