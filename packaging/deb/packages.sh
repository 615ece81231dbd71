# The Debian packages: which file belongs to which, what they depend on, their descriptions.
# shellcheck shell=bash

packages=(lull liblull1 liblull-dev gstreamer1.0-lull lull-mlt)

package_of() { # PATH TRIPLET: a path below /usr
  case $1 in
    lib/$2/gstreamer-1.0/* | share/gstreamer-1.0/*) echo gstreamer1.0-lull ;;
    lib/$2/mlt*/* | share/mlt*/*) echo lull-mlt ;;
    lib/$2/liblull.so.*) echo liblull1 ;;
    include/* | lib/$2/*) echo liblull-dev ;;
    *) echo lull ;;
  esac
}

# Prints what a package depends on besides the libraries that its files load, one a line.
depends_of() { # PACKAGE VERSION
  case $1 in
    liblull-dev)
      [[ ! -d $work/liblull1 ]] || printf 'liblull1 (= %s)\n' "$2"
      printf '%s\n' libavcodec-dev libavformat-dev libavutil-dev libblosc-dev libdcmtk-dev libexiv2-dev \
        libraw-dev \
        libhwy-dev libopenexr-dev libswscale-dev libtbb-dev libtiff-dev libzstd-dev zlib1g-dev
      ;;
    gstreamer1.0-lull | lull-mlt) ;;
  esac
}

describe() { # PACKAGE
  case $1 in
    lull) cat <<'TEXT'
Section: video
Priority: optional
Description: denoiser for video, pictures and volumes (command)
 lull estimates the noise of its input and removes it, with BM3D, BM4D and
 non-local means on the CPU or on NVIDIA GPUs. FFmpeg's libraries read and
 write the files: audio, subtitles, chapters, metadata and timestamps are kept.
 .
 It denoises video, photographs, picture sequences, renders in OpenEXR files
 and medical volumes in NIfTI files. Equal input gives equal output.
TEXT
      ;;
    liblull1) cat <<'TEXT'
Section: libs
Priority: optional
Multi-Arch: same
Description: denoiser for video, pictures and volumes (C library)
 lull removes noise with BM3D, BM4D and non-local means on the CPU or on NVIDIA
 GPUs. This package contains the shared library with the C interface.
TEXT
      ;;
    liblull-dev) cat <<'TEXT'
Section: libdevel
Priority: optional
Description: denoiser for video, pictures and volumes (development)
 lull removes noise with BM3D, BM4D and non-local means on the CPU or on NVIDIA
 GPUs. This package contains the headers, the static C++ libraries, and files
 for CMake (find_package) and pkg-config.
TEXT
      ;;
    gstreamer1.0-lull) cat <<'TEXT'
Section: video
Priority: optional
Description: denoiser for video, pictures and volumes (GStreamer plug-in)
 lull removes noise with BM3D, BM4D and non-local means on the CPU or on NVIDIA
 GPUs. This package contains the element for GStreamer pipelines.
TEXT
      ;;
    lull-mlt) cat <<'TEXT'
Section: video
Priority: optional
Description: denoiser for video, pictures and volumes (MLT plug-in)
 lull removes noise with BM3D, BM4D and non-local means on the CPU or on NVIDIA
 GPUs. This package contains the filter for editors that use MLT.
TEXT
      ;;
  esac
}
