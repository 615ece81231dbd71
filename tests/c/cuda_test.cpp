// Frames and results of the C interface in the memory of a GPU.

#include "c/support.h"
#include "cuda/results/result_frames.h"
#include "support/gpu.h"

namespace lull {
namespace {

using namespace lull::test_support;

constexpr int width = 80, height = 64;
const FrameFormat rgb{.width = width, .height = height, .layout = Layout::rgb};

class CCuda : public GpuTest {};

/// Memory of GPU 0 with room for packed RGB.
class DeviceBytes {
 public:
  static constexpr std::size_t bytes = std::size_t{3} * width * height;
  DeviceBytes() : data_(cuda::device_memory(0)->allocate(bytes)) {}
  ~DeviceBytes() { cuda::device_memory(0)->deallocate(data_, bytes); }
  DeviceBytes(const DeviceBytes&) = delete;
  /// Returns the planes as packed RGB, or one after the other.
  lull_frame frame(bool packed) const {
    lull_frame frame{};
    frame.size = sizeof(frame);
    frame.memory = LULL_CUDA;
    auto* at = static_cast<std::byte*>(data_);
    for (int i = 0; i < 3; ++i)
      frame.planes[i] = packed ? lull_plane{at + i, 3 * width, 3}
                               : lull_plane{at + std::ptrdiff_t{i} * width * height, width, 1};
    return frame;
  }
  void set(const std::vector<std::uint8_t>& host) {
    cuda::copy_bytes(data_, host.data(), bytes, 0);
  }
  std::vector<std::uint8_t> get() const {
    std::vector<std::uint8_t> host(bytes);
    cuda::copy_bytes(host.data(), data_, bytes, 0);
    return host;
  }

 private:
  void* data_;
};

std::vector<std::uint8_t> bytes_of(const Frame& frame, bool packed) {
  std::vector<std::uint8_t> bytes(DeviceBytes::bytes);
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        bytes[packed ? static_cast<std::size_t>(3 * (y * width + x) + i)
                     : static_cast<std::size_t>((i * height + y) * width + x)] =
            frame.plane<std::uint8_t>(i)(x, y);
  return bytes;
}

TEST_F(CCuda, EveryPlaceOfFramesAndResultsGivesTheSameBytes) {
  const Frame noisy = noisy_frame(rgb);
  const Settings on_gpu{{"device", "cuda:0"}, {"sigma", "15"}, {"profile", "fast"}};
  const Frame expected =
      denoised_in_c(noisy, open_c_session(c_format(width, height, LULL_RGB), on_gpu));
  EXPECT_FALSE(same_samples(expected, noisy));
  for (const std::int32_t results : {LULL_HOST, LULL_CUDA})
    for (const bool packed : {false, true})
      for (const bool shares : {false, true}) {
        lull_session_options options{};
        options.size = sizeof(options);
        options.result_memory = results;
        const Session session = open_c_session(c_format(width, height, LULL_RGB), on_gpu, &options);
        DeviceBytes in, out;
        in.set(bytes_of(noisy, packed));
        lull_frame from = in.frame(packed), to = out.frame(packed);
        int released = 0;
        from.user = &released;
        if (shares) from.release = [](void* count) { ++*static_cast<int*>(count); };
        ASSERT_EQ(lull_push(session.get(), &from), LULL_OK) << lull_last_error();
        ASSERT_EQ(lull_drain(session.get(), &to), LULL_OK) << lull_last_error();
        EXPECT_EQ(out.get(), bytes_of(expected, packed)) << results << packed << shares;
        const Frame host = make_frame(rgb);
        lull_frame to_host = c_frame(host);
        ASSERT_EQ(lull_drain(session.get(), &to_host), LULL_NONE);
        ASSERT_EQ(lull_push(session.get(), &from), LULL_OK) << lull_last_error();
        ASSERT_EQ(lull_drain(session.get(), &to_host), LULL_OK) << lull_last_error();
        EXPECT_TRUE(same_samples(host, expected)) << results << packed << shares;
      }
}

TEST_F(CCuda, ASessionOnTheCpuTakesFramesOfAGpu) {
  const Frame noisy = noisy_frame(rgb);
  const Session session =
      open_c_session(c_format(width, height, LULL_RGB), {{"sigma", "15"}, {"profile", "fast"}});
  const Frame expected = denoised_in_c(noisy, session);
  DeviceBytes in, out;
  in.set(bytes_of(noisy, true));
  const lull_frame from = in.frame(true);
  lull_frame to = out.frame(false);
  ASSERT_EQ(lull_push(session.get(), &from), LULL_OK) << lull_last_error();
  ASSERT_EQ(lull_drain(session.get(), &to), LULL_OK) << lull_last_error();
  EXPECT_EQ(out.get(), bytes_of(expected, false));
}

TEST_F(CCuda, FramesOfAMissingGpuAreRefusedAndTheSessionGoesOn) {
  const Frame noisy = noisy_frame(rgb);
  const Session session =
      open_c_session(c_format(width, height, LULL_RGB), {{"device", "cuda:0"}, {"sigma", "15"}});
  DeviceBytes in;
  in.set(bytes_of(noisy, false));
  lull_frame frame = in.frame(false);
  frame.device = 1000;
  int released = 0;
  frame.user = &released;
  frame.release = [](void* count) { ++*static_cast<int*>(count); };
  EXPECT_EQ(lull_push(session.get(), &frame), LULL_DEVICE_UNAVAILABLE);
  EXPECT_EQ(released, 1);
  EXPECT_FALSE(same_samples(denoised_in_c(noisy, session), noisy)) << "the session goes on";
}

TEST(CCudaMemory, WithoutAGpuIsRefusedWithAReason) {
  lull_device_info info{};
  info.size = sizeof(info);
  if (lull_get_device(1, &info) == LULL_OK) return;  // the tests above have a GPU
  const Session session = open_c_session(c_format(width, height, LULL_RGB), {{"sigma", "15"}});
  const Frame noisy = noisy_frame(rgb);
  lull_frame frame = c_frame(noisy);
  frame.memory = LULL_CUDA;
  EXPECT_EQ(lull_push(session.get(), &frame), LULL_DEVICE_UNAVAILABLE);
  EXPECT_STRNE(lull_session_error(session.get()), "");
  EXPECT_FALSE(same_samples(denoised_in_c(noisy, session), noisy)) << "the session goes on";
}

}  // namespace
}  // namespace lull
