#!/usr/bin/env bash
# libraries.sh TOOLCHAIN FOLDER: builds the libraries of sources.txt with TOOLCHAIN/bin/gcc into
# FOLDER/prefix: FFmpeg as shared libraries under the LGPL, all others as static libraries. Takes
# long; a library that was built before is kept. The sources stay in FOLDER/source.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
toolchain=$(cd "$1" && pwd)
mkdir -p "$2" && out=$(cd "$2" && pwd)
prefix=$out/prefix
jobs=${LULL_JOBS:-$(nproc)}
export CC=$toolchain/bin/gcc CXX=$toolchain/bin/g++
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG_PATH=
# Paths of this machine must not get into the libraries.
flags="-O2 -fPIC -ffile-prefix-map=$out/sources=/usr/src"
export CFLAGS=$flags CXXFLAGS=$flags SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0}

# A list of its own, so that the lists of the machine stay as they are.
apt=("-oDir::Etc::sourcelist=$out/sources.list" -oDir::Etc::sourceparts=/dev/null
     "-oDir::State::Lists=$out/lists" -oAPT::Sandbox::User=root)
update_lists() {
  [[ -z ${updated:-} ]] || return 0
  mkdir -p "$out/source" "$out/lists/partial"
  local debian=${LULL_DEBIAN_MIRROR:-http://deb.debian.org/debian}
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s\n' \
    "$debian bookworm main" "$debian-security bookworm-security main" >"$out/sources.list"
  apt-get -qq "${apt[@]}" update
  updated=1
}

download() { # NAME VERSION
  (cd "$out/source" && apt-get -qq "${apt[@]}" source --download-only "$1=$2" >/dev/null 2>&1)
}

# Prints the versions of a source in Debian, the newest first. (A mirror can lack a version that its
# list contains.)
versions_of() { apt-cache "${apt[@]}" showsrc "$1" | awk '/^Version:/ {print $2}' | sort -rVu; }

# fetch NAME: downloads a source and sets `version`. Mirrors delete a version soon after a newer one
# appears; the newest one that can be downloaded then takes its place.
fetch() {
  local stated
  stated=$version
  [[ ! -f $out/source/$1_${version#*:}.dsc ]] || return 0
  update_lists
  for version in "$stated" $(versions_of "$1"); do
    download "$1" "$version" || continue
    [[ $version == "$stated" && $version == "$(versions_of "$1" | head -n 1)" ]] ||
      printf 'packaging: sources.txt states %s %s; Debian has %s; building %s\n' "$1" "$stated" \
        "$(versions_of "$1" | head -n 1)" "$version" >&2
    return 0
  done
  printf 'packaging: no version of the source %s can be downloaded\n' "$1" >&2
  return 1
}

# unpack NAME: unpacks the source in $out/sources/NAME, with Debian's patches.
unpack() {
  rm -rf "$out/sources/$1"
  mkdir -p "$out/sources"
  dpkg-source --no-check -x "$out/source/$1_${version#*:}.dsc" "$out/sources/$1" >/dev/null 2>&1
}

# (Without a type, some projects would make an absolute path of the library folder. The sysroot has
# the mathematical functions.)
with_cmake() { # NAME [CMAKE ARGUMENT ...]
  cmake -S "$out/sources/$1" -B "$out/sources/$1/build-lull" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR:STRING=lib -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_C_FLAGS_RELEASE=-DNDEBUG -DCMAKE_CXX_FLAGS_RELEASE=-DNDEBUG \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_PREFIX_PATH="$prefix" \
    "-DCMAKE_FIND_ROOT_PATH=$prefix;$toolchain/sysroot" -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
    -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY "${@:2}"
  cmake --build "$out/sources/$1/build-lull" -j "$jobs"
  cmake --install "$out/sources/$1/build-lull"
}

# Some libraries contain the arguments of their configuration, whose folders other machines do not have.
without_paths() { sed -i "s#$prefix#/usr#g; s#$toolchain/bin/##g; s#$out/sources#/usr/src#g" "$1"; } # FILE

build_zlib() {
  cd "$out/sources/zlib"
  ./configure --static --prefix="$prefix"
  make -j "$jobs" libz.a
  install -D -m 644 -t "$prefix/lib" libz.a
  install -D -m 644 -t "$prefix/include" zlib.h zconf.h
  install -D -m 644 -t "$prefix/lib/pkgconfig" zlib.pc
}
build_dav1d() {
  meson setup "$out/sources/dav1d/build-lull" "$out/sources/dav1d" --prefix="$prefix" --libdir=lib \
    --buildtype=release --default-library=static -Denable_tools=false -Denable_tests=false
  ninja -C "$out/sources/dav1d/build-lull" -j "$jobs" install
}
build_libvpx() {
  cd "$out/sources/libvpx"
  ./configure --prefix="$prefix" --enable-pic --disable-examples --disable-tools --disable-docs \
    --disable-unit-tests --enable-vp9-highbitdepth --disable-install-bins --as=nasm
  without_paths vpx_config.c
  make -j "$jobs"
  make install
}
build_libwebp() {
  with_cmake libwebp -DWEBP_BUILD_ANIM_UTILS=OFF -DWEBP_BUILD_CWEBP=OFF -DWEBP_BUILD_DWEBP=OFF \
    -DWEBP_BUILD_GIF2WEBP=OFF -DWEBP_BUILD_IMG2WEBP=OFF -DWEBP_BUILD_VWEBP=OFF \
    -DWEBP_BUILD_WEBPINFO=OFF -DWEBP_BUILD_WEBPMUX=OFF -DWEBP_BUILD_EXTRAS=OFF
}
# All containers; the decoders and encoders of video, of pictures, and of the audio that is converted.
# Without --enable-gpl and --enable-nonfree, so the LGPL applies. (The decoder of Opus needs swresample.)
build_ffmpeg() {
  local decoders='h264 hevc mpeg1video mpeg2video mpegvideo mpeg4 msmpeg4v1 msmpeg4v2 msmpeg4v3 wmv1
    wmv2 wmv3 vc1 h261 h263 h263i h263p flv svq1 svq3 vp3 vp5 vp6 vp6f vp7 vp8 vp9 theora dirac
    libdav1d av1 libvpx_vp8 libvpx_vp9 dvvideo mjpeg mjpegb prores dnxhd cfhd hap hq_hqa hqx ffv1
    huffyuv ffvhuff hymt utvideo magicyuv lagarith cinepak indeo3 indeo5 snow qtrle rpza msvideo1
    zmbv tscc tscc2 flashsv flashsv2 cllc speedhq rawvideo v210 v210x v308 v408 v410 yuv4 r210 r10k
    avrn avrp ayuv y41p bitpacked wrapped_avframe apng png jpeg2000 jpegls tiff webp bmp dds dpx exr
    gif pam pbm pcx pfm pgm pgmyuv ppm psd qoi sgi sunrast targa xbm xwd fits hdr
    aac aac_latm ac3 alac dca eac3 flac mlp mp1 mp2 mp3 opus truehd vorbis wmav2 s302m pcm_*
    ass dvbsub dvdsub movtext pgssub srt ssa subrip webvtt'
  local encoders='ffv1 mpeg4 mpeg2video mjpeg ljpeg prores prores_aw prores_ks dnxhd cfhd huffyuv
    ffvhuff utvideo magicyuv rawvideo v210 v308 v408 v410 r210 r10k yuv4 y41p wrapped_avframe
    libvpx_vp8 libvpx_vp9 libwebp libwebp_anim h264_nvenc hevc_nvenc hap qtrle dvvideo
    apng png jpeg2000 jpegls tiff bmp dpx exr gif pam pbm pcx pfm pgm pgmyuv ppm qoi sgi sunrast
    targa xbm xwd speedhq flac alac aac ac3 pcm_* ass movtext srt ssa subrip webvtt'
  list() { local names; names=$(tr -s ' \n' ',' <<<"$1"); printf '%s' "${names%,}"; }
  local nvidia machine=/usr/lib/x86_64-linux-gnu/pkgconfig:/usr/lib/pkgconfig:/usr/share/pkgconfig
  of_machine() { PKG_CONFIG_LIBDIR=$machine pkg-config "--variable=$1" ffnvcodec; }
  nvidia=$(of_machine includedir)
  # (The folder must hold nothing else, or headers of this machine's glibc would be found.)
  mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"
  cp -r "$nvidia/ffnvcodec" "$prefix/include/"
  cp "$(of_machine pcfiledir)/ffnvcodec.pc" "$prefix/lib/pkgconfig/"
  sed -i "s#^prefix=.*#prefix=$prefix#;s#^includedir=.*#includedir=$prefix/include#" \
    "$prefix/lib/pkgconfig/ffnvcodec.pc"
  cd "$out/sources/ffmpeg"
  ./configure --prefix="$prefix" --cc="$CC" --cxx="$CXX" --ld="$CC" --optflags=-O2 \
    --pkg-config=pkg-config --pkg-config-flags=--static \
    --extra-cflags="-ffile-prefix-map=$out/sources=/usr/src -I$prefix/include" \
    --extra-ldflags="-L$prefix/lib" --enable-shared --disable-static --disable-doc --disable-debug \
    --disable-autodetect --disable-programs --disable-avfilter --disable-avdevice --disable-postproc \
    --disable-everything --enable-zlib --enable-libdav1d --enable-libvpx \
    --enable-libwebp --enable-ffnvcodec --enable-cuvid --enable-nvdec --enable-nvenc \
    --enable-demuxers --enable-muxers --enable-parsers --enable-bsfs --enable-hwaccels \
    --enable-protocols "--enable-decoder=$(list "$decoders")" "--enable-encoder=$(list "$encoders")"
  grep -q '^#define FFMPEG_LICENSE "LGPL version 2.1 or later"' config.h
  grep '^#define FFMPEG_CONFIGURATION ' config.h >configuration.h
  without_paths configuration.h
  sed -i -e '/^#define FFMPEG_CONFIGURATION /{r configuration.h' -e 'd}' config.h
  make -j "$jobs"
  make install
  for library in "$prefix"/lib/lib{av,sw}*.so.*; do
    # (A link names a file of the same folder.)
    [[ -L $library ]] || patchelf --set-rpath '$ORIGIN' "$library"
  done
  sed -n 's/^#define FFMPEG_CONFIGURATION "\(.*\)"/\1/p' config.h >"$prefix/ffmpeg_configuration.txt"
}
build_libdeflate() {
  cd "$out/sources/libdeflate"
  make -j "$jobs" install DISABLE_SHARED=yes PREFIX="$prefix" LIBDIR="$prefix/lib"
}
build_libjpeg-turbo() { with_cmake libjpeg-turbo -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF; }
# Without Little CMS and OpenMP: lull wants the samples of the sensor, and has threads of its own.
build_libraw() {
  cd "$out/sources/libraw"
  make -f Makefile.dist -j "$jobs" lib/libraw_r.a CC="$CC" CXX="$CXX" \
    CFLAGS="$CFLAGS -I. -I$prefix/include -w -pthread -DUSE_ZLIB -DUSE_JPEG -DUSE_JPEG8"
  install -D -m 644 -t "$prefix/lib" lib/libraw_r.a
  install -D -m 644 -t "$prefix/include/libraw" libraw/*.h
  printf '%s\n' 'Name: libraw' 'Description: Raw image decoder library (thread-safe)' "Version: 0.20.2" \
    'Requires: zlib libjpeg' "Libs: -L$prefix/lib -lraw_r" "Cflags: -I$prefix/include" \
    >"$prefix/lib/pkgconfig/libraw_r.pc"
}
build_tiff() {
  with_cmake tiff -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-contrib=OFF -Dtiff-docs=OFF -Dcxx=OFF -Djbig=OFF \
    -Dlerc=OFF -Dlzma=OFF -Dzstd=OFF -Dwebp=ON -Dlibdeflate=ON -Djpeg=ON -Dold-jpeg=ON
}
build_imath() { with_cmake imath -DBUILD_TESTING=OFF; }
build_openexr() {
  with_cmake openexr -DBUILD_TESTING=OFF -DOPENEXR_BUILD_TOOLS=OFF -DOPENEXR_INSTALL_EXAMPLES=OFF
}
# (Of "contrib", whose library is large, lull uses a header.)
build_highway() {
  with_cmake highway -DHWY_ENABLE_TESTS=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF
  install -D -m 644 -t "$prefix/include/hwy/contrib/math" "$out/sources/highway/hwy/contrib/math/math-inl.h"
}
build_onetbb() {
  with_cmake onetbb -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF -DTBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON
}
build_lz4() {
  cd "$out/sources/lz4/lib"
  make -j "$jobs" install BUILD_SHARED=no PREFIX="$prefix"
}
build_libzstd() {
  cd "$out/sources/libzstd/lib"
  make -j "$jobs" libzstd.a libzstd.pc PREFIX="$prefix"
  install -D -m 644 -t "$prefix/lib" libzstd.a
  install -D -m 644 -t "$prefix/include" zstd.h zdict.h zstd_errors.h
  install -D -m 644 -t "$prefix/lib/pkgconfig" libzstd.pc
}
# (Debian's sources build the static library only beside the shared one.)
build_snappy() {
  with_cmake snappy -DBUILD_SHARED_LIBS=ON -DSNAPPY_BUILD_TESTS=OFF -DSNAPPY_BUILD_BENCHMARKS=OFF
  rm "$prefix"/lib/libsnappy.so*
}
build_c-blosc() {
  with_cmake c-blosc -DBUILD_SHARED=OFF -DBUILD_TESTS=OFF -DBUILD_FUZZERS=OFF -DBUILD_BENCHMARKS=OFF \
    -DPREFER_EXTERNAL_LZ4=ON -DPREFER_EXTERNAL_ZLIB=ON -DPREFER_EXTERNAL_ZSTD=ON -DDEACTIVATE_SNAPPY=OFF
  # (blosc.pc omits the libraries that a program with the static library needs.)
  sed -i 's/^Requires:.*/Requires: liblz4 libzstd zlib/; s/^Libs:.*/& -lsnappy/' "$prefix/lib/pkgconfig/blosc.pc"
}
# With the dictionary of attributes compiled in, because packages of other systems have no file of it,
# and the file of a variable DCMDICTPATH may belong to another version. The private attributes and the
# option for JPEG-LS are those of Debian's own build.
build_dcmtk() {
  CXXFLAGS="$CXXFLAGS -w -DENABLE_DCMJPLS_INTERLEAVE_NONE" with_cmake dcmtk \
    "-DDCMTK_MODULES=ofstd;oflog;dcmdata;dcmimgle;dcmimage;dcmjpeg;dcmjpls" -DBUILD_APPS=OFF \
    -DDCMTK_DEFAULT_DICT=builtin -DDCMTK_USE_DCMDICTPATH=OFF -DCMAKE_INSTALL_DATADIC=share/dcmtk \
    -DDCMTK_ENABLE_PRIVATE_TAGS=ON -DCMAKE_CXX_STANDARD=17 -DDCMTK_ENABLE_STL=ON -DDCMTK_WITH_ZLIB=ON \
    -DDCMTK_WITH_TIFF=OFF -DDCMTK_WITH_PNG=OFF -DDCMTK_WITH_XML=OFF -DDCMTK_WITH_OPENSSL=OFF \
    -DDCMTK_WITH_SNDFILE=OFF -DDCMTK_WITH_ICONV=OFF -DDCMTK_WITH_ICU=OFF -DDCMTK_WITH_WRAP=OFF \
    -DDCMTK_WITH_OPENJPEG=OFF -DDCMTK_WITH_DOXYGEN=OFF
}

mkdir -p "$prefix/done" "$prefix/licenses"
while read -r name stated licence; do
  [[ $name != '#'* ]] || continue
  if [[ $(head -n 1 "$prefix/done/$name" 2>/dev/null) != "$stated" ]]; then
    printf 'packaging: building %s %s\n' "$name" "$stated" >&2
    version=$stated
    fetch "$name"
    unpack "$name"
    # (In the background, because bash ignores set -e in a command before ||.)
    ("build_$name") >"$out/$name.log" 2>&1 </dev/null &
    wait $! || { tail -n 20 "$out/$name.log" >&2; exit 1; }
    rm -rf "$out/sources/$name"
    tar -xO --wildcards -f "$out/source/${name}_${version#*:}".debian.tar.xz debian/copyright \
      >"$prefix/licenses/$name"
    printf '%s\n' "$stated" "$name $version $licence" >"$prefix/done/$name"
  fi
  tail -n 1 "$prefix/done/$name"
done <"$here/sources.txt" >"$prefix/sources.txt.new"
mv "$prefix/sources.txt.new" "$prefix/sources.txt"

# The headers that the command compiles in.
for name in CLI nlohmann; do cp -rTu "/usr/include/$name" "$prefix/include/$name"; done
mkdir -p "$prefix/share/cmake"
for name in CLI11 nlohmann_json; do cp -rTu "/usr/share/cmake/$name" "$prefix/share/cmake/$name"; done

# Programs link static libraries with what these need themselves. The folder can be moved, because the
# files of pkg-config state paths from their own folder.
for file in "$prefix"/lib/pkgconfig/*.pc; do
  sed -i "s#$prefix#\${pcfiledir}/../..#g" "$file"
  case $file in */libav* | */libsw*) continue ;; esac
  sed -i -e 's/^Libs.private: */Libs: /' -e 's/^Requires.private: */Requires: /' "$file"
  awk '/^(Libs|Requires):/ {key = $1; $1 = ""; joined[key] = joined[key] $0; next} {print}
    END {for (key in joined) print key joined[key]}' "$file" >"$file.new"
  mv "$file.new" "$file"
done

cp /usr/share/doc/libcli11-dev/copyright "$prefix/licenses/CLI11"
cp /usr/share/doc/nlohmann-json3-dev/copyright "$prefix/licenses/nlohmann-json"
cp /usr/share/doc/libstdc++6/copyright "$prefix/licenses/gcc-runtime"
