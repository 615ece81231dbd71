// Tests that every backend must pass through the public interface: frames in, frames out.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "bm3d/each_backend.h"

namespace lull::bm3d {
namespace {

INSTANTIATE_TEST_SUITE_P(Bm3d, EachBackend,
                         ::testing::Values(BackendKind::reference, BackendKind::cpu,
                                           BackendKind::cuda),
                         name_of_backend);

// Flat pictures of every size must remain unchanged. This shows that every sample is written, that
// none is written twice with a wrong value, and that the threshold keeps the mean. Planes smaller
// than a patch pass through.
TEST_P(EachBackend, KeepsFlatPicturesOfAnySize) {
  const std::pair<int, int> sizes[] = {{1, 1},   {7, 9},   {8, 8},  {9, 8},   {8, 31},
                                       {31, 8},  {1, 40},  {40, 1}, {17, 23}, {16, 15},
                                       {53, 47}, {101, 9}, {33, 64}};
  for (const auto& [width, height] : sizes)
    for (const FrameFormat& format :
         {gray(width, height), yuv(width, height, 1, 1), yuv(width, height, 1, 0),
          yuv(width, height, 0, 0), rgb(width, height)})
      for (const int value : {0, 1, 128, 255}) {
        const Frame frame = make_frame(format, 5, value);
        const Frame out = denoise(quick(20), frame);
        ASSERT_EQ(out.format, format);
        for (int i = 0; i < format.planes(); ++i)
          for (int y = 0; y < format.plane_height(i); ++y)
            for (int x = 0; x < format.plane_width(i); ++x)
              ASSERT_EQ(out.plane<std::uint8_t>(i)(x, y), value)
                  << width << "x" << height << ", layout " << int(format.layout) << ", shift "
                  << format.chroma_shift_x << format.chroma_shift_y << ", plane " << i << " at "
                  << x << ", " << y;
      }
}

TEST_P(EachBackend, KeepsFlatPicturesOfAnyDepth) {
  for (const int bits : {8, 9, 10, 12, 14, 16}) {
    const FrameFormat format = gray(24, 20, SampleType::u16, bits);
    for (const int value : {0, 1, (1 << bits) / 3, (1 << bits) - 1}) {
      Frame frame = make_frame(format);
      for (int y = 0; y < 20; ++y) std::fill_n(frame.plane<std::uint16_t>(0).row(y), 24, value);
      const Frame out = denoise(quick(20), frame);
      // Float arithmetic on 0..255 with a few hundred roundings of 2^-24 of 255 stays below 1/4096
      // of the range, or 0.06 on the scale of sigma.
      for (int y = 0; y < 20; ++y)
        for (int x = 0; x < 24; ++x)
          ASSERT_NEAR(out.plane<std::uint16_t>(0)(x, y), value, (1 << bits) / 4096.0)
              << bits << " bits";
    }
  }
}

TEST_P(EachBackend, RemovesNoiseFromEveryPlane) {
  for (const FrameFormat& format :
       {gray(96, 80), yuv(96, 80, 1, 1), yuv(97, 81, 1, 1), yuv(96, 80, 1, 0), yuv(96, 80, 0, 0),
        rgb(96, 80), rgb(96, 80, SampleType::u16, 12), yuv(96, 80, 1, 1, SampleType::u16, 10),
        yuv(96, 80, 0, 0, SampleType::f32, 32)}) {
    const Frame noisy = noisy_frame(format, 20);
    const Frame clean = denoise(make_params(Profile::balanced, {20, 20, 20}), noisy);
    for (int i = 0; i < format.planes(); ++i)
      EXPECT_GT(gain(noisy, clean, i), i > 0 && format.subsampled() ? 2.0 : 4.0)
          << "layout " << int(format.layout) << ", plane " << i;
  }
}

TEST_P(EachBackend, PassesPlanesWithoutNoiseThrough) {
  for (const FrameFormat& format :
       {gray(33, 21), yuv(33, 21, 1, 1), yuv(33, 21, 0, 0), rgb(33, 21),
        rgb(33, 21, SampleType::f32, 32), yuv(33, 21, 1, 1, SampleType::u16, 10)}) {
    const Frame noisy = noisy_frame(format, 20);
    for (int mask = 0; mask < (format.planes() == 3 ? 8 : 2); ++mask) {
      Params params = quick(0);
      for (int i = 0; i < 3; ++i) params.noise.plane(i).sigma = mask >> i & 1 ? 20.0f : 0.0f;
      const Frame out = denoise(params, noisy);
      for (int i = 0; i < format.planes(); ++i)
        EXPECT_EQ(same_plane(noisy, out, i), (mask >> i & 1) == 0)
            << "layout " << int(format.layout) << ", sigma set " << mask << ", plane " << i;
    }
  }
}

TEST_P(EachBackend, PassesPlanesSmallerThanAPatchThrough) {
  const Frame noisy = noisy_frame(yuv(15, 30, 1, 1), 20);  // chroma is 8x15
  const Frame out = denoise(quick(20), noisy);
  EXPECT_FALSE(same_plane(noisy, out, 0));
  EXPECT_FALSE(same_plane(noisy, out, 1));
  const Frame narrow = noisy_frame(yuv(14, 30, 1, 1), 20);  // 7x15
  const Frame narrow_out = denoise(quick(20), narrow);
  EXPECT_FALSE(same_plane(narrow, narrow_out, 0));
  EXPECT_TRUE(same_plane(narrow, narrow_out, 1));
  EXPECT_TRUE(same_plane(narrow, narrow_out, 2));
}

// The bytes between the rows must not affect the picture.
TEST_P(EachBackend, IgnoresPaddingBetweenRows) {
  for (const FrameFormat& format :
       {gray(37, 29, SampleType::f32, 32), yuv(37, 29, 1, 1, SampleType::f32, 32)}) {
    const Frame tight = noisy_frame(format, 20);
    const Frame loose = noisy_frame(format, 20, 60, 0xff);  // 0xffffffff is a NaN
    EXPECT_TRUE(same_samples(denoise(quick(20), tight), denoise(quick(20), loose)));
  }
}

TEST_P(EachBackend, StaysInRangeOnClippedNoise) {
  for (const double level : {0.0, 255.0}) {
    Plane<float> flat(48, 40);
    for (int y = 0; y < 40; ++y) std::fill_n(flat.view().row(y), 48, static_cast<float>(level));
    Frame noisy = make_frame(gray(48, 40, SampleType::u16, 10));
    store_plane(with_noise(flat.view(), 50).view(), noisy, 0);
    const Frame out = denoise(quick(50), noisy);
    for (int y = 0; y < 40; ++y)
      for (int x = 0; x < 48; ++x) ASSERT_LE(out.plane<std::uint16_t>(0)(x, y), 1023);
    // Clipping shifts the mean by 50 / sqrt(2 pi) = 20. The remaining noise is well below that.
    EXPECT_GT(psnr(plane_of(out, 0).view(), flat.view()), 20.0);
  }
}

TEST_P(EachBackend, RemovesVeryStrongNoiseFromFlatPicture) {
  Plane<float> middle(64, 64);
  for (int y = 0; y < 64; ++y) std::fill_n(middle.view().row(y), 64, 128.0f);
  Frame noisy = make_frame(gray(64, 64, SampleType::f32, 32));
  store_plane(with_noise(middle.view(), 100).view(), noisy, 0);
  const Frame out = denoise(make_params(Profile::balanced, {100, 100, 100}), noisy);
  EXPECT_GT(psnr(plane_of(out, 0).view(), middle.view()),
            psnr(plane_of(noisy, 0).view(), middle.view()) + 12);
}

TEST_P(EachBackend, BitDepthChangesOnlyRounding) {
  const Frame as_float = noisy_frame(gray(160, 128, SampleType::f32, 32), 15);
  const Params params = make_params(Profile::balanced, {15, 15, 15});
  const double expected = gain(as_float, denoise(params, as_float), 0);
  for (const int bits : {8, 10, 12, 16}) {
    const Frame noisy = noisy_frame(gray(160, 128, SampleType::u16, bits), 15);
    // Rounding to 8 bits adds 1/12 to a noise variance of 225, and to the remaining variance of
    // about 8.
    EXPECT_NEAR(gain(noisy, denoise(params, noisy), 0), expected, bits == 8 ? 0.15 : 0.05) << bits;
  }
}

TEST_P(EachBackend, GivesEqualBytesForEqualFrames) {
  for (const FrameFormat& format : {gray(67, 59), yuv(67, 59, 1, 1), rgb(67, 59)}) {
    const Params params = make_params(Profile::fast, {20, 20, 20});
    const Frame noisy = noisy_frame(format, 20), other = noisy_frame(format, 60);
    const Frame expected = denoise(params, noisy);
    // The frame is part of a stream of other frames, which sessions with different numbers of
    // threads and streams filter.
    for (const int count : {1, 2, 5}) {
      Backend backend = backend_;
      backend.threads = count;
      backend.streams = count;
      const auto session = open(params, format, backend);
      std::vector<Frame> out;
      for (int n = 0; n < 6; ++n)
        if (auto frame = session->push(n % 2 == 0 ? noisy : other)) out.push_back(*frame);
      while (auto frame = session->drain()) out.push_back(*frame);
      ASSERT_EQ(out.size(), 6u);
      for (int n = 0; n < 6; n += 2)
        EXPECT_TRUE(same_samples(out[n], expected)) << "frame " << n << ", " << count << " streams";
    }
  }
}

TEST_P(EachBackend, BatchSizeDoesNotChangeResult) {
  const Frame noisy = noisy_frame(gray(75, 70), 20);
  Params params = make_params(Profile::fast, {20, 20, 20});
  const Frame expected = denoise(params, noisy);
  for (const BatchSize batch : {BatchSize{16, 16}, BatchSize{33, 20}, BatchSize{4096, 4096}}) {
    params.batch = batch;
    EXPECT_TRUE(same_samples(denoise(params, noisy), expected))
        << batch.width << "x" << batch.height;
  }
}

TEST_P(EachBackend, KeepsFrameOrderAndTimestamps) {
  for (const float sigma : {20.0f, 0.0f}) {
    const auto session = open(quick(sigma), gray(24, 24), backend_);
    std::vector<Frame> out;
    for (int n = 0; n < 5; ++n) {
      Frame frame = noisy_frame(gray(24, 24), 10 + n);
      frame.pts = 100 + 7 * n;
      frame.duration = 7;
      frame.time_base = {1, 700};
      if (auto ready = session->push(frame)) out.push_back(*ready);
      EXPECT_LE(n + 1 - static_cast<int>(out.size()), session->latency());
    }
    while (auto ready = session->drain()) out.push_back(*ready);
    ASSERT_EQ(out.size(), 5u);
    for (int n = 0; n < 5; ++n) {
      EXPECT_EQ(out[n].pts, 100 + 7 * n);
      EXPECT_EQ(out[n].duration, 7);
      EXPECT_EQ(out[n].time_base, (Rational{1, 700}));
    }
  }
}

// When a session fails, its frames may be pushed to another session that was drained already.
TEST_P(EachBackend, AcceptsFramesAgainAfterDrain) {
  const auto session = open(quick(20), gray(24, 24), backend_);
  for (int round = 0; round < 2; ++round) {
    const int frames = 6 - round;
    std::vector<Frame> out;
    for (int n = 0; n < frames; ++n)
      if (auto ready = session->push(noisy_frame(gray(24, 24), 10 + n))) out.push_back(*ready);
    while (auto ready = session->drain()) out.push_back(*ready);
    ASSERT_EQ(static_cast<int>(out.size()), frames);
    for (int n = 0; n < frames; ++n)
      EXPECT_TRUE(same_samples(out[n], denoise(quick(20), noisy_frame(gray(24, 24), 10 + n))));
  }
}

TEST_P(EachBackend, SecondPhaseImprovesOnTheFirst) {
  const Frame noisy = noisy_frame(gray(96, 80), 25);
  Params params = make_params(Profile::balanced, {25, 25, 25});
  const double both = gain(noisy, denoise(params, noisy), 0);
  params.phases = 1;
  const double first = gain(noisy, denoise(params, noisy), 0);
  EXPECT_GT(first, 3.0);
  EXPECT_GT(both, first);
}

TEST_P(EachBackend, RejectsInvalidParametersAndFormats) {
  EXPECT_THROW((void)open(quick(-1), gray(16, 16), backend_), InvalidArgument);
  EXPECT_THROW((void)open(quick(10), gray(0, 16), backend_), InvalidArgument);
  EXPECT_THROW((void)open(quick(10), gray(16, 16, SampleType::u16, 17), backend_), InvalidArgument);
  EXPECT_THROW((void)open(quick(10), gray(16, 16, SampleType::f32, 8), backend_), InvalidArgument);
  FrameFormat odd = rgb(16, 16);
  odd.chroma_shift_x = 1;
  EXPECT_THROW((void)open(quick(10), odd, backend_), InvalidArgument);
  Backend backend = backend_;
  backend.streams = 17;
  EXPECT_THROW((void)open(quick(10), gray(16, 16), backend), InvalidArgument);
  backend = backend_;
  backend.threads = -1;
  EXPECT_THROW((void)open(quick(10), gray(16, 16), backend), InvalidArgument);
  const auto session = open(quick(10), gray(16, 16), backend_);
  EXPECT_THROW((void)session->push(make_frame(gray(17, 16))), InvalidArgument);
}

TEST_P(EachBackend, ProvidesMemoryForFrames) {
  std::pmr::memory_resource* memory = frame_memory(backend_);
  ASSERT_NE(memory, nullptr);
  void* bytes = memory->allocate(1000, 64);
  std::memset(bytes, 0, 1000);
  memory->deallocate(bytes, 1000, 64);
}

}  // namespace
}  // namespace lull::bm3d
