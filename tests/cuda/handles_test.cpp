#include "cuda/handles.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/frame_pool.h"
#include "cuda/device_list.h"
#include "cuda/pinned_memory.h"
#include "cuda/results/result_frames.h"
#include "support/gpu.h"

namespace lull::cuda {
namespace {

TEST(Check, DistinguishesDeviceFailuresFromInternalErrors) {
  EXPECT_NO_THROW(check(cudaSuccess));
  EXPECT_THROW(check(cudaErrorMemoryAllocation), DeviceUnavailable);
  for (const cudaError_t missing :
       {cudaErrorInsufficientDriver, cudaErrorJitCompilerNotFound, cudaErrorMpsMaxClientsReached,
        cudaErrorMpsMaxConnectionsReached, cudaErrorSystemDriverMismatch})
    EXPECT_THROW(check(missing), DeviceUnavailable);
  EXPECT_THROW(check(cudaErrorInvalidValue), InternalError);
  for (const cudaError_t broken :
       {cudaErrorLaunchFailure, cudaErrorIllegalAddress, cudaErrorECCUncorrectable,
        cudaErrorMpsClientTerminated, cudaErrorUnknown})
    EXPECT_THROW(check(broken), DeviceFailure);
}

TEST(Check, NamesTheSourceLocation) {
  try {
    check(cudaErrorInvalidValue);
    FAIL() << "it should have thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::strstr(error.what(), "handles_test.cpp:"), nullptr) << error.what();
    EXPECT_EQ(std::strchr(error.what(), '\n'), nullptr);
  }
}

using CudaHandles = test_support::GpuTest;

TEST_F(CudaHandles, FailedAllocationThrowsAndClearsTheError) {
  EXPECT_THROW(DeviceBuffer<char>(std::size_t{1} << 50), DeviceUnavailable);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the next call must not see it";
}

TEST_F(CudaHandles, FramesInPinnedMemorySurviveRoundTrip) {
  FramePool pool({.width = 37, .height = 11}, pinned_memory());
  const Frame out = pool.acquire(), back = pool.acquire();
  for (int y = 0; y < 11; ++y)
    for (int x = 0; x < 37; ++x) out.planes[0](x, y) = static_cast<std::byte>(7 * x + y);
  const Stream stream = make_stream();
  const Event done = make_event();
  const DeviceBuffer<std::byte> device(64 * 11);
  const auto &from = out.planes[0], &to = back.planes[0];
  check(cudaMemcpy2DAsync(device.get(), 64, from.data, from.stride, 37, 11, cudaMemcpyHostToDevice,
                          stream.get()));
  check(cudaMemcpy2DAsync(to.data, to.stride, device.get(), 64, 37, 11, cudaMemcpyDeviceToHost,
                          stream.get()));
  check(cudaEventRecord(done.get(), stream.get()));
  check(cudaEventSynchronize(done.get()));
  for (int y = 0; y < 11; ++y) EXPECT_EQ(std::memcmp(from.row(y), to.row(y), 37), 0) << y;
}

/// Writes frames of three sizes in turn and checks that each holds only its own data, in
/// page-locked memory.
void fill_and_check(int min_height) {
  std::vector<Frame> frames;
  std::vector<FramePool> pools;
  for (int k = 0; k < 3; ++k)
    pools.emplace_back(FrameFormat{.width = 1920, .height = min_height + 500 * k}, pinned_memory());
  for (int i = 0; i < 36; ++i) {
    frames.push_back(pools[i % pools.size()].acquire());
    const auto& plane = frames.back().planes[0];
    for (int y = 0; y < plane.height; ++y) std::memset(plane.row(y), i, plane.width);
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, plane.data));
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost) << i;
  }
  for (int i = 0; i < 36; ++i)
    for (int y = 0; y < frames[i].planes[0].height; ++y)
      for (int x = 0; x < 1920; ++x)
        ASSERT_EQ(frames[i].planes[0](x, y), std::byte(i)) << i << ": " << x << ", " << y;
}

TEST_F(CudaHandles, LargeFramesDoNotOverlapInPinnedMemory) {
  std::jthread concurrent([] { fill_and_check(650); });
  fill_and_check(700);
}

TEST_F(CudaHandles, ScopeRestoresTheDevice) {
  int before = -1, after = -1;
  check(cudaGetDevice(&before));
  { const DeviceScope scope(0); }
  check(cudaGetDevice(&after));
  EXPECT_EQ(before, after);
  EXPECT_THROW(DeviceScope(1000), DeviceUnavailable);
}

/// Functions of the CUDA driver, which tests load at run time as the library does.
template <class Function>
Function driver_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(dlopen("libcuda.so.1", RTLD_LAZY), name));
}

TEST_F(CudaHandles, ScopeRestoresAContextOfAnotherLibrary) {
  const auto create = driver_function<int (*)(CUctx_st**, unsigned, int)>("cuCtxCreate_v2");
  const auto current = driver_function<int (*)(CUctx_st**)>("cuCtxGetCurrent");
  const auto destroy = driver_function<int (*)(CUctx_st*)>("cuCtxDestroy_v2");
  CUctx_st *own = nullptr, *after = nullptr;
  ASSERT_EQ(create(&own, 0, 0), 0);
  {
    const DeviceScope scope(0);
    const DeviceBuffer<char> memory(1);
    ASSERT_EQ(current(&after), 0);
    EXPECT_NE(after, own) << "the runtime has its own context";
  }
  ASSERT_EQ(current(&after), 0);
  EXPECT_EQ(after, own);
  EXPECT_EQ(destroy(own), 0);
}

bool has_context(int device) {
  unsigned flags = 0;
  int active = 0;
  (void)driver_function<int (*)(int, unsigned*, int*)>("cuDevicePrimaryCtxGetState")(device, &flags,
                                                                                     &active);
  return active != 0;
}

/// Uses GPU 1 on two threads. Returns whether GPU 0 has a context then.
bool takes_memory_of_another_device() {
  { const DeviceScope scope(1); }
  lock_pages_with(1);
  std::jthread([] {
    for (std::pmr::memory_resource* const memory : {pinned_memory(), device_memory(1)})
      for (const std::size_t bytes : {std::size_t{64}, std::size_t{4} << 20})
        memory->deallocate(memory->allocate(bytes), bytes);
  }).join();
  return has_context(0);
}

// A context takes hundreds of megabytes of GPU memory, and other programs may have taken them all.
TEST_F(CudaHandles, WorkOnADeviceCreatesNoContextOnOtherDevices) {
  if (list_devices().devices.size() < 2) GTEST_SKIP() << "fewer than two GPUs";
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // CUDA does not survive a fork
  EXPECT_EXIT(std::exit(takes_memory_of_another_device() ? 1 : 0), ::testing::ExitedWithCode(0),
              "");
}

}  // namespace
}  // namespace lull::cuda
