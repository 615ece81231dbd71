# Builds the project SAMPLES with the lull installed below PREFIX, and denoises a picture with it.

cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
run(${CMAKE_COMMAND} -S ${SAMPLES} -B ${SCRATCH}/build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_PREFIX_PATH=${PREFIX};${PREFIXES}")
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)

# A grey picture of 32x24 pixels: a ramp with a disturbance that filtering must change.
set(pixels "")
foreach(y RANGE 23)
  foreach(x RANGE 31)
    math(EXPR value "40 + 4 * ${x} + (${x} * 7919 + ${y} * 104729 + ${x} * ${y} * 31) % 61")
    string(APPEND pixels "${value} ")
  endforeach()
  string(APPEND pixels "\n")
endforeach()
file(WRITE ${SCRATCH}/in.pgm "P2\n32 24\n255\n${pixels}")
run(${SCRATCH}/build/minimal ${SCRATCH}/in.pgm ${SCRATCH}/out.pgm 20)
run(${SCRATCH}/build/minimal ${SCRATCH}/in.pgm ${SCRATCH}/same.pgm 0)
file(SHA256 ${SCRATCH}/out.pgm out)
file(SHA256 ${SCRATCH}/same.pgm same)
if(out STREQUAL same)
  message(FATAL_ERROR "sigma 20 and sigma 0 gave the same picture")
endif()

# The same program without CMake, with what lull-cxx.pc states.
file(GLOB_RECURSE pc ${PREFIX}/lib/*/lull-cxx.pc ${PREFIX}/lib*/lull-cxx.pc)
list(GET pc 0 pc)
cmake_path(GET pc PARENT_PATH folder)
list(TRANSFORM PREFIXES APPEND /lib/pkgconfig OUTPUT_VARIABLE folders)
list(JOIN folders ":" folders)
set(ENV{PKG_CONFIG_PATH} "${folder}:${folders}:$ENV{PKG_CONFIG_PATH}")
execute_process(COMMAND pkg-config --cflags --libs lull-cxx OUTPUT_VARIABLE flags
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${CXX} -std=c++20 ${SAMPLES}/minimal.cpp -o ${SCRATCH}/with_pkg_config ${flags})
run(${SCRATCH}/with_pkg_config ${SCRATCH}/in.pgm ${SCRATCH}/again.pgm 20)
file(SHA256 ${SCRATCH}/again.pgm again)
if(NOT again STREQUAL out)
  message(FATAL_ERROR "the programs built with CMake and with pkg-config gave different pictures")
endif()

run(${PREFIX}/bin/lull --version)

# The C library gives the bytes of the command: through lull::c, through find_package without any
# other package, and through pkg-config.
set(picture ${SCRATCH}/same.pgm)  # binary
run(${PREFIX}/bin/lull ${picture} ${SCRATCH}/expected.pgm --sigma 20 --quiet)
file(SHA256 ${SCRATCH}/expected.pgm expected)
function(check_c_program program)
  run(${program} ${picture} ${SCRATCH}/from_c.pgm 20)
  file(SHA256 ${SCRATCH}/from_c.pgm found)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${program} gives another picture than the command")
  endif()
endfunction()
check_c_program(${SCRATCH}/build/denoise)
file(WRITE ${SCRATCH}/sixteen_bits.pgm "P5\n4 4\n65535\n0123456789abcdef0123456789abcdef")
execute_process(COMMAND ${SCRATCH}/build/denoise ${SCRATCH}/sixteen_bits.pgm ${SCRATCH}/from_c.pgm 20
  RESULT_VARIABLE code)
if(NOT code EQUAL 2)
  message(FATAL_ERROR "the sample denoise accepts a picture with 16 bits (exit code ${code})")
endif()
file(WRITE ${SCRATCH}/only_c/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(only_c LANGUAGES C)
find_package(lull REQUIRED COMPONENTS c)
add_executable(denoise ${SAMPLES}/denoise.c)
target_link_libraries(denoise PRIVATE lull::c)
if(TARGET lull::lull)
  message(FATAL_ERROR \"the component c also finds the libraries of C++\")
endif()
")
run(${CMAKE_COMMAND} -S ${SCRATCH}/only_c -B ${SCRATCH}/only_c/build -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${PREFIX})
run(${CMAKE_COMMAND} --build ${SCRATCH}/only_c/build)
check_c_program(${SCRATCH}/only_c/build/denoise)
set(ENV{PKG_CONFIG_PATH} ${PREFIX}/${LIBDIR}/pkgconfig)
execute_process(COMMAND pkg-config --cflags --libs lull
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(cc ${SAMPLES}/denoise.c -o ${SCRATCH}/by_pkg_config ${flags} -Wl,-rpath,${PREFIX}/${LIBDIR})
check_c_program(${SCRATCH}/by_pkg_config)
foreach(file man/man1/lull.1 bash-completion/completions/lull zsh/site-functions/_lull)
  file(SIZE ${PREFIX}/share/${file} size)
  if(size EQUAL 0)
    message(FATAL_ERROR "${file} is empty")
  endif()
endforeach()
