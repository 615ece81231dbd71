// Tests the counts that a GPU computes over frames. They are integers and must equal those of the
// host.

#include <gtest/gtest.h>

#include <random>

#include "core/plane.h"
#include "cuda/raw_frame.h"
#include "support/device.h"
#include "support/gpu.h"
#include "support/pictures.h"
#include "time/frame_statistics.h"
#include "time/kernels.h"
#include "time/motion.h"

namespace lull {
namespace {

using namespace lull::test_support;

using CudaFrames = GpuTest;

/// Returns frames of every sample type that differ only in places, with incomplete blocks at the
/// borders.
std::vector<std::pair<Frame, Frame>> frame_pairs() {
  std::vector<std::pair<Frame, Frame>> pairs;
  std::mt19937 rng{3};
  for (FrameFormat format : {FrameFormat{.width = 83, .height = 67},
                             FrameFormat{.width = 83,
                             .height = 67,
                             .layout = Layout::yuv,
                             .sample = SampleType::u16,
                             .bits = 10,
                             .chroma_shift_x = 1,
                             .chroma_shift_y = 1},
                             FrameFormat{.width = 64,
                             .height = 48,
                             .layout = Layout::rgb,
                             .sample = SampleType::f32,
                             .bits = 32}}) {
    Frame a = make_frame(format, 12), b = make_frame(format, 4);
    for (int i = 0; i < format.planes(); ++i) {
      const int w = format.plane_width(i), h = format.plane_height(i);
      const Plane<float> clean = texture_picture(w, h, i);
      const Plane<float> first = with_noise(clean.view(), 20, 7 + i);
      Plane<float> second = with_noise(clean.view(), 20, 17 + i);
      for (int y = 0; y < h; ++y)  // most blocks are equal, some almost
        for (int x = 0; x < w; ++x)
          if ((x / 16 + y / 16) % 3 != 0)
            second.view()(x, y) = first.view()(x, y) + static_cast<float>((x / 16 + y) % 2);
      store_plane(first.view(), a, i);
      store_plane(second.view(), b, i);
    }
    pairs.emplace_back(b, a);
    pairs.emplace_back(a, a);
  }
  return pairs;
}

RawFrame on_gpu(const Frame& frame) {
  RawFrame raw(frame.format, nullptr);
  raw.upload(frame, nullptr);
  return raw;
}

TEST_F(CudaFrames, DifferenceCountsEqualTheHost) {
  const std::array<float, 3> sigma{20, 20, 20};
  for (const auto& [frame, before] : frame_pairs()) {
    const RawFrame a = on_gpu(frame), b = on_gpu(before);
    const cuda::DeviceBuffer<DifferenceCounts> counts(1);
    count_difference(a.planes(), b.planes(), frame.format, sigma, counts.get(), nullptr);
    const DifferenceCounts found = on_host(counts)[0];
    const FrameDifference expected = difference_of(frame, before, sigma);
    bool identical = true;
    for (int i = 0; i < frame.format.planes(); ++i) {
      identical = identical && found.unequal[i] == 0;
      if (!expected.identical) {
        EXPECT_EQ(found.different[i], expected.different[i]) << i;
      }
    }
    EXPECT_EQ(identical, expected.identical);
    if (expected.identical) continue;
    EXPECT_EQ(found.textured, expected.textured);
    EXPECT_EQ(found.shared, expected.shared);
    EXPECT_GT(found.textured, found.shared);
  }
}

/// The main plane of a frame on the host and on the device. (It may be read slightly beyond its
/// end.)
struct MainOnBoth {
  explicit MainOnBoth(const Frame& frame)
      : width(frame.format.plane_width(plane(frame))),
        height(frame.format.plane_height(plane(frame))),
        fine_memory(width, height + 1),
        coarse_memory(width / coarse, height / coarse + 1),
        fine_on_gpu(static_cast<std::size_t>(width) * height),
        coarse_on_gpu(static_cast<std::size_t>(width / coarse) * (height / coarse)) {
    to_bytes(frame, fine());
    make_coarse(fine(), small());
    const RawFrame raw = on_gpu(frame);
    make_bytes(raw.planes(), frame.format, bytes(), nullptr);
    cuda::check(cudaDeviceSynchronize());
  }
  static int plane(const Frame& frame) { return main_plane(frame.format.layout == Layout::rgb); }
  PlaneView<std::uint8_t> fine() {
    return {fine_memory.view().data, width, height, fine_memory.view().stride};
  }
  PlaneView<std::uint8_t> small() {
    return {coarse_memory.view().data, width / coarse, height / coarse,
            coarse_memory.view().stride};
  }
  MainPlane main() { return {fine(), small()}; }
  MainBytes bytes() const { return {fine_on_gpu.get(), coarse_on_gpu.get()}; }

  int width, height;
  Plane<std::uint8_t> fine_memory, coarse_memory;
  cuda::DeviceBuffer<std::uint8_t> fine_on_gpu, coarse_on_gpu;
};

TEST_F(CudaFrames, PredictionCountsEqualTheHost) {
  const std::uint32_t noise = coarse_noise(20);
  for (const auto& [frame, before] : frame_pairs()) {
    MainOnBoth a(frame), b(before);
    const cuda::DeviceBuffer<PredictionCounts> counts(1);
    count_prediction(a.bytes().coarse, b.bytes().coarse, a.width / coarse, a.height / coarse, noise,
                     counts.get(), nullptr);
    const PredictionCounts found = on_host(counts)[0];
    const PredictionCost expected = prediction_of(a.small(), b.small(), noise);
    EXPECT_EQ(found.predicted, expected.predicted);
    EXPECT_EQ(found.own, expected.own);
    EXPECT_GT(found.own, 0u);
  }
}

TEST_F(CudaFrames, MotionEqualsTheHost) {
  for (const auto& [w, h] : {std::pair{107, 90}, {32, 33}, {200, 64}, {37, 150}}) {
    const FrameFormat format{.width = w, .height = h};
    std::vector<Frame> frames;
    for (const auto& [dx, dy] : {std::pair{0, 0}, {9, -5}, {-14, 3}}) {
      const Plane<float> whole = texture_picture(w + 80, h + 40);
      Plane<float> part(w, h);
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) part.view()(x, y) = whole.view()(x + 40 - dx, y + 20 - dy);
      frames.push_back(make_frame(format));
      store_plane(with_noise(part.view(), 15, static_cast<unsigned>(dx + 50)).view(), frames.back(),
                  0);
    }
    MainOnBoth own(frames[0]), first(frames[1]), second(frames[2]);
    const std::size_t count = static_cast<std::size_t>(motion_cells(w)) * motion_cells(h);
    const cuda::DeviceBuffer<Motion> to_first(count), to_second(count);
    find_motion(own.bytes(), std::array{first.bytes(), second.bytes()},
                std::array{to_first.get(), to_second.get()}, w, h, 15, nullptr);
    int moving = 0;
    for (const auto& [other, found] : {std::pair{&first, &to_first}, {&second, &to_second}}) {
      std::vector<Motion> expected;
      find_motion(own.main(), other->main(), 15, expected);
      const std::vector<Motion> cells = on_host(*found);
      ASSERT_EQ(cells.size(), expected.size());
      for (std::size_t k = 0; k < count; ++k) {
        EXPECT_EQ(cells[k].x, expected[k].x) << w << "x" << h << " cell " << k;
        EXPECT_EQ(cells[k].y, expected[k].y) << w << "x" << h << " cell " << k;
        moving += expected[k].x != 0;
      }
    }
    EXPECT_TRUE(moving > 0 || w < 64);
  }
}

}  // namespace
}  // namespace lull
