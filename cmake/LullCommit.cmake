# cmake -DSOURCE=FOLDER -DCOMMIT=TEXT -DHEADER=FILE -P LullCommit.cmake: writes the commit of the
# sources into a header, unless the header states it already. COMMIT, if not empty, replaces the
# commit that git reports, for builds from archives. (--git-dir: an archive may be unpacked in the
# repository of another project, whose commit says nothing about lull.)
if(NOT COMMIT)
  execute_process(COMMAND git -C ${SOURCE} --git-dir=.git describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    set(COMMIT "unknown")
  endif()
endif()
set(text "#pragma once\nnamespace lull {\ninline constexpr char commit[] = \"${COMMIT}\";\n}\n")
set(before "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${HEADER} "${text}")
endif()
