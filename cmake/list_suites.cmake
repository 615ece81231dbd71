# cmake -DPROGRAM=... -DNAME=... -DLIST=... [...] -P list_suites.cmake: writes a test for each suite of
# a test program into LIST, as commands for ctest. The suites of a parameterised test
# (`Instance/Suite`, `Suite/0`) form one test.
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
string(REGEX MATCHALL "\n[^ \n#][^ \n]*\\.[ \n]" suites "${output}")
list(TRANSFORM suites STRIP)
list(TRANSFORM suites REPLACE "\\.$" "")
list(TRANSFORM suites REPLACE "/[0-9]+$" "")
list(TRANSFORM suites REPLACE "^.*/" "")
list(REMOVE_DUPLICATES suites)

set(text)
foreach(suite IN LISTS suites)
  set(test "${NAME}.${suite}")
  set(filter "${suite}.*:*/${suite}.*:${suite}/*:*/${suite}/*${EXCLUDED}")
  string(APPEND text "add_test(${test} \"${PROGRAM}\" \"--gtest_filter=${filter}\"\n"
    "  \"--gtest_output=xml:${RESULTS}/${test}.xml\")\n"
    "set_tests_properties(${test} PROPERTIES TIMEOUT 1200 LABELS \"suite;${NAME};${LABELS}\"")
  if(ENVIRONMENT)
    string(APPEND text " ENVIRONMENT \"${ENVIRONMENT}\"")
  endif()
  if(HEAVY AND suite MATCHES "${HEAVY}")
    string(APPEND text " PROCESSORS 4")
  endif()
  string(APPEND text ")\n")
endforeach()
file(WRITE ${LIST} "${text}")
