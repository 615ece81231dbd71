# One static library for each folder of src, one test program for each folder of tests.

# lull_add_library(NAME SOURCES ... [LINK ...]) makes the target lull_NAME.
function(lull_add_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(lull_${name} STATIC ${arg_SOURCES})
  target_include_directories(lull_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:include/lull>)
  target_compile_features(lull_${name} PUBLIC cxx_std_20)
  target_link_libraries(lull_${name} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:lull_warnings>)
  set_property(GLOBAL APPEND PROPERTY LULL_LIBRARIES lull_${name})
endfunction()

# lull_add_program(NAME SOURCES ... [LINK ...]) makes build/bin/NAME.
function(lull_add_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} lull_warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# lull_add_tests(FOLDER SOURCES ... [LINK ...] [LABELS ...]) makes lull_FOLDER_tests with GoogleTest.
function(lull_add_tests name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;LABELS" ${ARGN})
  lull_add_program(lull_${name}_tests SOURCES ${arg_SOURCES}
    LINK ${arg_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(lull_${name}_tests PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  gtest_discover_tests(lull_${name}_tests
    TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${name};${arg_LABELS}" TIMEOUT 600)
endfunction()
