# Installation: the command, the libraries, the public headers, the package for find_package(lull),
# whose target is lull::lull, and lull-cxx.pc for pkg-config. The components are: command, library (the
# shared C library), development, python, vapoursynth, gstreamer, mlt.

include(CMakePackageConfigHelpers)

file(GLOB core_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src
  ${PROJECT_SOURCE_DIR}/src/core/*.h
  ${PROJECT_SOURCE_DIR}/src/core/params/*.h)
set(LULL_PUBLIC_HEADERS
  ${core_headers}
  bm3d/bm3d.h
  bm3d/params.h
  bm4d/bm4d.h
  bm4d/params.h
  burst/burst.h
  choose/choose.h
  core/dither/dither.h
  cuda/device_list.h
  io/access.h
  io/frame_index.h
  io/jobs.h
  io/layers.h
  io/media.h
  io/media_source.h
  io/picture.h
  io/probe.h
  match/match_params.h
  match/patch_shape.h
  nlm/nlm.h
  nlm/params.h
  noise/depth/depth_scale.h
  noise/depth/vst_depth.h
  noise/estimate/clipped_noise.h
  noise/estimate/estimate.h
  noise/grain/collector.h
  noise/grain/grain_table.h
  noise/grain/statistics.h
  noise/holes.h
  noise/noise_model.h
  noise/render/features.h
  noise/render/light.h
  noise/volume/cube_statistics.h
  noise/volume/estimate_volume.h
  noise/volume/vst_volume.h
  noise/volume/photon_noise.h
  noise/volume/volume_noise.h
  pipeline/bounded_queue.h
  pipeline/observed_denoiser.h
  pipeline/part_denoiser.h
  pipeline/run.h
  pipeline/scale_denoiser.h
  pipeline/scene_denoiser.h
  pipeline/sharded_denoiser.h
  scale/enlarger.h
  time/frames.h)

# One target for all libraries of src. The libraries of tools, which tests use, are not installed.
get_property(libraries GLOBAL PROPERTY LULL_LIBRARIES)
set(lull_src ${PROJECT_SOURCE_DIR}/src)
foreach(library IN LISTS libraries)
  get_target_property(folder ${library} SOURCE_DIR)
  cmake_path(IS_PREFIX lull_src ${folder} is_in_src)
  if(NOT is_in_src)
    list(REMOVE_ITEM libraries ${library})
  endif()
endforeach()
add_library(lull_all INTERFACE)
add_library(lull::lull ALIAS lull_all)
target_link_libraries(lull_all INTERFACE ${libraries})
set_target_properties(lull_all PROPERTIES EXPORT_NAME lull)

install(TARGETS lull_all ${libraries} EXPORT lull_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lull)
install(EXPORT lull_targets NAMESPACE lull:: FILE lullTargets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lull COMPONENT development)
foreach(header IN LISTS LULL_PUBLIC_HEADERS)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lull/${folder} COMPONENT development)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/generated/core/version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lull/core COMPONENT development)

configure_package_config_file(cmake/lullConfig.cmake.in ${PROJECT_BINARY_DIR}/lullConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lull)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lullConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lullConfig.cmake ${PROJECT_BINARY_DIR}/lullConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lull COMPONENT development)

# The static libraries need each other in both directions.
set(flags)
foreach(library IN LISTS libraries)
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    string(APPEND flags " -l${library}")
  endif()
endforeach()
set(LULL_PC_LIBRARIES "-Wl,--start-group${flags} -Wl,--end-group")
set(LULL_PC_REQUIRES "libavformat libavcodec libavutil libswscale libtiff-4 OpenEXR zlib libhwy tbb")
if(LULL_EXIV2)
  string(APPEND LULL_PC_REQUIRES " exiv2")
endif()
if(LULL_RAW)
  string(APPEND LULL_PC_REQUIRES " libraw_r")
endif()
if(LULL_BLOSC)
  string(APPEND LULL_PC_REQUIRES " blosc libzstd")
endif()
set(LULL_PC_PRIVATE "-pthread")
if(LULL_DICOM)
  string(APPEND LULL_PC_PRIVATE " -ldcmjpls -ldcmtkcharls -ldcmjpeg -lijg8 -lijg12 -lijg16 -ldcmimage -ldcmimgle -ldcmdata -loflog -lofstd")
endif()
if(LULL_CUDA)
  string(APPEND LULL_PC_PRIVATE " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
# The path from the folder of lull-cxx.pc to the prefix, so that an installation can be moved.
set(lull_cxx_pc_folder ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${lull_cxx_pc_folder}
  OUTPUT_VARIABLE lull_cxx_pc_prefix)
configure_file(cmake/lull-cxx.pc.in ${PROJECT_BINARY_DIR}/lull-cxx.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lull-cxx.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
if(TARGET lull)
  install(TARGETS lull RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  ${PROJECT_SOURCE_DIR}/docs/progress.schema.json
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
