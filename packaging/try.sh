#!/usr/bin/env bash
# try.sh [SUITE ...]: tries each package of build/package as a stranger would, in bare roots without a
# compiler: installs it, denoises a clip, a photo, a raw photo, a DICOM series and an OME-Zarr store,
# imports the Python module, removes it and compares the files of the root with those before. Needs
# root, mmdebstrap and overlayfs; logs go to build/trials. Suites: bullseye bookworm trixie bionic focal
# jammy noble; by default those from bookworm and jammy on. Exit code 1: a trial failed.
source packaging/common.sh
(( EUID == 0 )) || { say "trials need root (chroot)"; exit 69; }
(( $# )) || set -- bookworm trixie jammy noble
packages=$PWD/build/package logs=$PWD/build/trials roots=${LULL_ROOTS:-$PWD/build/roots}
mkdir -p "$logs" "$roots"
version=$(lull_version)

# in_root ROOT COMMAND ...: with nothing of this environment but what reaches package mirrors.
in_root() {
  local root=$1 keep=() name
  shift
  for name in SSL_CERT_FILE SSL_CERT_DIR PIP_CERT PIP_INDEX_URL CURL_CA_BUNDLE http_proxy https_proxy; do
    [[ -z ${!name:-} ]] || keep+=("$name=${!name}")
  done
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive PIP_NO_CACHE_DIR=1 "${keep[@]}" "$@"
}

mounted=
leave_root() {
  [[ -n $mounted ]] || return 0
  umount "$mounted/proc" || true
  umount -R "$mounted/dev" || true
  umount "$mounted"
  umount "${mounted%/root}/upper"
  rm -rf --one-file-system "${mounted%/root}"
  mounted=
}
trap leave_root EXIT

# A fresh layer over the root of a suite; what a trial writes vanishes with it.
enter_root() { # SUITE
  local work
  work=$(mktemp -d -p "$roots")
  mkdir -p "$work/upper" "$work/root"
  mount -t tmpfs tmpfs "$work/upper"
  mkdir -p "$work/upper/changes" "$work/upper/scratch"
  mount -t overlay overlay -o "lowerdir=$roots/$1,upperdir=$work/upper/changes,workdir=$work/upper/scratch" \
    "$work/root"
  mounted=$work/root
  mount -t proc proc "$mounted/proc"
  mount --rbind /dev "$mounted/dev"
  mount --make-rslave "$mounted/dev"
  cp /etc/resolv.conf /etc/hosts "$mounted/etc/"
  # Certificates of this machine's network, before and after the root installs ca-certificates.
  mkdir -p "$mounted/etc/ssl/certs" "$mounted/usr/local/share/ca-certificates"
  cp -r /etc/ssl/certs/. "$mounted/etc/ssl/certs/"
  cp -r /usr/local/share/ca-certificates/. "$mounted/usr/local/share/ca-certificates/"
  mkdir -p "$mounted/trial"
  cp samples/coffee.mkv "$mounted/trial/clip.mkv"
  cp docs/images/noise_hubble.png "$mounted/trial/photo.png"
  python3 packaging/raw_photo.py "$mounted/trial/photo.dng"
  python3 packaging/trial_volumes.py "$mounted/trial"
  cp packaging/trial.sh "$mounted/trial/"
}

# Which packages suit which suite: a .deb its own distribution, the tarball all, the wheel all with a
# Python of its version.
kinds_of() { # SUITE
  local name
  source "$roots/$1/etc/os-release"
  name=$ID$VERSION_ID
  [[ -z $(compgen -G "$packages/lull_*+${name/debian/deb}_*.deb") ]] || echo deb
  [[ ! -f $packages/lull-$version-linux-x86_64.tar.xz ]] || echo tarball
  case $1 in bullseye | bionic | focal) return ;; esac  # (their Python is older than 3.10)
  [[ -z $(compgen -G "$packages/lull-*.whl") ]] || echo wheel
}

failures=0
try() { # SUITE KIND
  local log=$logs/$1-$2.log code=0
  enter_root "$1"
  cp "$packages"/* "$mounted/trial/"
  in_root "$mounted" bash /trial/trial.sh "$2" >"$log" 2>&1 </dev/null || code=$?
  if (( code == 0 )); then
    say "$1 $2: $(tail -n 1 "$log")"
  else
    failures=$((failures + 1))
    say "$1 $2: FAILED ($log): $(tail -n 1 "$log")"
  fi
  leave_root
}

for suite; do
  bash packaging/roots.sh "$suite" "$roots/$suite"
  for kind in $(kinds_of "$suite"); do try "$suite" "$kind"; done
done
say "logs: $logs"
exit $(( failures > 0 ))
