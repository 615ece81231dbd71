# cmake -DBUILD=FOLDER -DPREFIX=FOLDER -P install.cmake: installs the build tree BUILD below PREFIX,
# after removing any earlier installation there.

cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}
  COMMAND_ERROR_IS_FATAL ANY)
