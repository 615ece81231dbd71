# cmake -DROOT=FOLDER -P check_layers.cmake: rejects #include lines that cross the layers of
# ARCHITECTURE.md. ROOT contains src/, and optionally tools/, python/, vapoursynth/, gstreamer/, mlt/, tests/, bench/
# and samples/.

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/sources.cmake)

# module(MODULE USES ...): a folder of src, or tools and its folders, and the other modules that it
# may include. These must be declared before it, which excludes cycles.
set(modules)
function(module name)
  foreach(used IN LISTS ARGN)
    if(NOT used IN_LIST modules)
      message(FATAL_ERROR "module ${name} uses ${used}, which is not declared before it")
    endif()
  endforeach()
  set(modules ${modules} ${name} PARENT_SCOPE)
  set(uses_${name} ${name} ${ARGN} PARENT_SCOPE)
endfunction()

module(core/dither)
module(core core/dither)
module(core/params core)
module(cuda/layout core)
module(cuda core cuda/layout)
module(cuda/samples core core/dither cuda)
module(cuda/results core cuda)
module(cuda/matrices cuda)
module(noise core)
module(noise/stills core noise)
module(noise/estimate core noise noise/stills)
module(noise/grain core noise noise/estimate)
module(noise/render core noise)
module(noise/volume core noise)
module(series core noise noise/volume)
module(noise/volume/cuda core noise noise/volume cuda cuda/results)
module(noise/areas core noise)
module(noise/depth core noise noise/estimate)
module(time core cuda cuda/samples)
set(matching core core/dither core/params noise time)  # the modules that matching uses
module(match ${matching})
module(match/reference ${matching} match)
module(match/cpu ${matching} match)
module(match/cuda ${matching} match cuda cuda/layout)
module(linear ${matching} match)
module(linear/reference ${matching} match linear)
module(linear/cpu ${matching} match match/cpu linear)
module(linear/cuda ${matching} match match/cuda linear cuda cuda/layout cuda/matrices)
module(bm3d ${matching} match match/reference match/cpu linear)
module(bm3d/reference ${matching} match match/reference linear/reference bm3d)
module(bm3d/cpu ${matching} match match/cpu bm3d)
module(bm3d/cuda/filter ${matching} match match/cuda cuda bm3d)
module(bm3d/cuda/bayes ${matching} match cuda cuda/matrices bm3d bm3d/cuda/filter)
module(bm3d/cuda ${matching} match match/cuda cuda cuda/layout cuda/results linear linear/cuda
  bm3d bm3d/cuda/filter bm3d/cuda/bayes)
module(bm3d/open ${matching} match linear bm3d bm3d/cuda)
module(bm4d ${matching} match)
module(bm4d/reference ${matching} match bm4d)
module(bm4d/cpu ${matching} match match/cpu bm4d)
module(bm4d/cuda ${matching} match match/cuda cuda cuda/results cuda/samples bm4d)
module(bm4d/open ${matching} match cuda cuda/results bm4d bm4d/cuda)
module(nlm ${matching} match)
module(nlm/reference ${matching} match nlm)
module(nlm/cpu ${matching} match match/cpu nlm)
module(nlm/cuda ${matching} match match/cuda cuda cuda/results nlm)
module(nlm/open ${matching} match cuda nlm nlm/cuda)
module(scale ${matching} bm3d)
module(nlm/features ${matching} noise/render match match/cpu cuda nlm nlm/cuda)
module(choose ${matching} noise/volume noise/volume/cuda noise/areas noise/depth noise/render cuda match bm3d
  bm4d nlm nlm/features)
set(io_base core io)  # io itself: the interfaces for its users
module(io core)
module(io/ffmpeg ${io_base})
module(io/files ${io_base} io/ffmpeg)
module(io/containers ${io_base} io/ffmpeg io/files)
module(io/pictures ${io_base} io/ffmpeg io/files)
module(io/exr ${io_base} io/ffmpeg io/files)
module(io/tiff ${io_base} io/ffmpeg io/files)
module(io/metadata ${io_base} io/ffmpeg io/files io/pictures io/tiff)
module(io/raw ${io_base} io/ffmpeg io/files io/pictures io/tiff io/metadata)
module(io/stacks ${io_base} io/ffmpeg io/files io/pictures io/tiff)
module(io/demux ${io_base} io/ffmpeg io/files io/containers io/pictures io/exr io/tiff io/metadata
  io/stacks)
module(io/read ${io_base} io/ffmpeg io/files io/pictures io/exr io/tiff io/metadata io/stacks
  io/demux)
module(io/encode ${io_base} io/ffmpeg io/pictures io/tiff io/metadata io/demux io/read)
module(io/write ${io_base} io/ffmpeg io/files io/pictures io/exr io/tiff io/metadata io/stacks
  io/demux io/read io/encode)
