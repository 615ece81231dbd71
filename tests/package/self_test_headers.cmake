# cmake -DSCRATCH=FOLDER -DCXX=COMPILER -P self_test_headers.cmake: check_headers.cmake finds every
# planted violation and accepts what is allowed.

cmake_minimum_required(VERSION 3.25)

# judge(EXPECTED WHAT): runs the check over SCRATCH/include. Its output must contain EXPECTED; if
# EXPECTED is empty, it must find nothing.
function(judge expected what)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -DINCLUDE=${SCRATCH}/include -DSCRATCH=${SCRATCH}/sources -DCXX=${CXX} ${ARGN}
      -P ${CMAKE_CURRENT_LIST_DIR}/check_headers.cmake
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE text)
  if(expected STREQUAL "" AND NOT result EQUAL 0)
    message(SEND_ERROR "found in ${what}: ${text}")
  elseif(NOT expected STREQUAL "" AND (result EQUAL 0 OR NOT text MATCHES "${expected}"))
    message(SEND_ERROR "not found in ${what}: ${expected}\n${text}")
  endif()
endfunction()

# plant(HEADER TEXT): writes a header below SCRATCH/include.
function(plant header text)
  file(WRITE ${SCRATCH}/include/${header} "#pragma once\n${text}\n")
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
judge("no header below" "an empty folder")
plant(core/a.h "#include <vector>\nstd::vector<int> inline a;")
plant(noise/render/b.h "#include \"core/a.h\"\ninline int b = static_cast<int>(a.size());")
judge("" "headers that compile alone")
set(stable ${SCRATCH}/stable.txt)
file(WRITE ${stable} "core/a.h\n")
judge("" "stable headers that are installed" -DSTABLE=${stable})
file(APPEND ${stable} "core/gone.h\n")
judge("core/gone.h: is not installed" "a stable header that is not installed" -DSTABLE=${stable})
plant(choose/c.h "#include \"noise/render/light.h\"")
judge("choose/c.h: does not compile alone.*1 of 3 installed" "a header that includes an absent one")
plant(choose/c.h "inline std::vector<int> c;")
judge("choose/c.h: does not compile alone" "a header that needs another include before it")
plant(choose/c.h "inline int c(int unused) { return 0; }")
judge("choose/c.h: does not compile alone" "a header with a warning")
file(WRITE ${SCRATCH}/include/choose/c.h "struct C {};\n")
judge("choose/c.h: does not compile alone" "a header without a guard")
