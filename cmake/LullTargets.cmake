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
  set(environment)
  if(LULL_SANITIZE STREQUAL "address")
    # Whole stacks, through libraries without frame pointers too, so that few leaks are forgiven.
    set(options suppressions=${PROJECT_SOURCE_DIR}/tests/support/leaks.supp
      print_suppressions=0 fast_unwind_on_malloc=0)
    list(JOIN options ":" options)
    set(environment ENVIRONMENT LSAN_OPTIONS=${options})
  endif()
  gtest_discover_tests(lull_${name}_tests
    TEST_PREFIX "${name}." NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${name};${arg_LABELS}" TIMEOUT 600 ${environment})
endfunction()

# Sets CMAKE_CUDA_ARCHITECTURES to those of LULL_CUDA_ARCHITECTURES that this toolkit knows, the
# newest of them with its PTX, which the driver compiles for GPUs that are newer still.
function(lull_select_cuda_architectures)
  if(LULL_CUDA_ARCHITECTURES MATCHES "^(native|all|all-major)$")
    set(CMAKE_CUDA_ARCHITECTURES ${LULL_CUDA_ARCHITECTURES} PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch
    OUTPUT_VARIABLE known COMMAND_ERROR_IS_FATAL ANY)
  set(chosen)
  foreach(architecture IN LISTS LULL_CUDA_ARCHITECTURES)
    string(REGEX MATCH "^[0-9]+" number ${architecture})
    if(known MATCHES "compute_${number}[^0-9]")
      list(APPEND chosen ${architecture})
    else()
      message(NOTICE "lull: CUDA ${CMAKE_CUDA_COMPILER_VERSION} does not know sm_${number}, left out")
    endif()
  endforeach()
  if(NOT chosen)
    message(FATAL_ERROR "none of LULL_CUDA_ARCHITECTURES = ${LULL_CUDA_ARCHITECTURES} is known to "
      "CUDA ${CMAKE_CUDA_COMPILER_VERSION}")
  endif()
  if(NOT chosen STREQUAL LULL_CUDA_ARCHITECTURES)
    list(POP_BACK chosen newest)
    string(REGEX REPLACE "-real$" "" newest ${newest})
    list(APPEND chosen ${newest})
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${chosen} PARENT_SCOPE)
endfunction()
