#!/usr/bin/env bash
# packaging/package.sh [PART ...] [-DCMAKE_OPTION ...]: makes what a release consists of in
# build/package. The parts are source, deb, tarball, wheels; all of them by default. "sums" makes
# nothing but the SBOM and SHA256SUMS of the files that are there, as every call does at its end.
# ./run calls it with CUDA on PATH, if it is installed. build/deb and build/portable serve the next
# call.
source packaging/common.sh

parts=() options=()
for argument; do
  case $argument in -D*) options+=("$argument") ;; *) parts+=("$argument") ;; esac
done
(( ${#parts[@]} )) || parts=(source deb tarball wheels)

out=$PWD/build/package trees=$PWD/build/portable
version=$(lull_version)
jobs=${LULL_JOBS:-$(nproc)}
mkdir -p "$out"

# Debug paths and __FILE__ must not depend on the folder of the build. (With quotes for the shell that
# runs the compiler, because the folder may contain spaces.)
prefix_map() { printf -- '"-ffile-prefix-map=%s=/usr/src/lull" ' "$PWD" "$(readlink -f "$PWD")"; }

# configure_release TREE [CMAKE ARGUMENT ...]
configure_release() {
  local tree=$1 arguments=()
  shift
  ! command -v ccache >/dev/null || arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache
                                                -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  [[ -f $tree/CMakeCache.txt ]] || arguments+=(-G Ninja)
  cmake -S . -B "$tree" --log-level=NOTICE -DCMAKE_BUILD_TYPE=Release -DLULL_UNITY=ON \
    -DLULL_SIMD=all -DLULL_TESTS=OFF -DLULL_BENCH=OFF "${arguments[@]}" "$@" "${options[@]}"
}

make_source() {
  rm -f "$out/lull-$version.tar.xz"
  local work
  work=$(mktemp -d)
  git archive --prefix="lull-$version/" HEAD | tar -x -C "$work"
  printf '%s\n' "$SOURCE_DATE_EPOCH" >"$work/lull-$version/packaging/source_date"
  pack "$work/lull-$version" "$out/lull-$version.tar.xz"
  rm -rf "$work"
}

# The package is linked with Exiv2 (GPL), which permits no proprietary CUDA runtime in it.
make_deb() {
  local flags
  flags="$(DEB_CXXFLAGS_MAINT_STRIP=-g dpkg-buildflags --get CXXFLAGS) $(dpkg-buildflags --get CPPFLAGS)"
  configure_release build/deb -DLULL_CUDA=OFF -DCMAKE_INSTALL_PREFIX=/usr \
    "-DCMAKE_INSTALL_LIBDIR=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" \
    "-DCMAKE_CXX_FLAGS=$flags $(prefix_map)" \
    "-DCMAKE_EXE_LINKER_FLAGS=$(dpkg-buildflags --get LDFLAGS) -Wl,-z,now" \
    "-DCMAKE_SHARED_LINKER_FLAGS=$(dpkg-buildflags --get LDFLAGS) -Wl,-z,now"
  cmake --build build/deb -j "$jobs"
  rm -f "$out"/*.deb
  bash packaging/deb/build.sh build/deb "$out"
}

source packaging/portable/build.sh
for part in "${parts[@]}"; do
  case $part in
    source) make_source ;;
    deb) make_deb ;;
    sums) continue ;;
    tarball | wheels) "make_$part" ;;
    *)
      say "no such part: $part (source, deb, tarball, wheels, sums)"
      exit 2
      ;;
  esac
  say "made $part"
done
sources=$out/.sources.txt  # (note_contents)
[[ -f $sources ]] || sources=packaging/portable/sources.txt
python3 packaging/sbom.py "$out" "$version" "$SOURCE_DATE_EPOCH" "$sources"
(cd "$out" && rm -f SHA256SUMS && sha256sum -- * >../SHA256SUMS.new && mv ../SHA256SUMS.new SHA256SUMS)
(cd "$out" && ls -l | awk 'NR > 1 {printf "%12d  %s\n", $5, $9}') >&2
