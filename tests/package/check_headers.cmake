# cmake -DINCLUDE=FOLDER -DSCRATCH=FOLDER -DCXX=COMPILER -P check_headers.cmake: compiles each
# header of the installed folder INCLUDE separately, included twice by one source. Users have no other
# headers of lull, and the public headers need no other library. With -DSTABLE=FILE, the headers in the
# lines of FILE must be there: programs may use them in all versions (docs/reference/stability.md).

cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${SCRATCH})
file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/*.h)
set(failures 0)
foreach(header IN LISTS headers)
  set(source ${SCRATCH}/alone.cpp)
  file(WRITE ${source} "#include \"${header}\"\n#include \"${header}\"\n")
  execute_process(
    COMMAND ${CXX} -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wno-missing-field-initializers
      -Werror -I ${INCLUDE} ${source}
    RESULT_VARIABLE result ERROR_VARIABLE text)
  if(NOT result EQUAL 0)
    message(NOTICE "${header}: does not compile alone\n${text}")
    math(EXPR failures "${failures} + 1")
  endif()
endforeach()
if(DEFINED STABLE)
  file(STRINGS ${STABLE} stable)
  foreach(header IN LISTS stable)
    if(NOT header IN_LIST headers)
      message(NOTICE "${header}: is not installed, although it is part of the stable interface")
      math(EXPR failures "${failures} + 1")
    endif()
  endforeach()
endif()
list(LENGTH headers count)
if(count EQUAL 0)
  message(FATAL_ERROR "no header below ${INCLUDE}")
endif()
if(failures GREATER 0)
  message(FATAL_ERROR "${failures} of ${count} installed headers do not compile alone, or are missing")
endif()
message(NOTICE "${count} installed headers compile alone")
