# cmake -DSCRATCH=FOLDER -P self_test_skips.cmake: check_skips.py must accept the skipped tests
# that allowed_skips.txt allows, in reports of ctest and of GoogleTest, and no others.

cmake_minimum_required(VERSION 3.25)
set(tests ${CMAKE_CURRENT_LIST_DIR}/..)

# expect(CODE TEXT NAME): checks exit code and output of check_skips.py for the reports in SCRATCH.
function(expect code expected name)
  execute_process(COMMAND python3 ${tests}/check_skips.py ${SCRATCH}/tests.xml
      ${tests}/allowed_skips.txt ${SCRATCH}
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT result EQUAL code OR NOT text MATCHES "${expected}")
    message(SEND_ERROR "${name}: exit code ${result}, expected ${code} and ${expected}\n${text}")
  endif()
endfunction()

# judge(PASSES TEST REASON): checks two reports in which this test was skipped for this reason: as a
# test of ctest and as a test of a GoogleTest suite.
function(judge passes test reason)
  set(code 1)
  if(passes)
    set(code 0)
  endif()
  file(WRITE ${SCRATCH}/tests.xml "<testsuite>
    <testcase name=\"layers.sizes\" status=\"run\"><system-out>fine</system-out></testcase>
    <testcase name=\"${test}\" status=\"notrun\"><skipped message=\"SKIP_REGULAR_EXPRESSION_MATCHED\"/>
      <system-out>/a/b_test.cpp:12: Skipped\n${reason}\n\n[  SKIPPED ] ${test} (0 ms)</system-out>
    </testcase></testsuite>")
  expect(${code} "${reason}" "${test}, ${reason}")

  string(REGEX MATCH "^([a-z0-9_]+)\\.(.*)\\.([^.]+)$" matched "${test}")
  write_run(${CMAKE_MATCH_1}.Any)
  file(WRITE ${SCRATCH}/${CMAKE_MATCH_1}.Any.xml "<testsuites><testsuite>
    <testcase name=\"Runs\" status=\"run\" result=\"completed\" classname=\"Any\"/>
    <testcase name=\"${CMAKE_MATCH_3}\" status=\"run\" result=\"skipped\" classname=\"${CMAKE_MATCH_2}\">
      <skipped message=\"/a/b_test.cpp:12&#x0A;${reason}\"><![CDATA[...]]></skipped>
    </testcase></testsuite></testsuites>")
  expect(${code} "2 tests, of which 1 were skipped.*${reason}" "suite of ${test}, ${reason}")
endfunction()

# write_run(SUITE): ctest's report of a suite that passed.
function(write_run suite)
  file(WRITE ${SCRATCH}/tests.xml "<testsuite><testcase name=\"${suite}\" status=\"run\">
    <properties><property name=\"cmake_labels\" value=\"suite;io\"/></properties>
    <system-out>[ OK ]</system-out></testcase></testsuite>")
endfunction()

unset(ENV{LULL_SKIPS_GPU})
judge(YES tools.Hwaccel/HwaccelOn.GivesTheBytesOfTheCpuDecoder/h264 "no GPU: built without CUDA")
judge(YES bm3d.All/EachBackend.AnySize/cuda "no cuda backend .lull was built without CUDA.")
judge(YES tools.Stacks.RealHead "LULL_TEST_DATA is not set; the made volumes are tested above")
judge(YES io.Segments/vp9 "no encoder libvpx-vp9")
judge(YES tools.MemoryLimit.EstimateIsNearTheRealUse "sanitizers keep memory of their own")
judge(NO io.Sequences/exr "no encoder exr")
judge(NO io.Losses.All "no ffprobe to ask")
judge(NO tools.Stacks.Nifti "python3 has no nibabel")
judge(NO tools.Any "root may write everywhere")
set(ENV{LULL_SKIPS_GPU} 0)
judge(NO cuda.GpuTest.Any "no GPU: the driver is broken")

file(REMOVE_RECURSE ${SCRATCH})
write_run(io.Decoding)
expect(1 "no results of io.Decoding" "a program that ended early")
file(REMOVE_RECURSE ${SCRATCH})
