#!/usr/bin/env bash
# trial.sh deb|tarball|wheel: one trial, inside a bare root (packaging/try.sh). The packages and the
# inputs are in /trial. The last line states the seconds from installation to the first result,
# without downloads, and the seconds of CPU time of the complete trial.
set -euo pipefail
cd /trial
kind=$1

apt_quiet() { apt-get -qq -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root "$@" >/trial/apt.log 2>&1 || { tail -n 5 /trial/apt.log; return 1; }; }
# Files of the root, without those that package managers keep for themselves.
list_files() {
  find / -xdev \( -path /proc -o -path /dev -o -path /sys -o -path /trial -o -path /tmp -o -path /var/lib/apt \
    -o -path /var/cache -o -path /var/log -o -path /var/lib/dpkg \
    -o -path /etc/ssl -o -path /etc/ld.so.cache \) -prune -o -print | sort
}
no_compiler() { ! command -v gcc cc g++ c++ clang nvcc; }

use() { # COMMAND ...: what everybody does first
  "$@" --version
  "$@" devices
  "$@" doctor
  "$@" clip.mkv clip_clean.mkv --frames 0-9 --quiet
  test -s clip_clean.mkv
  echo "seconds_to_first_result $(( $(date +%s) - begin ))"
  "$@" photo.png photo_clean.png --quiet
  test -s photo_clean.png
  if cmp -s photo.png photo_clean.png; then echo "the photo did not change"; return 1; fi
  "$@" photo.dng photo_raw.tif --quiet
  test -s photo_raw.tif
  use_volumes "$@"
}
use_volumes() { # COMMAND ...: the libraries of DICOM and OME-Zarr
  "$@" dicom clean.nii.gz --quiet
  test -s clean.nii.gz
  "$@" dicom clean_dicom/ --quiet
  test "$(find clean_dicom -type f | wc -l)" -eq "$(find dicom -type f | wc -l)"
  "$@" cells.zarr clean.zarr --quiet  # (writes Blosc with zstd)
  "$@" clean.zarr clean.ome.tif --quiet
  "$@" clean.ome.tif again.zarr --quiet  # (writes Blosc with LZ4)
  "$@" again.zarr again.ome.tif --quiet
  test -s again.ome.tif
}

begin=0
try_deb() {
  apt_quiet update
  list_files >/trial/before
  apt_quiet install -y --no-install-recommends --download-only /trial/lull_*.deb
  begin=$(date +%s)
  apt_quiet install -y --no-install-recommends /trial/lull_*.deb  # (all others are in the cache)
  use lull
  test -s /usr/share/doc/lull/copyright
  dpkg -L lull | grep -q man1/lull.1.gz || test -e /etc/dpkg/dpkg.cfg.d/excludes
  apt_quiet purge -y lull
  apt_quiet autoremove -y --purge
}
try_tarball() {
  list_files >/trial/before
  if ! command -v xz >/dev/null; then apt_quiet update; apt_quiet install -y xz-utils; list_files >/trial/before; fi
  begin=$(date +%s)
  mkdir -p /opt
  tar -xf lull-*-linux-x86_64.tar.xz -C /opt
  use /opt/lull-*-linux-x86_64/bin/lull
  rm -rf /opt/lull-*-linux-x86_64
}
try_wheel() {
  apt_quiet update
  apt_quiet install -y --no-install-recommends python3 python3-venv ca-certificates
  no_compiler
  list_files >/trial/before
  python3 -m venv /opt/venv
  # (pip would prefer a newer package with this name from its index.)
  /opt/venv/bin/pip download -q --disable-pip-version-check -d /trial/downloads 'numpy>=1.26'
  rm -rf /opt/venv
  begin=$(date +%s)
  python3 -m venv /opt/venv
  /opt/venv/bin/pip install -q --disable-pip-version-check --no-index \
    --find-links /trial --find-links /trial/downloads lull
  use /opt/venv/bin/lull
  /opt/venv/bin/python - <<'PYTHON'
import numpy
import lull
rng = numpy.random.default_rng(1)
noisy = 0.5 + 0.1 * rng.standard_normal((96, 96)).astype(numpy.float32)
clean = lull.denoise(noisy)
assert clean.shape == noisy.shape and clean.std() < 0.5 * noisy.std(), (clean.std(), noisy.std())
print("python", lull.__version__, "standard deviation", noisy.std(), "->", clean.std())
PYTHON
  # Without a trace: pip leaves no file of lull.
  /opt/venv/bin/pip uninstall -q -y lull
  if find /opt/venv -iname '*lull*' | grep .; then echo "pip left files of lull"; return 1; fi
  rm -rf /opt/venv
}

. /etc/os-release
echo "$PRETTY_NAME, $(ldd --version | head -n 1), $kind"
no_compiler
"try_$kind" | tee /trial/output
if ! diff <(list_files) /trial/before >/trial/traces; then
  echo "files that stay after removal (<) or were removed (>):"
  cat /trial/traces
  exit 1
fi
times >/trial/times  # (in a command substitution they would be 0)
cpu=$(awk 'NR == 2 {split($1 " " $2, t, /[ms ]+/); print int(60 * (t[1] + t[3]) + t[2] + t[4])}' /trial/times)
seconds=$(sed -n 's/^seconds_to_first_result //p' /trial/output)
echo "passed; $seconds s from installation to the first result, $cpu s of CPU time for all"
