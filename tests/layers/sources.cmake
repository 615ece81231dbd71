# Sets `files`, all sources below ROOT, and their `count`.

cmake_path(ABSOLUTE_PATH ROOT NORMALIZE)
set(patterns)
foreach(top src tools c python vapoursynth gstreamer mlt tests bench samples)
  foreach(extension h cpp cu cuh)
    list(APPEND patterns ${ROOT}/${top}/*.${extension})
  endforeach()
endforeach()
file(GLOB_RECURSE files RELATIVE ${ROOT} ${patterns})
list(LENGTH files count)
if(count EQUAL 0)
  message(FATAL_ERROR "no sources under ${ROOT}")
endif()
