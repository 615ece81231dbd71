# Functions that define targets: a static library for each folder of src, a test program for each
# folder of tests.

# lull_unite(TARGET): with LULL_UNITY, up to 16 sources of the target are compiled as one, so that
# headers are read only once. Sources for nvcc are compiled separately.
function(lull_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${LULL_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# lull_prepare_sources(SOURCE ...): sets the options of sources that Highway compiles once for each
# instruction set. They include themselves, so they are excluded from unity builds. On x86-64 the
# minimum is SSE4, which every CPU since 2011 supports; below it, gcc would need 20 times as long for
# Highway's emulation as for all other instruction sets together.
function(lull_prepare_sources)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} includes REGEX "^#include <hwy/foreach_target.h>")
    if(NOT includes)
      continue()
    endif()
    set(options)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      list(APPEND options -msse4.2 -maes -mpclmul)
    endif()
    if(LULL_SANITIZE)  # with sanitizers, gcc needs minutes for such files at -O3
      list(APPEND options -O1)
    endif()
    set_source_files_properties(${source} PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS "${options}")
  endforeach()
endfunction()

# lull_add_library(NAME SOURCES ... [LINK ...]) defines the target lull_NAME.
function(lull_add_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(lull_${name} STATIC ${arg_SOURCES})
  lull_prepare_sources(${arg_SOURCES})
  lull_unite(lull_${name})
  target_include_directories(lull_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:include/lull>)
  target_compile_features(lull_${name} PUBLIC cxx_std_20)
  target_link_libraries(lull_${name} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:lull_warnings>)
  set_property(GLOBAL APPEND PROPERTY LULL_LIBRARIES lull_${name})
endfunction()

# lull_add_cuda(NAME SOURCE ...): adds sources that require the CUDA toolkit to lull_NAME. They are
# excluded from unity builds, so that these are the same with and without CUDA.
function(lull_add_cuda name)
  target_sources(lull_${name} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# lull_use_simd(NAME): sources of lull_NAME use Highway, which compiles them for several instruction
# sets, and oneTBB, which distributes work to the cores.
function(lull_use_simd name)
  # The code stores vectors in arrays, which is impossible for vectors of unknown length. With
  # sanitizers the widest vectors are excluded: they take long to compile and find nothing new.
  set(excluded HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV|HWY_SSSE3)
  if(LULL_SANITIZE)
    string(APPEND excluded |HWY_AVX3|HWY_AVX3_DL)
  endif()
  target_compile_definitions(lull_${name} PRIVATE
    HWY_BROKEN_EMU128=0 "HWY_DISABLED_TARGETS=(${excluded})")
  target_link_libraries(lull_${name} PRIVATE PkgConfig::HWY TBB::tbb)
endfunction()

# lull_add_program(NAME SOURCES ... [LINK ...]) defines the program build/bin/NAME.
function(lull_add_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} lull_warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# lull_add_tests(FOLDER SOURCES ... [LINK ...] [LABELS ...] [HEAVY FILTER]) defines the program
# lull_FOLDER_tests with GoogleTest. Each test that FILTER selects counts as four for `ctest -j`.
function(lull_add_tests name)
  cmake_parse_arguments(arg "" "HEAVY" "SOURCES;LINK;LABELS" ${ARGN})
  lull_add_program(lull_${name}_tests SOURCES ${arg_SOURCES}
    LINK ${arg_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(lull_${name}_tests PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  # The slow code is in the libraries, so tests need little optimisation. UBSan is disabled for the
  # tests themselves, because its checks would double the time to compile.
  target_compile_options(lull_${name}_tests PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-O1>)
  if(LULL_SANITIZE STREQUAL "address")
    target_compile_options(lull_${name}_tests PRIVATE -fno-sanitize=undefined)
  endif()
  if(LULL_PCH)
    target_precompile_headers(lull_${name}_tests PRIVATE
      <gmock/gmock.h> <gtest/gtest.h> <algorithm> <filesystem> <fstream> <functional> <thread>)
    target_compile_options(lull_${name}_tests PRIVATE  # required by ccache
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  endif()
  set(environment)
  if(LULL_SANITIZE STREQUAL "address")
    set(suppressions ${PROJECT_SOURCE_DIR}/tests/support/leaks.supp)
    set(environment ENVIRONMENT LSAN_OPTIONS=suppressions=${suppressions}:print_suppressions=0)
  elseif(LULL_SANITIZE STREQUAL "thread")
    set(environment ENVIRONMENT
      TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/races.supp)
  endif()
  set(common TEST_PREFIX "${name}." NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60)
  set(properties PROPERTIES LABELS "${name};${arg_LABELS}" TIMEOUT 600 ${environment})
  if(arg_HEAVY)
    gtest_discover_tests(lull_${name}_tests ${common} TEST_FILTER "-${arg_HEAVY}" ${properties})
    gtest_discover_tests(lull_${name}_tests ${common} TEST_FILTER "${arg_HEAVY}"
      ${properties} PROCESSORS 4)
  else()
    gtest_discover_tests(lull_${name}_tests ${common} ${properties})
  endif()
endfunction()

# Sets CMAKE_CUDA_ARCHITECTURES to those of LULL_CUDA_ARCHITECTURES that this toolkit supports. The
# newest of them includes PTX, which the driver compiles for newer GPUs.
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
      message(NOTICE "lull: CUDA ${CMAKE_CUDA_COMPILER_VERSION} does not support sm_${number}, which is skipped")
    endif()
  endforeach()
  if(NOT chosen)
    message(FATAL_ERROR "CUDA ${CMAKE_CUDA_COMPILER_VERSION} supports none of LULL_CUDA_ARCHITECTURES = "
      "${LULL_CUDA_ARCHITECTURES}")
  endif()
  if(NOT chosen STREQUAL LULL_CUDA_ARCHITECTURES)
    list(POP_BACK chosen newest)
    string(REGEX REPLACE "-real$" "" newest ${newest})
    list(APPEND chosen ${newest})
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${chosen} PARENT_SCOPE)
endfunction()
