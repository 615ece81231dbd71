#!/usr/bin/env bash
# lint.sh: checks the packages in build/package: lintian without errors and warnings, checksums, the
# SBOM, sizes and licences. Exit code 1: something is wrong.
source packaging/common.sh
cd build/package
failed=0
lintian --allow-root --fail-on error,warning ./*.deb || failed=1
sha256sum --check --quiet SHA256SUMS || failed=1
for file in *; do
  grep -q "  $file\$" SHA256SUMS || [[ $file == SHA256SUMS ]] ||
    { say "$file is not in SHA256SUMS"; failed=1; }
done
for wheel in *.whl; do
  [[ -e $wheel ]] || continue
  (( $(stat -c %s "$wheel") <= 25 * 1024 * 1024 )) || { say "$wheel is larger than 25 MB"; failed=1; }
done
if python3 -c 'import spdx_tools' 2>/dev/null; then
  python3 -m spdx_tools.spdx.clitools.pyspdxtools -i ./*.spdx.json || failed=1
else
  say "the SBOM was not validated (pip install spdx-tools)"
fi
exit $failed
