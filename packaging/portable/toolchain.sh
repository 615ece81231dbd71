#!/usr/bin/env bash
# toolchain.sh FOLDER: makes compilers FOLDER/bin/gcc and g++ whose programs run with glibc 2.28 and
# later. They are the compilers of this machine with the headers and libraries of glibc 2.27 (Ubuntu
# 18.04); the C++ runtime is linked statically. Needs apt, dpkg-deb and gcc 12 on x86-64.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1" && out=$(cd "$1" && pwd)
mirror=${LULL_UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}

# The packages of the release pocket never change; their checksums replace signatures.
packages='
libc6=2.27-3ubuntu1 1e1eb86fd646aa68f7144ec692b837b6b352d215880c6a2d0c92c19d36938427
libc6-dev=2.27-3ubuntu1 e426c70a940a7d0c5c95823a5fd01f26bd8bcb08d109df2f8c96c439da8dc440
linux-libc-dev=4.15.0-20.21 4a73fc5ea2d0284e9c9c84cba68cbe5880505afbae0a3201c65c336daf8f8239'

fetch_packages() { # FOLDER
  local work=$1 name sum
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/parts" "$work/debs"
  touch "$work/status"
  printf 'deb [arch=amd64 trusted=yes] %s bionic main\n' "$mirror" >"$work/sources.list"
  local apt=(apt-get -qq "-oDir::Etc::sourcelist=$work/sources.list" "-oDir::Cache=$work/cache"
             "-oDir::Etc::sourceparts=$work/parts" "-oDir::State::Lists=$work/lists"
             "-oDir::State::status=$work/status" -oAPT::Sandbox::User=root)
  "${apt[@]}" update 2>/dev/null
  cd "$work/debs"
  while read -r name sum; do
    [[ -n $name ]] || continue
    "${apt[@]}" download "$name" 2>/dev/null
    printf '%s  %s\n' "$sum" "${name%%=*}_${name#*=}_amd64.deb" | sha256sum --check --quiet
  done <<<"$packages"
}

make_sysroot() {
  local work deb link
  work=$(mktemp -d)
  (fetch_packages "$work")
  rm -rf "$out/sysroot.new"
  mkdir -p "$out/sysroot.new"
  for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$out/sysroot.new"; done
  rm -rf "$work"
  # Absolute links would lead to the libraries of this machine.
  find "$out/sysroot.new" -type l -lname '/*' | while read -r link; do
    ln -sfr "$out/sysroot.new$(readlink "$link")" "$link"
  done
  mv "$out/sysroot.new" "$out/sysroot"
}

# replace FILE: with FILE.new if they differ. (A newer time would compile everything again.)
replace() {
  cmp -s "$1.new" "$1" || mv "$1.new" "$1"
  rm -f "$1.new"
}

# libstdc++ must not use the functions of glibc 2.30 that its headers expect.
make_overlay() {
  mkdir -p "$out/overlay/bits"
  cat >"$out/overlay/bits/c++config.h.new" <<'TEXT'
#include_next <bits/c++config.h>
#undef _GLIBCXX_USE_PTHREAD_COND_CLOCKWAIT
#undef _GLIBCXX_USE_PTHREAD_MUTEX_CLOCKLOCK
#undef _GLIBCXX_USE_PTHREAD_RWLOCK_CLOCKLOCK
TEXT
  replace "$out/overlay/bits/c++config.h"
}

# (With -pthread, gcc names libpthread after the static libstdc++, which calls it.)
make_compiler() { # NAME OVERLAY-OPTIONS
  cat >"$out/bin/$1.new" <<TEXT
#!/usr/bin/env bash
options=(--sysroot=$out/sysroot $2)
for argument; do
  case \$argument in -c | -E | -S | -M | -MM | -fsyntax-only) exec /usr/bin/$1 "\${options[@]}" "\$@" ;; esac
done
library=$out/sysroot/usr/lib/x86_64-linux-gnu
exec /usr/bin/$1 "\${options[@]}" -B\$library -L\$library -L$out/sysroot/lib/x86_64-linux-gnu \\
  -static-libgcc -static-libstdc++ -pthread "\$@" $out/glibc_compat.o -Wl,--as-needed -lpthread -ldl -lrt
TEXT
  chmod +x "$out/bin/$1.new"
  replace "$out/bin/$1"
}

mkdir -p "$out/bin"
[[ -d $out/sysroot ]] || make_sysroot
make_overlay
make_compiler gcc ""
make_compiler g++ "-isystem $out/overlay"
/usr/bin/gcc --sysroot="$out/sysroot" -std=gnu11 -O2 -fPIC -Wall -Wextra \
  -c "$here/glibc_compat.c" -o "$out/glibc_compat.o"
