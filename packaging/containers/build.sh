#!/usr/bin/env bash
# build.sh ROOT: builds the container image for CPUs from build/package with buildah, over the bare
# Debian 12 in the folder ROOT (packaging/roots.sh) instead of an image from a registry, and denoises a
# picture in it. Needs root.
source packaging/common.sh
root=$(cd "$1" && pwd)
storage=$(mktemp -d)
buildah() { command buildah --root "$storage/root" --runroot "$storage/run" --storage-driver vfs "$@"; }
trap 'buildah rm --all >/dev/null 2>&1 || true; rm -rf "$storage"' EXIT

base=$(buildah from scratch)
buildah copy -q "$base" "$root" / >/dev/null
buildah commit -q "$base" localhost/bare >/dev/null
buildah build -q --isolation chroot --network host --build-arg BASE=localhost/bare \
  -f packaging/containers/Containerfile -t localhost/lull build/package
image=$(buildah from --pull-never localhost/lull)
buildah run --isolation chroot "$image" -- /usr/bin/lull --version
buildah copy -q "$image" docs/images/noise_hubble.png /data/in.png >/dev/null
buildah run --isolation chroot "$image" -- /usr/bin/lull in.png out.png --quiet
buildah run --isolation chroot "$image" -- test -s out.png
say "the image works"
