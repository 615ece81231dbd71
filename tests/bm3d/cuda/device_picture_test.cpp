// Tests that frames in GPU memory, as a decoder leaves them, give the same bytes as equal frames in
// host memory.

#include <gtest/gtest.h>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "cuda/handles.h"
#include "support/device.h"
#include "support/gpu.h"
#include "support/pictures.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

class CudaDevicePicture : public GpuTest {};

FrameFormat yuv(int width, int height, int shift, int bits) {
  return {.width = width,
          .height = height,
          .layout = Layout::yuv,
          .sample = bits == 8 ? SampleType::u8 : SampleType::u16,
          .bits = bits,
          .chroma_shift_x = shift,
          .chroma_shift_y = shift};
}

Frame noisy_frame(const FrameFormat& format) {
  Frame frame = make_frame(format);
  for (int i = 0; i < format.planes(); ++i)
    store_plane(with_noise(texture_picture(format.plane_width(i), format.plane_height(i), i).view(),
                           20, 10 + i)
                    .view(),
                frame, i);
  return frame;
}

enum class Chroma { interleaved, planar };

/// Returns a surface with the properties of a decoder's surface: it is larger than the picture,
/// values are in the high bits, and the surrounding samples and low bits are not zero.
template <class Sample>
Frame to_device(const Frame& frame, Chroma chroma) {
  struct Surface {
    DevicePicture picture;
    std::vector<cuda::DeviceBuffer<Sample>> planes;
  };
  auto surface = std::make_shared<Surface>();
  const FrameFormat& f = frame.format;
  surface->picture.shift = 8 * static_cast<int>(sizeof(Sample)) - f.bits;
  const auto low_bits = static_cast<Sample>((1 << surface->picture.shift) - 1);
  const int planes = f.planes() == 1 ? 1 : chroma == Chroma::interleaved ? 2 : 3;
  for (int k = 0; k < planes; ++k) {
    const int turns = k == 1 && chroma == Chroma::interleaved ? 2 : 1;
    const int width = f.plane_width(k) * turns, height = f.plane_height(k), pitch = width + 21;
    std::vector<Sample> samples(static_cast<std::size_t>(pitch) * (height + 3), Sample(77));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        samples[static_cast<std::size_t>(y) * pitch + x] = static_cast<Sample>(
            frame.plane<Sample>(k + x % turns)(x / turns, y) << surface->picture.shift | low_bits);
    surface->planes.push_back(on_device(samples));
    constexpr int bytes = sizeof(Sample);
    surface->picture.planes[k] = {reinterpret_cast<const std::byte*>(surface->planes.back().get()),
                                  width * bytes, height, pitch * bytes};
  }
  Frame result;
  result.format = f;
  result.pts = 7;
  result.on_device = {surface, &surface->picture};
  return result;
}

Frame to_device(const Frame& frame, Chroma chroma) {
  return frame.format.sample == SampleType::u8 ? to_device<std::uint8_t>(frame, chroma)
                                               : to_device<std::uint16_t>(frame, chroma);
}

Frame run_one(const Params& params, const Frame& frame) {
  const auto session = open(params, frame.format, {.kind = BackendKind::cuda});
  std::optional<Frame> out = session->push(frame);
  if (!out) out = session->drain();
  return *out;
}

// Each plane is tested with and without noise, because planes without noise are copied unchanged.
TEST_F(CudaDevicePicture, GivesTheBytesOfAHostFrame) {
  for (const FrameFormat& format : {yuv(64, 48, 1, 8), yuv(45, 33, 1, 8), yuv(45, 33, 1, 10),
                                    yuv(45, 33, 1, 12), yuv(45, 33, 0, 8), yuv(45, 33, 0, 16)}) {
    const Frame noisy = noisy_frame(format);
    for (const Chroma chroma : {Chroma::interleaved, Chroma::planar}) {
      const Frame there = to_device(noisy, chroma);
      for (int mask = 0; mask < 8; ++mask) {
        Params params = make_params(Profile::fast, NoiseModel());
        for (int i = 0; i < 3; ++i) params.noise.plane(i).sigma = mask >> i & 1 ? 20.0f : 0.0f;
        const Frame expected = run_one(params, noisy), out = run_one(params, there);
        EXPECT_TRUE(same_samples(expected, out))
            << format.bits << " bits, shift " << format.chroma_shift_x << ", sigma set " << mask;
        EXPECT_EQ(out.on_device, nullptr);
        EXPECT_EQ(out.pts, 7);
      }
    }
  }
}

TEST_F(CudaDevicePicture, SmallerThanAPatchGivesTheBytesOfAHostFrame) {
  for (const FrameFormat& format : {yuv(7, 5, 1, 8), yuv(14, 30, 1, 10), yuv(1, 1, 1, 8)}) {
    const Frame noisy = noisy_frame(format);
    const Params params = make_params(Profile::fast, {20, 20, 20});
    EXPECT_TRUE(same_samples(run_one(params, noisy),
                             run_one(params, to_device(noisy, Chroma::interleaved))))
        << format.width << "x" << format.height;
  }
}

// A decoder may overwrite a picture after the session has returned the picture's result, but not
// before. Many pictures are in flight, and the session must keep all of them.
TEST_F(CudaDevicePicture, StaysAliveUntilItsResultIsOut) {
  const FrameFormat format = yuv(97, 65, 1, 8);
  const Params params = make_params(Profile::fast, {20, 20, 20});
  const auto session = open(params, format, {.kind = BackendKind::cuda, .streams = 4});
  const Frame noisy = noisy_frame(format), expected = run_one(params, noisy);
  int out = 0;
  const auto look = [&](const std::optional<Frame>& frame) {
    if (!frame) return false;
    EXPECT_TRUE(same_samples(expected, *frame)) << out;
    ++out;
    return true;
  };
  for (int i = 0; i < 12; ++i)  // host and device results alternate
    look(session->push(i % 3 == 2 ? noisy : to_device(noisy, Chroma::interleaved)));
  while (look(session->drain())) {
  }
  EXPECT_EQ(out, 12);
}

TEST(DevicePicture, IsRejectedByTheCpuBackend) {
  Frame frame;
  frame.format = yuv(32, 32, 1, 8);
  frame.on_device = std::make_shared<DevicePicture>();
  const auto session =
      open(make_params(Profile::fast, {20, 20, 20}), frame.format, {.kind = BackendKind::cpu});
  EXPECT_THROW((void)session->push(frame), InvalidArgument);
}

}  // namespace
}  // namespace lull::bm3d
