# cmake -DSCRATCH=FOLDER -P self_test_sizes.cmake: check_sizes.cmake must find files and folders
# that are too large, and nothing else.

cmake_minimum_required(VERSION 3.25)

# judge(EXPECTED WHAT): runs the check over SCRATCH. Its output must contain EXPECTED; if EXPECTED
# is empty, it must find nothing.
function(judge expected what)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -DROOT=${SCRATCH} -P ${CMAKE_CURRENT_LIST_DIR}/check_sizes.cmake
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE text)
  if(expected STREQUAL "" AND NOT result EQUAL 0)
    message(SEND_ERROR "found in ${what}: ${text}")
  elseif(NOT expected STREQUAL "" AND (result EQUAL 0 OR NOT text MATCHES "${expected}"))
    message(SEND_ERROR "not found in ${what}: ${expected}\n${text}")
  endif()
  file(REMOVE_RECURSE ${SCRATCH})
endfunction()

# fill(FOLDER COUNT): creates COUNT files of code, and other files, which do not count.
function(fill folder count)
  foreach(i RANGE 1 ${count})
    file(WRITE ${SCRATCH}/${folder}/file${i}.cpp "int x;\n")
  endforeach()
  foreach(other CMakeLists.txt script.sh script.py)
    file(WRITE ${SCRATCH}/${folder}/${other} "\n")
  endforeach()
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
string(REPEAT "\n  [a;b] // x\n" 225 lines)  # 450, half of them empty
file(WRITE ${SCRATCH}/src/io/a.cpp "${lines}")
judge("" "a file of 450 lines")
file(WRITE ${SCRATCH}/tests/io/a.h "${lines}\n")
judge("tests/io/a.h: 451 lines" "a file of 451 lines")
fill(src/io 25)
fill(src/io/read 25)
judge("" "two folders of 25 files")
fill(src/io/read 26)
judge("src/io/read: 26 files" "a folder of 26 files")
fill(bench 25)
fill(bench/support 25)
judge("" "the same outside src")
foreach(folder src tools tools/options tests/io bench samples)
  fill(${folder} 26)
  judge("${folder}: 26 files" "${folder} with 26 files")
endforeach()
