# cmake -DBUILD=FOLDER -DPREFIX=FOLDER -DMLT_PREFIX=FOLDER -DMODULES=FOLDER -P check_install.cmake:
# installs the filter below PREFIX, and checks that with the prefix of MLT it would be in MODULES.

cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --component mlt --prefix ${PREFIX}
  COMMAND_ERROR_IS_FATAL ANY)
cmake_path(RELATIVE_PATH MODULES BASE_DIRECTORY ${MLT_PREFIX})
if(NOT EXISTS ${PREFIX}/${MODULES}/libmltlull.so)
  message(FATAL_ERROR "no libmltlull.so in ${PREFIX}/${MODULES}")
endif()
