# Test programs. For ctest, each suite of a program is one test: starting the programs once for each of
# some 2,000 tests would take longer than many of the tests.

# Where test programs write their results, one XML file for each suite (tests/check_skips.py).
set(LULL_TEST_RESULTS ${PROJECT_BINARY_DIR}/Testing/suites)

# lull_set_test_options(TARGET): sets the options that tests are compiled with. The slow code is in the
# libraries, so tests need no optimisation. UBSan is disabled for the tests themselves, because its
# checks would double the time to compile.
function(lull_set_test_options target)
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-O0>)
  if(LULL_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
  endif()
  if(LULL_PCH)
    target_compile_options(${target} PRIVATE -pthread
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)  # required by ccache
    if(NOT target STREQUAL "lull_test_headers")
      target_precompile_headers(${target} REUSE_FROM lull_test_headers)
    endif()
  endif()
  lull_unite(${target} 50000)
endfunction()

# The headers that all tests include are precompiled once, because this takes as long as compiling three
# tests without it. gcc uses them in targets with the same code generation options and the same macros
# as far as the headers depend on them, for example _REENTRANT of -pthread.
if(LULL_PCH)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/test_headers.cpp CONTENT "int main() {}\n")
  lull_add_program(lull_test_headers SOURCES ${PROJECT_BINARY_DIR}/generated/test_headers.cpp
    LINK GTest::gtest GTest::gmock)
  target_compile_features(lull_test_headers PRIVATE cxx_std_20)
  target_precompile_headers(lull_test_headers PRIVATE
    <gmock/gmock.h> <gtest/gtest.h> <algorithm> <filesystem> <fstream> <functional> <thread>)
  lull_set_test_options(lull_test_headers)
endif()

# lull_add_tests(FOLDER SOURCES ... [LINK ...] [RUNS TARGET ...] [LABELS ...] [HEAVY REGEX]) defines the
# program lull_FOLDER_tests with GoogleTest, and one test FOLDER.SUITE for each suite. RUNS names the
# targets that the program starts or loads. Suites whose names match REGEX count as four for `ctest -j`.
function(lull_add_tests name)
  cmake_parse_arguments(arg "" "HEAVY" "SOURCES;LINK;RUNS;LABELS" ${ARGN})
  set(target lull_${name}_tests)
  lull_add_program(${target} SOURCES ${arg_SOURCES}
    LINK ${arg_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  lull_set_test_options(${target})

  # ctest lists these files as REQUIRED_FILES (tests/unchanged.py).
  set(runs)
  foreach(run IN LISTS arg_RUNS)
    list(APPEND runs $<TARGET_FILE:${run}>)
    add_dependencies(${target} ${run})
  endforeach()

  set(environment)
  if(LULL_SANITIZE STREQUAL "address")
    set(suppressions ${PROJECT_SOURCE_DIR}/tests/support/leaks.supp)
    set(environment LSAN_OPTIONS=suppressions=${suppressions}:print_suppressions=0)
  elseif(LULL_SANITIZE STREQUAL "thread")
    set(environment TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/races.supp)
  endif()
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${list} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> -DNAME=${name}
      "-DRUNS=${runs}" "-DLABELS=${arg_LABELS}" "-DENVIRONMENT=${environment}" "-DHEAVY=${arg_HEAVY}"
      "-DEXCLUDED=${LULL_EXCLUDED_TESTS}" -DRESULTS=${LULL_TEST_RESULTS} -DLIST=${list}
      -P ${PROJECT_SOURCE_DIR}/cmake/list_suites.cmake)
  # Until the program is built, a test that fails represents its suites.
  file(WRITE ${list}.first "if(EXISTS \"${list}\")\n  include(\"${list}\")\nelse()\n"
    "  add_test(${name}_NOT_BUILT ${target}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${list}.first)
endfunction()
