#!/usr/bin/env bash
# roots.sh SUITE FOLDER: makes a bare Debian or Ubuntu in FOLDER with mmdebstrap, as root: bullseye,
# bookworm, trixie, bionic, focal, jammy, noble. A folder that exists stays as it is.
set -euo pipefail
suite=$1 folder=$2
[[ ! -e $folder/done ]] || exit 0
keyring=() mirror=${LULL_DEBIAN_MIRROR:-http://deb.debian.org/debian}
case $suite in
  bionic | focal | jammy | noble)
    mirror=${LULL_UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}
    keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg
    if [[ -f $keys ]]; then
      keyring=(--keyring="$keys")
    else  # these roots are for trials only
      mirror="deb [trusted=yes] $mirror $suite main universe"
    fi
    ;;
esac
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
mmdebstrap --variant=minbase --include=apt --mode=root "${keyring[@]}" \
  "$suite" "$folder" "$mirror" >"$folder.log" 2>&1 ||
  { tail -n 5 "$folder.log" >&2; exit 69; }
touch "$folder/done"
