# Functions that define targets: a static library for each folder of src, a test program for each
# folder of tests.

include(LullUnits)

# lull_prepare_sources(SOURCE ...): sets the options of sources that Highway compiles once for each
# instruction set. They include themselves, so they are excluded from unity builds. On x86-64 the
# minimum is SSE4, which every CPU since 2011 supports; below it, gcc would need 20 times as long for
# Highway's emulation as for all other instruction sets together. With LULL_SIMD=native the sources are
# compiled once, for the CPU of this machine, and are part of unity builds.
function(lull_prepare_sources)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} includes REGEX "^#include <hwy/foreach_target.h>")
    if(NOT includes)
      continue()
    endif()
    set(options)
    if(LULL_SIMD STREQUAL "native")
      list(APPEND options -march=native)
      if(LULL_SANITIZE)  # the widest vectors take long to compile and find nothing new
        list(APPEND options -mno-avx512f)
      endif()
    else()
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        list(APPEND options -msse4.2 -maes -mpclmul)
      endif()
    endif()
    if(LULL_SANITIZE)  # with sanitizers, gcc needs minutes for such files at -O3
      list(APPEND options -O1)
    endif()
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${options}")
  endforeach()
endfunction()

# lull_limit_optimisation(TARGET LEVEL) compiles TARGET, which has no time-critical code, with LEVEL.
# LULL_QUICK lowers the level to -Og, for which gcc needs a fifth less time than for -O1.
function(lull_limit_optimisation target level)
  if(LULL_QUICK)
    set(level -Og)
  endif()
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:${level}>)
endfunction()

# lull_add_library(NAME SOURCES ... [LINK ...]) defines the target lull_NAME. If the variable
# lull_modules_of names a library, the sources are compiled into that library instead, and lull_NAME
# is an interface to it. The library itself is added after all of its modules.
function(lull_add_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY LULL_LIBRARIES lull_${name})
  if(DEFINED lull_modules_of)
    list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    set_property(GLOBAL APPEND PROPERTY LULL_SOURCES_OF_${lull_modules_of} ${arg_SOURCES})
    if(NOT name STREQUAL lull_modules_of)
      add_library(lull_${name} INTERFACE)
      target_link_libraries(lull_${name} INTERFACE ${arg_LINK})
      return()
    endif()
    get_property(arg_SOURCES GLOBAL PROPERTY LULL_SOURCES_OF_${name})
  endif()
  add_library(lull_${name} STATIC ${arg_SOURCES})
  lull_prepare_sources(${arg_SOURCES})
  lull_unite(lull_${name})
  if(LULL_QUICK AND name MATCHES "^(io|pipeline)$")
    lull_limit_optimisation(lull_${name} -Og)
  elseif(LULL_QUICK)
    target_compile_options(lull_${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O2>)
  endif()
  target_include_directories(lull_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:include/lull>)
  target_compile_features(lull_${name} PUBLIC cxx_std_20)
  target_link_libraries(lull_${name} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:lull_warnings>)
endfunction()

# lull_add_cuda(NAME SOURCE ...): adds sources that require the CUDA toolkit to lull_NAME.
function(lull_add_cuda name)
  target_sources(lull_${name} PRIVATE ${ARGN})
endfunction()

# lull_compile_for_oldest_gpu(SOURCE ...): in builds that check CUDA code and compile it for one
# architecture, these sources are compiled for the oldest one as well. They must include all code that
# depends on __CUDA_ARCH__.
function(lull_compile_for_oldest_gpu)
  if(DEFINED lull_oldest_architecture)
    string(REGEX MATCH "^[0-9]+" number ${lull_oldest_architecture})
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS
      --generate-code=arch=compute_${number},code=[compute_${number}])
  endif()
endfunction()

# lull_use_simd(NAME): sources of lull_NAME use Highway, which compiles them for several instruction
# sets or for one (LULL_SIMD), and oneTBB, which distributes work to the cores.
function(lull_use_simd name)
  # The code stores vectors in arrays, which is impossible for vectors of unknown length.
  set(excluded HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV|HWY_SSSE3)
  if(LULL_SANITIZE AND NOT LULL_SIMD STREQUAL "native")
    string(APPEND excluded |HWY_AVX3|HWY_AVX3_DL)
  endif()
  target_compile_definitions(lull_${name} PRIVATE
    HWY_BROKEN_EMU128=0 "HWY_DISABLED_TARGETS=(${excluded})")
  if(LULL_SIMD STREQUAL "native")
    target_compile_definitions(lull_${name} PRIVATE HWY_COMPILE_ONLY_STATIC)
    target_include_directories(lull_${name} BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/cmake/native)
  endif()
  target_link_libraries(lull_${name} PRIVATE PkgConfig::HWY TBB::tbb)
endfunction()

# lull_add_program(NAME SOURCES ... [LINK ...]) defines the program build/bin/NAME.
function(lull_add_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} lull_warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
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