module(io/segments ${io_base} io/ffmpeg io/files io/demux io/read io/encode io/write)
module(io/open ${io_base} io/ffmpeg io/files io/pictures io/metadata io/exr io/stacks io/demux
  io/read io/encode io/write io/segments)
module(pipeline core noise noise/render)
module(burst core)
module(repair core)
module(raw core noise)
set(library ${modules})  # all of src
set(before)  # the modules of tools: each may use those before it
foreach(name tools/report tools/options tools/settings tools/html tools/noise tools/repair tools/volumes
  tools/search tools/sessions
  tools/wrap tools/raw tools/pages tools/commands tools/doctor tools/bids tools/command_line tools)
  module(${name} ${library} ${before})
  list(APPEND before ${name})
endforeach()

# Bindings for other languages and programs use sessions and noise, but neither files nor the
# command.
module(python/src core core/params noise noise/estimate noise/volume noise/depth noise/render cuda cuda/samples
  cuda/results bm3d scale choose)
# The C library has parameters and sessions of the command.
module(c/include)
module(c/src c/include core noise noise/estimate noise/volume cuda cuda/results cuda/samples bm3d io
  tools/options tools/sessions)
module(vapoursynth core noise noise/estimate cuda bm3d choose)
module(gstreamer core noise noise/estimate choose)
module(mlt core noise noise/estimate choose)

set(ffmpeg_header "^(libav[a-z]+|libsw[a-z]+|libpostproc)/")
set(cuda_header
  "^(cuda|cufft|cublas|cub/|thrust/|nvtx3/|nvml|cooperative_groups|mma\\.h|device_launch|vector_types)")
set(command_header "^(CLI|spdlog)/")

set(violations 0)
function(reject file line reason)
  message(NOTICE "${file}: ${line}: ${reason}")
  math(EXPR count "${violations} + 1")
  set(violations ${count} PARENT_SCOPE)
endfunction()

# Checks one line of one file; sets `violations` of the caller.
function(check_line file line)
  if(NOT line MATCHES "^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]")
    return()
  endif()
  set(form ${CMAKE_MATCH_1})
  set(header ${CMAKE_MATCH_2})
  string(REGEX MATCH "^src/" in_source ${file})
  string(REGEX MATCH "^tools/" in_tools ${file})
  string(REGEX MATCH "^(c|python|vapoursynth|gstreamer|mlt)/" in_bindings ${file})
  string(REGEX REPLACE "^src/" "" module ${file})
  string(REGEX REPLACE "/?[^/]+$" "" module ${module})
  string(REGEX MATCH "^[a-z0-9_]+" folder "${module}")
  string(REGEX MATCH "^(.+)/[^/]+$" with_folder ${header})
  set(target ${CMAKE_MATCH_1})

  if(header MATCHES "(^|/)\\.\\./")
    reject(${file} ${line} "an include path must begin at src or at the top, without ..")
  endif()
  if(in_source OR in_tools OR in_bindings)
    if(NOT module IN_LIST modules)
      reject(${file} ${line} "the folder is not a module of check_layers.cmake")
    elseif(with_folder AND target IN_LIST modules AND NOT target IN_LIST uses_${module})
      reject(${file} ${line} "${module} must not include ${target}")
    endif()
    if(header MATCHES "${ffmpeg_header}" AND NOT folder STREQUAL io)
      reject(${file} ${line} "FFmpeg's headers may be included in src/io only")
    endif()
    if(header MATCHES "^(bench|samples|tests)/")
      reject(${file} ${line} "tests and benchmarks are not part of the library or the command")
    endif()
    if(header MATCHES "${cuda_header}" AND NOT header MATCHES "^cuda/" AND
       NOT folder STREQUAL cuda AND
       NOT file MATCHES "(_cuda\\.(h|cpp)|\\.cuh?|/kernels[a-z0-9_]*\\.h)$")
      reject(${file} ${line}
        "CUDA's headers may be included in src/cuda, *_cuda.*, *.cu and kernels*.h only")
    endif()
  endif()
  if(in_source)
    if(folder STREQUAL core AND (header MATCHES "\\.h$" OR with_folder) AND
       NOT header MATCHES "^core/")
      reject(${file} ${line} "core may include the standard library only")
    endif()
    if(header MATCHES "${command_header}")
      reject(${file} ${line} "only the command may parse arguments and write logs")
    endif()
  endif()
  set(violations ${violations} PARENT_SCOPE)
endfunction()

foreach(file IN LISTS files)
  file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include")
  foreach(line IN LISTS lines)
    check_line("${file}" "${line}")
  endforeach()
endforeach()
if(violations GREATER 0)
  message(FATAL_ERROR "${violations} forbidden includes")
endif()
message(NOTICE "${count} files respect the layers")
