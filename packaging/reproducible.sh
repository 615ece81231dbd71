#!/usr/bin/env bash
# reproducible.sh [PART ...] [-DCMAKE_OPTION ...]: makes the packages (packaging/package.sh) twice, in
# two folders with different names and without a compiler cache, and compares the bytes. Takes twice the
# time of a release. LULL_PORTABLE=FOLDER: for the tarball and the wheels, copies of the compiler and the
# libraries in FOLDER (build/portable of another tree) serve both builds, so that only lull is compiled
# twice.
source packaging/common.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for folder in first second_with_another_length; do
  git clone -q . "$work/$folder"
  if [[ -n ${LULL_PORTABLE:-} ]]; then
    mkdir -p "$work/$folder/build/portable/libraries"
    cp -r "$LULL_PORTABLE/toolchain" "$work/$folder/build/portable/"
    cp -r "$LULL_PORTABLE"/libraries/{prefix,source} "$work/$folder/build/portable/libraries/"
  fi
  (cd "$work/$folder" && CCACHE_DISABLE=1 ./run package "$@")
done
diff "$work"/*/build/package/SHA256SUMS && say "equal bytes twice"
