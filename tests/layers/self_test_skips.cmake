# cmake -DSCRATCH=FOLDER -P self_test_skips.cmake: check_skips.py must accept the skipped tests
# that allowed_skips.txt allows, in a report of ctest, and no others.

cmake_minimum_required(VERSION 3.25)
set(tests ${CMAKE_CURRENT_LIST_DIR}/..)

# judge(PASSES TEST REASON): checks a report in which this test was skipped for this reason.
function(judge passes test reason)
  file(WRITE ${SCRATCH}/tests.xml "<testsuite>
    <testcase name=\"io.Runs\" status=\"run\"><system-out>[ OK ]</system-out></testcase>
    <testcase name=\"${test}\" status=\"notrun\"><skipped message=\"SKIP_REGULAR_EXPRESSION_MATCHED\"/>
      <system-out>/a/b_test.cpp:12: Skipped\n${reason}\n\n[  SKIPPED ] ${test} (0 ms)</system-out>
    </testcase></testsuite>")
  execute_process(COMMAND python3 ${tests}/check_skips.py ${SCRATCH}/tests.xml
      ${tests}/allowed_skips.txt
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(passes AND NOT result EQUAL 0 OR NOT passes AND NOT result EQUAL 1 OR
     NOT text MATCHES "${reason}")
    message(SEND_ERROR "${test}, ${reason}: ${result}\n${text}")
  endif()
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
