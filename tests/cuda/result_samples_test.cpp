// Results on a GPU have the samples that the host computes from the same floats.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/denoiser.h"
#include "core/frame_pool.h"
#include "core/samples.h"
#include "cuda/raw_frame.h"
#include "cuda/results/result_frames.h"
#include "support/gpu.h"
#include "support/pictures.h"

namespace lull::cuda {
namespace {

using test_support::make_frame;

class ResultSamplesOnGpu : public test_support::GpuTest {};

/// Floats on the 0..255 scale and beyond, among them integers and ties.
Plane<float> floats(int width, int height, unsigned seed) {
  std::mt19937 rng{seed};
  std::uniform_real_distribution<float> any{-3, 258};
  Plane<float> plane(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const float v = any(rng);
      plane.view()(x, y) = x % 5 == 0 ? std::floor(v) : x % 7 == 0 ? std::floor(v) + 0.5f : v;
    }
  return plane;
}

FrameFormat format_of(Layout layout, int bits) {
  return {.width = 203,
          .height = 141,
          .layout = layout,
          .sample = bits == 8 ? SampleType::u8 : SampleType::u16,
          .bits = bits,
          .chroma_shift_x = layout == Layout::yuv ? 1 : 0,
          .chroma_shift_y = layout == Layout::yuv ? 1 : 0};
}

std::string text_of(const FrameFormat& input, const ResultSamples& samples) {
  return std::to_string(input.bits) + " to " + std::to_string(samples.bits) + " bits, range " +
         std::to_string(samples.full_range) + ", dither " +
         std::to_string(static_cast<int>(samples.dither));
}

/// Calls `use` with all kinds of results of an input format.
template <class Use>
void for_results(Use use) {
  for (const Layout layout : {Layout::gray, Layout::yuv})
    for (const int from : {8, 10, 16})
      for (const int to : {0, 8, 10, 12, 16})
        for (const bool full : {false, true})
          for (const Dither dither : {Dither::none, Dither::ordered, Dither::noise})
            use(format_of(layout, from),
                ResultSamples{.bits = to, .full_range = full, .dither = dither});
}

Frame downloaded(const RawFrame& raw, const FrameFormat& format, cudaStream_t stream) {
  Frame frame = make_frame(format);
  for (int i = 0; i < format.planes(); ++i) raw.download(i, frame, stream);
  check(cudaStreamSynchronize(stream));
  return frame;
}

TEST_F(ResultSamplesOnGpu, FloatsBecomeTheSamplesOfTheHost) {
  const Stream stream = make_stream();
  for_results([&](const FrameFormat& input, const ResultSamples& samples) {
    const FrameFormat format = result_format(input, samples);
    RawFrame raw(input, stream.get(), {}, {}, format);
    Frame expected = make_frame(format);
    for (int i = 0; i < format.planes(); ++i) {
      const Plane<float> plane = floats(format.plane_width(i), format.plane_height(i), 5 + i);
      store_plane(plane.view(), expected, i);
      const Margins margins = Margins::none(plane.width(), plane.height());
      const DeviceBuffer<float> device = zeroed<float>(margins.size(), stream.get());
      check(cudaMemcpy2DAsync(device.get() + margins.at(0, 0), margins.pitch * sizeof(float),
                              plane.view().data, plane.view().stride * sizeof(float),
                              plane.width() * sizeof(float), plane.height(), cudaMemcpyHostToDevice,
                              stream.get()));
      raw.from_plane(i, margins, device.get(), stream.get());
      check(cudaStreamSynchronize(stream.get()));
    }
    EXPECT_TRUE(test_support::same_samples(downloaded(raw, format, stream.get()), expected))
        << text_of(input, samples);
  });
}

TEST_F(ResultSamplesOnGpu, UnfilteredSamplesAreConvertedAsOnTheHost) {
  const Stream stream = make_stream();
  for_results([&](const FrameFormat& input, const ResultSamples& samples) {
    const FrameFormat format = result_format(input, samples);
    FramePool pool(input), results(format, device_memory(0)), host(format);
    const Frame noisy = pool.acquire();
    for (int i = 0; i < input.planes(); ++i)
      store_plane(floats(input.plane_width(i), input.plane_height(i), 9 + i).view(), noisy, i);
    RawFrame raw(input, stream.get(), {}, {}, format);
    raw.upload(noisy, stream.get());
    const Frame there = on_device(results.acquire(), 0), back = host.acquire();
    for (int i = 0; i < input.planes(); ++i) {
      raw.pass_through(i, noisy, there, stream.get());
      const auto &from = there.planes[i], &to = back.planes[i];
      check(cudaMemcpy2DAsync(to.data, to.stride, from.data, from.stride, to.width, to.height,
                              cudaMemcpyDeviceToHost, stream.get()));
    }
    check(cudaStreamSynchronize(stream.get()));
    EXPECT_TRUE(test_support::same_samples(back, copied(noisy, host))) << text_of(input, samples);
  });
}

}  // namespace
}  // namespace lull::cuda
