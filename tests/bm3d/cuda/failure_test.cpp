// Tests a GPU that fails in the middle of a job: no thread hangs, no wrong frame is returned, and
// the error is a device failure. Each test fails in its own process.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "pipeline/sharded_denoiser.h"
#include "support/broken_device.h"
#include "support/gpu.h"
#include "support/pictures.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;
using ::testing::ExitedWithCode;

constexpr FrameFormat format{.width = 96, .height = 64};
constexpr int frames = 24, breaks_at = 9;
constexpr int good = 0, wrong = 1, failed = 75;

/// Returns a frame in page-locked memory, like a frame of a source.
Frame noisy_frame(FramePool& pool, int number) {
  Frame frame = pool.acquire();
  store_plane(with_noise(texture_picture(96, 64).view(), 20, 100 + number).view(), frame, 0);
  return frame;
}

std::unique_ptr<Denoiser> open_session(const Backend& backend) {
  return open(make_params(Profile::fast, {20, 20, 20}), format, backend);
}

std::unique_ptr<Denoiser> open_cpu(const DeviceFailure&) {
  return open_session({.kind = BackendKind::cpu, .threads = 1});
}

std::vector<Frame> filter(Denoiser& denoiser, int breaks = -1, int device = 0) {
  FramePool pool(format, frame_memory({.kind = BackendKind::cuda}));
  std::vector<Frame> held, results;  // each frame takes new memory, on a failed device too
  for (int n = 0; n < frames; ++n) {
    if (n == breaks) break_device(device);
    held.push_back(noisy_frame(pool, n));
    if (auto ready = denoiser.push(held.back())) results.push_back(*std::move(ready));
  }
  while (auto ready = denoiser.drain()) results.push_back(*std::move(ready));
  return results;
}

/// Runs a job on `gpus` GPUs. The last GPU fails. `replace` may be empty.
int job(int gpus, const decltype(pipeline::ShardOptions::replace)& replace) {
  ::alarm(100);  // the alarm kills a process that hangs
  const Backend first{.kind = BackendKind::cuda, .device = 0};
  const std::vector<Frame> on_gpu = filter(*open_session(first));
  const std::vector<Frame> on_cpu = filter(*open_cpu(DeviceFailure("")));
  try {
    std::vector<std::unique_ptr<Denoiser>> sessions;
    for (int i = 0; i < gpus; ++i)
      sessions.push_back(open_session({.kind = BackendKind::cuda, .device = i}));
    const auto denoiser = gpus == 1 && !replace
                              ? std::move(sessions.front())
                              : pipeline::shard(std::move(sessions), {.replace = replace});
    const std::vector<Frame> results = filter(*denoiser, breaks_at, gpus - 1);
    if (results.size() != frames) return wrong;
    for (int n = 0; n < frames; ++n) {
      const bool gpu = same_samples(results[n], on_gpu[n]),
                 cpu = same_samples(results[n], on_cpu[n]);
      if (!gpu && !(replace && cpu)) return wrong;
    }
    return good;
  } catch (const DeviceFailure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return failed;
  }
}

class BrokenDevice : public GpuTest {
 protected:
  void SetUp() override {
    // The child process starts anew because CUDA does not survive a fork.
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    GpuTest::SetUp();
  }
};

TEST_F(BrokenDevice, FailureEndsTheJob) {
  EXPECT_EXIT(std::exit(job(1, {})), ExitedWithCode(failed),
              "^cuda:0 failed \\(CUDA: .*\\); run the job again\n$");
}

TEST_F(BrokenDevice, CpuContinuesAfterFailure) {
  EXPECT_EXIT(std::exit(job(1, open_cpu)), ExitedWithCode(good), "");
}

// After a kernel has failed, CUDA is unusable in the whole process. If the failure affects only one
// GPU, the other GPU filters the remaining frames.
TEST_F(BrokenDevice, JobOnTwoDevicesEndsWithoutWrongFrames) {
  if (cuda::list_devices().devices.size() < 2) GTEST_SKIP() << "fewer than two GPUs";
  const auto ends_well = [](int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == good || WEXITSTATUS(status) == failed);
  };
  EXPECT_EXIT(std::exit(job(2, {})), ends_well, "");
  EXPECT_EXIT(std::exit(job(2, open_cpu)), ExitedWithCode(good), "");
}

}  // namespace
}  // namespace lull::bm3d
