# cmake -DROOT=FOLDER -P check_sizes.cmake: limits the length of sources and the number of sources
# in a folder, in src, tools, tests, bench and samples, so that readers can find their way. ROOT is
# that of check_layers.cmake.

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/sources.cmake)

set(most_lines 450)          # of a file
set(most_files 25)           # of code in a folder, without its subfolders

set(violations 0)
set(folders)
foreach(file IN LISTS files)
  # (CMake lists would lose empty lines and lines with brackets.)
  file(READ ${ROOT}/${file} text)
  string(REGEX REPLACE "[^\n]+" "" newlines "${text}")
  string(LENGTH "${newlines}" lines)
  if(lines GREATER most_lines)
    message(NOTICE
      "${file}: ${lines} lines (at most ${most_lines}); move a part of it to another file")
    math(EXPR violations "${violations} + 1")
  endif()
  cmake_path(GET file PARENT_PATH folder)
  string(MAKE_C_IDENTIFIER ${folder} key)
  if(NOT folder IN_LIST folders)
    list(APPEND folders ${folder})
    set(in_${key} 0)
  endif()
  math(EXPR in_${key} "${in_${key}} + 1")
endforeach()
foreach(folder IN LISTS folders)
  string(MAKE_C_IDENTIFIER ${folder} key)
  if(in_${key} GREATER most_files)
    message(NOTICE "${folder}: ${in_${key}} files (at most ${most_files}); divide the folder")
    math(EXPR violations "${violations} + 1")
  endif()
endforeach()
if(violations GREATER 0)
  message(FATAL_ERROR "${violations} files or folders are too large")
endif()
message(NOTICE "${count} files and their folders are within the size limits")
