# Unity builds: with LULL_UNITY, the sources of a target are compiled in a few units, each of which
# includes many of them. The compiler then reads their common headers once per unit.
#
# The files of a unit share one unnamed namespace, so files that declare equal names must be in
# different units. This module finds declarations at namespace level by their position: .clang-format
# puts them in column 0. It does not find conflicts between a file and a header of another file; such
# a file needs the property SKIP_UNITY_BUILD_INCLUSION and is compiled alone.
#
# In a build that only checks CUDA code (lull_only_checks_cuda), CUDA sources are compiled in units,
# too: the headers of CUDA and of the standard library take most of the time of a source. In one unit,
# `extern __shared__` variables of one name must have one type.

# lull_unite(TARGET [BYTES]): compiles TARGET in units of up to BYTES (200,000 by default).
function(lull_unite target)
  if(NOT LULL_UNITY)
    return()
  endif()
  set(bytes 200000)
  if(ARGC GREATER 1)
    set(bytes ${ARGV1})
  endif()
  set(extensions cpp)
  if(lull_only_checks_cuda)
    list(APPEND extensions cu)
  endif()
  foreach(extension IN LISTS extensions)
    # The call waits for the end of the folder, when all sources and their properties are known.
    cmake_language(EVAL CODE
      "cmake_language(DEFER CALL lull_make_units ${target} ${extension} ${bytes})")
  endforeach()
endfunction()

# lull_find_names(SOURCE OUT): sets OUT to the names that SOURCE declares at namespace level. The
# patterns also find a few other names, which does no harm.
function(lull_find_names source out)
  file(READ ${source} text)
  string(REGEX REPLACE "[][;]" "@" text "\n${text}")  # characters that lists of CMake treat specially
  string(REGEX REPLACE "__launch_bounds__\\(([^()\n]|\\([^()\n]*\\))*\\)\n? *" "" text "${text}")
  string(REGEX MATCHALL "\n(struct|class|enum|enum class|union|using) [A-Za-z0-9_]+" types "${text}")
  string(REGEX MATCHALL "\n[A-Za-z_][^\n(=@{]*[ *&][A-Za-z0-9_]+ *[(=@{]" others "${text}")
  string(REGEX MATCHALL "\n(inline )?constexpr [^\n]*, [^\n]*" lists "${text}")  # constexpr int a = 1, b = 2;
  string(REGEX MATCHALL "[A-Za-z0-9_]+ =" lists "${lists}")
  list(FILTER others EXCLUDE REGEX "^\n(namespace|using namespace|template|class|struct|enum|union) ")
  list(TRANSFORM others REPLACE " *[(=@{]$" "")
  list(TRANSFORM lists REPLACE " =$" "")
  set(names ${types} ${others} ${lists})
  list(TRANSFORM names REPLACE "^.*[^A-Za-z0-9_]" "")
  list(REMOVE_DUPLICATES names)
  list(REMOVE_ITEM names "" alignas fs hn namespace)  # namespace fs = std::filesystem; may be repeated
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# lull_can_join(UNIT SIZE NAMES OPTIONS BYTES OUT): sets OUT to whether a source of SIZE bytes with
# these names and compile options may join UNIT. The state of UNIT is in the variables unit_*_UNIT of
# the caller.
function(lull_can_join unit size names options bytes out)
  math(EXPR sum "${unit_size_${unit}} + ${size}")
  list(LENGTH names count)
  list(REMOVE_ITEM names ${unit_names_${unit}} "")
  list(LENGTH names count_new)
  if(sum LESS_EQUAL bytes AND count EQUAL count_new AND unit_options_${unit} STREQUAL "${options}")
    set(${out} YES PARENT_SCOPE)
  else()
    set(${out} NO PARENT_SCOPE)
  endif()
endfunction()

# lull_make_units(TARGET EXTENSION BYTES): implements lull_unite for the sources with this extension.
# Sources with different compile options are never in the same unit. Each source joins the first unit
# that has space for it and none of its names.
function(lull_make_units target extension bytes)
  get_target_property(sources ${target} SOURCES)
  set(units)
  foreach(source IN LISTS sources)
    get_property(is_alone SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION)
    if(is_alone OR NOT source MATCHES "\\.${extension}$")
      continue()
    endif()
    get_property(options SOURCE ${source} PROPERTY COMPILE_OPTIONS)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    file(SIZE ${path} size)
    lull_find_names(${path} names)
    unset(chosen)
    foreach(unit IN LISTS units)
      lull_can_join(${unit} ${size} "${names}" "${options}" ${bytes} can_join)
      if(can_join)
        set(chosen ${unit})
        break()
      endif()
    endforeach()
    if(NOT DEFINED chosen)
      list(LENGTH units chosen)
      list(APPEND units ${chosen})
      set(unit_size_${chosen} 0)
      set(unit_options_${chosen} "${options}")
      set(unit_names_${chosen})
      set(unit_sources_${chosen})
      set(unit_text_${chosen})
    endif()
    math(EXPR unit_size_${chosen} "${unit_size_${chosen}} + ${size}")
    list(APPEND unit_names_${chosen} ${names})
    list(APPEND unit_sources_${chosen} ${source})
    string(APPEND unit_text_${chosen} "#include \"${path}\"\n")
  endforeach()
  foreach(unit IN LISTS units)
    list(LENGTH unit_sources_${unit} count)
    if(count GREATER 1)
      set(file ${CMAKE_CURRENT_BINARY_DIR}/units/${target}_${unit}.${extension})
      file(CONFIGURE OUTPUT ${file} CONTENT "${unit_text_${unit}}" @ONLY)
      set_source_files_properties(${unit_sources_${unit}} PROPERTIES HEADER_FILE_ONLY ON)
      # gcc takes the sources of a unit for headers, and warns about types with internal linkage in them.
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS
        "${unit_options_${unit}};$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
      target_sources(${target} PRIVATE ${file})
    endif()
  endforeach()
endfunction()
