# cmake -DPROGRAM=... -DNAME=... -DLIST=... [...] -P list_suites.cmake: writes a test for each suite of
# a test program into LIST, as commands for ctest. The suites of a parameterised test
# (`Instance/Suite`, `Suite/0`) form one test.
#   RUNS: the programs and libraries that PROGRAM starts or loads
#   LABELS, ENVIRONMENT: labels and environment of all tests
#   HEAVY: a regular expression; suites that match count as four for `ctest -j`
#   EXCLUDED: tests that are not run, in the format of GoogleTest's --gtest_filter
#   RESULTS: folder for XML files

cmake_minimum_required(VERSION 3.25)

if(EXCLUDED)
  string(PREPEND EXCLUDED "-")
endif()
execute_process(COMMAND ${PROGRAM} --gtest_list_tests "--gtest_filter=*${EXCLUDED}"
  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[][;]" "_" output "\n${output}")  # in comments that show parameters
string(REGEX REPLACE "\n$" "" output "${output}")
string(REPLACE "\n" ";" lines "${output}")

set(suites)
foreach(line IN LISTS lines)
  if(line MATCHES "^ ")  # a test of the suite above
    math(EXPR count_${suite} "${count_${suite}} + 1")
  elseif(line MATCHES "^([^ ]+)\\.( |$)")
    string(REGEX REPLACE "/[0-9]+$" "" suite "${CMAKE_MATCH_1}")
    string(REGEX REPLACE "^.*/" "" suite "${suite}")
    list(APPEND suites ${suite})
  endif()
endforeach()
list(REMOVE_DUPLICATES suites)

# append_test(TEST SUITE ENVIRONMENT ...): appends the commands for one test to `text`.
function(append_test test suite)
  set(filter "${suite}.*:*/${suite}.*:${suite}/*:*/${suite}/*${EXCLUDED}")
  string(APPEND text "add_test(${test} \"${PROGRAM}\" \"--gtest_filter=${filter}\"\n"
    "  \"--gtest_output=xml:${RESULTS}/${test}.xml\")\n"
    "set_tests_properties(${test} PROPERTIES TIMEOUT 1200 LABELS \"suite;${NAME};${LABELS}\"")
  if(ARGN)
    string(APPEND text " ENVIRONMENT \"${ARGN}\"")
  endif()
  if(RUNS)
    string(APPEND text " REQUIRED_FILES \"${RUNS}\"")
  endif()
  if(HEAVY AND suite MATCHES "${HEAVY}")
    string(APPEND text " PROCESSORS 4")
  endif()
  set(text "${text})\n" PARENT_SCOPE)
endfunction()

set(text)
set(max_tests 24)  # of one process; a larger suite is split, so that its parts run in parallel
foreach(suite IN LISTS suites)
  math(EXPR parts "(${count_${suite}} + ${max_tests} - 1) / ${max_tests}")
  if(parts EQUAL 1)
    append_test(${NAME}.${suite} ${suite} ${ENVIRONMENT})
    continue()
  endif()
  foreach(part RANGE 1 ${parts})
    math(EXPR index "${part} - 1")
    append_test(${NAME}.${suite}.${part} ${suite} ${ENVIRONMENT}
      GTEST_TOTAL_SHARDS=${parts} GTEST_SHARD_INDEX=${index})
  endforeach()
endforeach()
file(WRITE ${LIST} "${text}")
