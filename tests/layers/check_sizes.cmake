# cmake -DROOT=FOLDER -P check_sizes.cmake: no source is longer than a reader takes in, and no
# folder holds more of them than a reader finds his way in, in src as in tools, tests, bench and
# samples. ROOT as for check_layers.cmake.

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/sources.cmake)

set(most_lines 450)          # of a file
set(most_files 25)           # of code in a folder, without those in folders below it

set(violations 0)
set(folders)
foreach(file IN LISTS files)
  # (Lists of CMake would lose empty lines and those with brackets.)
  file(READ ${ROOT}/${file} text)
  string(REGEX REPLACE "[^\n]+" "" newlines "${text}")
  string(LENGTH "${newlines}" lines)
  if(lines GREATER most_lines)
    message(NOTICE "${file}: ${lines} lines (${most_lines} at most); take a part of it out")
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
    message(NOTICE "${folder}: ${in_${key}} files (${most_files} at most); give them rooms")
    math(EXPR violations "${violations} + 1")
  endif()
endforeach()
if(violations GREATER 0)
  message(FATAL_ERROR "${violations} too big")
endif()
message(NOTICE "${count} files and their folders are of a size to read")
