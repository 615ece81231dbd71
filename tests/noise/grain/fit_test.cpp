// Tests that the grain that a decoder synthesises from a fitted table resembles the noise to which
// the table was fitted: equal levels by luma, and equal coarseness.

#include "noise/grain/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/frame_pool.h"
#include "core/samples.h"
#include "noise/grain/collector.h"
#include "noise/grain/template_gain.h"
#include "support/coloured_noise.h"
#include "support/grain_synthesis.h"

namespace lull {
namespace {

using test_support::GrainSynthesis;

constexpr FrameFormat grey{.width = 192, .height = 144};

FrameFormat yuv(int shift_x, int shift_y, int bits = 8) {
  return {.width = grey.width,
          .height = grey.height,
          .layout = Layout::yuv,
          .sample = bits > 8 ? SampleType::u16 : SampleType::u8,
          .bits = bits,
          .chroma_shift_x = shift_x,
          .chroma_shift_y = shift_y};
}

/// Steps of luma, 24 columns wide, from dark to bright; chroma is in the middle of its range.
float clean_at(const FrameFormat& format, int plane, int x) {
  return plane > 0 ? 128.0f : 40.0f + 25.0f * static_cast<float>(x * 8 / format.plane_width(plane));
}
/// Returns the relative noise level at a luma; it is highest in the middle.
double strength_at(double luma) { return 0.5 + std::sin(luma / 255 * 3.14159265); }

struct Pair {
  Frame noisy, clean;
};

enum class Kind { white, along_x, both, slanted };

Plane<float> noise_of(Kind kind, int width, int height, float sigma, unsigned seed) {
  if (kind != Kind::slanted && kind != Kind::white)
    return std::move(
        test_support::blurred_noise(width, height, sigma, true, kind == Kind::both, seed).samples);
  std::mt19937 rng{seed};
  std::normal_distribution<float> normal{0, sigma};
  Plane<float> white(width + 2, height + 2), noise(width, height);
  for (int y = 0; y < height + 2; ++y)
    for (int x = 0; x < width + 2; ++x) white.view()(x, y) = normal(rng);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      noise.view()(x, y) =
          kind == Kind::white ? white.view()(x, y)
                              : (white.view()(x, y) + white.view()(x + 1, y + 1)) / std::sqrt(2.0f);
  return noise;
}

/// Chroma shares a part of luma's noise.
Pair make_pair(const FrameFormat& format, Kind kind, double sigma, unsigned seed,
               double shared = 0) {
  FramePool pool(format);
  Pair pair{pool.acquire(), pool.acquire()};
  const Plane<float> luma = noise_of(kind, format.width, format.height, 1, seed);
  for (int i = 0; i < format.planes(); ++i) {
    const int w = format.plane_width(i), h = format.plane_height(i);
    const int sx = i ? format.chroma_shift_x : 0, sy = i ? format.chroma_shift_y : 0;
    const Plane<float> own = noise_of(kind, w, h, 1, seed + 1000 * static_cast<unsigned>(i));
    Plane<float> clean(w, h), noisy(w, h);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const double strength =
            sigma * strength_at(static_cast<double>(clean_at(format, 0, x << sx)));
        double noise = static_cast<double>(own.view()(x, y));
        if (i > 0)
          noise = std::sqrt(1 - shared * shared) * noise +
                  shared * static_cast<double>(luma.view()(x << sx, y << sy));
        clean.view()(x, y) = clean_at(format, i, x);
        noisy.view()(x, y) = clean.view()(x, y) + static_cast<float>(strength * noise);
      }
    store_plane(clean.view(), pair.clean, i);
    store_plane(noisy.view(), pair.noisy, i);
  }
  return pair;
}

int sample(const Frame& frame, int plane, int x, int y) {
  return frame.format.bits > 8 ? frame.plane<std::uint16_t>(plane)(x, y)
                               : frame.plane<std::uint8_t>(plane)(x, y);
}

/// Sums over the columns of one luma of the noise of a picture: variance and correlations.
struct Moments {
  std::array<double, 8> variance{}, count{};
  std::array<double, pair_lags> pairs{};
  double normalised = 0, with_luma = 0;

  /// Adds the `noise` of a plane; `strength` is the divisor for each column.
  void add(const std::vector<double>& noise, int w, int h,
           const std::function<double(int)>& strength) {
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const double n = noise[static_cast<std::size_t>(y) * w + x];
        variance[x * 8 / w] += n * n;
        count[x * 8 / w] += 1;
      }
    const auto at = [&](int x, int y) {
      return noise[static_cast<std::size_t>(y) * w + x] / strength(x);
    };
    for (int y = 0; y + 3 < h; ++y)
      for (int x = 6; x + 6 < w; ++x) {
        normalised += at(x, y) * at(x, y);
        for (int dy = 0; dy <= 3; ++dy)
          for (int dx = dy ? -3 : 0; dx <= 3; ++dx)
            pairs[pair_index(dx, dy)] += at(x, y) * at(x + dx, y + dy);
      }
  }
  double sigma(int step) const { return std::sqrt(variance[step] / count[step]); }
  double correlation(int dx, int dy) const { return pairs[pair_index(dx, dy)] / normalised; }
};

struct GrainComparison {
  std::array<Moments, 3> measured, synthesised;
  GrainParams grain;
};

GrainComparison fit_and_synthesise(const FrameFormat& format, Kind kind, double sigma,
                                   double shared = 0, int frames = 8) {
  GrainComparison like;
  GrainStatistics statistics(format);
  std::vector<Pair> pairs;
  for (int k = 0; k < frames; ++k) {
    pairs.push_back(make_pair(format, kind, sigma, 10 + static_cast<unsigned>(k), shared));
    statistics.add(pairs.back().noisy, pairs.back().clean);
  }
  const auto grain = fit_grain(statistics);
  EXPECT_TRUE(grain);
  if (!grain) return like;
  like.grain = *grain;
  for (int k = 0; k < frames; ++k) {
    GrainSynthesis synthesis(*grain, format, 1000 + 3381 * k);
    std::array<std::vector<double>, 3> taken, made;
    for (int i = 0; i < format.planes(); ++i) {
      const int w = format.plane_width(i), h = format.plane_height(i);
      const auto noise =
          format.bits > 8
              ? synthesis.noise<std::uint16_t>(i, pairs[k].clean.plane<std::uint16_t>(0))
              : synthesis.noise<std::uint8_t>(i, pairs[k].clean.plane<std::uint8_t>(0));
      const double unit = std::ldexp(1, 8 - format.bits);
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
          taken[i].push_back(unit *
                             (sample(pairs[k].noisy, i, x, y) - sample(pairs[k].clean, i, x, y)));
          made[i].push_back(unit * noise[static_cast<std::size_t>(y) * w + x]);
        }
      const auto strength = [&](int x) {
        const int sx = i ? format.chroma_shift_x : 0;
        return sigma * strength_at(static_cast<double>(clean_at(format, 0, x << sx)));
      };
      like.measured[i].add(taken[i], w, h, strength);
      like.synthesised[i].add(made[i], w, h, strength);
      // Measures whether chroma shares noise with luma.
      if (i == 0) continue;
      for (auto* one : {&taken, &made}) {
        Moments& to = one == &taken ? like.measured[i] : like.synthesised[i];
        for (int y = 0; y < h; ++y)
          for (int x = 0; x < w; ++x)
            to.with_luma +=
                (*one)[i][static_cast<std::size_t>(y) * w + x] / strength(x) *
                (*one)[0][static_cast<std::size_t>(y << format.chroma_shift_y) * format.width +
                          (x << format.chroma_shift_x)] /
                strength(x);
      }
    }
  }
  return like;
}

void expect_alike(const GrainComparison& like, int planes, double sigma_tolerance,
                  double tolerance) {
  for (int i = 0; i < planes; ++i) {
    SCOPED_TRACE("plane " + std::to_string(i));
    const Moments &a = like.measured[i], &b = like.synthesised[i];
    for (int step = 0; step < 8; ++step)
      EXPECT_NEAR(b.sigma(step) / a.sigma(step), 1, sigma_tolerance) << "step of luma " << step;
    for (int dy = 0; dy <= 3; ++dy)
      for (int dx = dy ? -3 : 0; dx <= 3; ++dx)
        EXPECT_NEAR(b.correlation(dx, dy), a.correlation(dx, dy), tolerance) << dx << ", " << dy;
  }
}

TEST(GrainFit, WhiteNoiseStaysWhite) {
  expect_alike(fit_and_synthesise(grey, Kind::white, 6), 1, 0.08, 0.04);
}

TEST(GrainFit, BlurredNoiseKeepsItsCoarseness) {
  expect_alike(fit_and_synthesise(grey, Kind::both, 6), 1, 0.10, 0.06);
}

TEST(GrainFit, NoiseCorrelatedAlongOneAxisIsKept) {
  expect_alike(fit_and_synthesise(grey, Kind::along_x, 4), 1, 0.10, 0.06);
}

TEST(GrainFit, SlantedNoiseStaysSlanted) {
  const GrainComparison like = fit_and_synthesise(grey, Kind::slanted, 6);
  EXPECT_GT(like.measured[0].correlation(1, 1), 0.4);
  expect_alike(like, 1, 0.10, 0.06);
}

TEST(GrainFit, StrongNoiseKeepsItsLevel) {
  expect_alike(fit_and_synthesise(grey, Kind::white, 20), 1, 0.10, 0.05);
}

class GrainFitOfChroma : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(GrainFitOfChroma, KeepsLevelAndCoarseness) {
  expect_alike(fit_and_synthesise(yuv(GetParam().first, GetParam().second), Kind::both, 5), 3, 0.15,
               0.10);
}

INSTANTIATE_TEST_SUITE_P(Subsampling, GrainFitOfChroma,
                         ::testing::Values(std::pair{0, 0}, std::pair{1, 0}, std::pair{1, 1}));

TEST(GrainFit, ChromaKeepsTheNoiseSharedWithLuma) {
  const GrainComparison like = fit_and_synthesise(yuv(0, 0), Kind::white, 6, 0.6);
  expect_alike(like, 3, 0.10, 0.06);
  for (int i = 1; i < 3; ++i) {
    EXPECT_NEAR(like.measured[i].with_luma / like.measured[i].normalised, 0.6, 0.1);
    EXPECT_NEAR(like.synthesised[i].with_luma / like.synthesised[i].normalised, 0.6, 0.15);
  }
}

TEST(GrainFit, TenBitsHaveTheSameGrain) {
  expect_alike(fit_and_synthesise(yuv(1, 1, 10), Kind::both, 5), 3, 0.15, 0.10);
}

// The luma of a run that filters only chroma can contain samples with more than 10 bits.
TEST(GrainFit, SamplesAboveTheBitDepthCountAsTheMaximum) {
  const FrameFormat format = yuv(1, 1, 10);
  std::array<GrainStatistics, 2> statistics{GrainStatistics(format), GrainStatistics(format)};
  for (const int above : {0, 64'000}) {
    const Pair pair = make_pair(format, Kind::white, 6, 1);
    for (int y = 32; y < 48; ++y)
      for (int x = 32; x < 48; ++x)
        pair.clean.plane<std::uint16_t>(0)(x, y) =
            static_cast<std::uint16_t>(format.max_value() + above);
    statistics[above > 0].add(pair.noisy, pair.clean);
  }
  EXPECT_EQ(statistics[0].blocks(), statistics[1].blocks());
  EXPECT_EQ(statistics[1].blocks().back(), 1);
  for (int bin = 0; bin < GrainStatistics::bins; ++bin) {
    const auto &a = statistics[0].plane(0).by_luma[bin], &b = statistics[1].plane(0).by_luma[bin];
    EXPECT_EQ(a.count, b.count);
    EXPECT_EQ(a.sum, b.sum);
    EXPECT_EQ(a.squares, b.squares);
  }
}

TEST(GrainFit, ParametersAreWithinTheFormat) {
  for (const double sigma : {0.6, 3.0, 30.0}) {
    const GrainParams grain = fit_and_synthesise(yuv(1, 1), Kind::both, sigma, 0.9, 2).grain;
    EXPECT_GE(grain.scaling_shift, 8);
    EXPECT_LE(grain.scaling_shift, 11);
    EXPECT_GE(grain.ar_coeff_shift, 6);
    EXPECT_LE(grain.ar_coeff_shift, 9);
    EXPECT_GE(grain.grain_scale_shift, 0);
    EXPECT_LE(grain.grain_scale_shift, 3);
    for (int i = 0; i < 3; ++i) {
      ASSERT_FALSE(grain.points[i].empty());
      EXPECT_LE(static_cast<int>(grain.points[i].size()), GrainParams::max_points[i]);
      for (std::size_t k = 0; k < grain.points[i].size(); ++k) {
        EXPECT_TRUE(k == 0 || grain.points[i][k].at > grain.points[i][k - 1].at);
        EXPECT_GE(grain.points[i][k].at, 0);
        EXPECT_LE(grain.points[i][k].at, 255);
        EXPECT_GE(grain.points[i][k].scale, 0);
        EXPECT_LE(grain.points[i][k].scale, 255);
      }
      for (const int c : grain.ar_coeffs[i]) EXPECT_TRUE(c >= -128 && c <= 127) << c;
      EXPECT_TRUE(grain.luma_coeff[i] >= -128 && grain.luma_coeff[i] <= 127);
    }
    EXPECT_TRUE(template_gain(grain, 3, 1, 1).stable);
  }
}

/// Returns an `estimate` of blurred noise with the level `dark` at luma 40 and `bright` at 215.
NoiseEstimate known_noise(float dark, float bright) {
  NoiseEstimate estimate;
  for (int i = 0; i < 3; ++i) {
    estimate.noise.plane(i) = {
        (dark + bright) / 2, test_support::blurred_noise(8, 8, 1, true, true).correlation, nullptr};
    estimate.by_luma[i] = {{40, dark}, {215, bright}};
  }
  return estimate;
}

// The denoiser removed white noise and left the coarse part, so the known noise must be used.
TEST(GrainFit, KnownNoiseReplacesTheMeasurement) {
  const FrameFormat format = yuv(1, 1);
  GrainStatistics statistics(format), weaker(format);
  for (unsigned seed = 1; seed < 5; ++seed) {
    const Pair pair = make_pair(format, Kind::white, 4, seed);
    statistics.add(pair.noisy, pair.clean);
    const Pair other = make_pair(format, Kind::white, 2, seed);
    weaker.add(other.noisy, other.clean);
  }
  const NoiseEstimate noise = known_noise(4, 9);
  const KnownGrain known{noise, statistics};
  const auto grain = fit_grain(statistics, &known);
  ASSERT_TRUE(grain);
  const auto level_at = [&](const GrainParams& params, int plane, std::size_t point) {
    return std::ldexp(
        32 * template_gain(params, 3, 1, 1).gain[plane] * params.points[plane][point].scale,
        -params.scaling_shift - params.grain_scale_shift);
  };
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(grain->points[i].size(), 2u);
    EXPECT_EQ(grain->points[i][0].at, 40);
    EXPECT_NEAR(level_at(*grain, i, 0), 4, 0.4) << i;
    EXPECT_NEAR(level_at(*grain, i, 1), 9, 0.9) << i;
    const auto correlation = template_gain(*grain, 3, 1, 1).correlation[i];
    EXPECT_NEAR(correlation[pair_index(1, 0)], 4.0 / 6, 0.08) << i;
    EXPECT_NEAR(correlation[pair_index(1, 1)], 16.0 / 36, 0.08) << i;
    EXPECT_NEAR(correlation[pair_index(3, 0)], 0, 0.08) << i;
  }
  // A scene with half of the noise gets half of the level that is known for the complete clip.
  const auto half = fit_grain(weaker, &known);
  ASSERT_TRUE(half);
  EXPECT_NEAR(level_at(*half, 0, 1), 4.5, 0.5);
}

TEST(GrainFit, CleanFramesHaveNoGrain) {
  GrainStatistics statistics(grey);
  const Pair pair = make_pair(grey, Kind::white, 6, 1);
  statistics.add(pair.noisy, pair.noisy);
  EXPECT_FALSE(fit_grain(statistics));
  EXPECT_FALSE(fit_grain(GrainStatistics(grey)));
}

TEST(GrainFit, PlaneWithoutNoiseHasNoGrain) {
  const FrameFormat format = yuv(1, 1);
  GrainStatistics statistics(format);
  Pair pair = make_pair(format, Kind::white, 6, 1);
  for (const int i : {1, 2}) copy_plane(pair.clean, i, pair.noisy);
  statistics.add(pair.noisy, pair.clean);
  const auto grain = fit_grain(statistics);
  ASSERT_TRUE(grain);
  for (const int i : {1, 2})
    for (const ScalingPoint& point : grain->points[i]) EXPECT_EQ(point.scale, 0);
}

TEST(GrainFit, RemovedStructureIsNotGrain) {
  // Stripes that the denoiser removed in a quarter of the picture.
  const Pair plain = make_pair(grey, Kind::white, 4, 1),
             striped = make_pair(grey, Kind::white, 4, 1);
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < 48; ++x) {
      const int texture = 12 * (x / 2 % 2) * (y / 3 % 2);
      striped.clean.plane<std::uint8_t>(0)(x, y) =
          static_cast<std::uint8_t>(striped.clean.plane<std::uint8_t>(0)(x, y) + texture);
      striped.noisy.plane<std::uint8_t>(0)(x, y) =
          static_cast<std::uint8_t>(striped.noisy.plane<std::uint8_t>(0)(x, y) + 2 * texture);
    }
  GrainStatistics one(grey), other(grey);
  one.add(plain.noisy, plain.clean);
  other.add(striped.noisy, striped.clean);
  const auto expected = fit_grain(one), found = fit_grain(other);
  ASSERT_TRUE(expected && found);
  EXPECT_LT(std::abs(found->ar_coeffs[0].back()) * std::ldexp(1, -found->ar_coeff_shift), 0.1);
}

/// Expects parameters within the ranges of an AV1 bitstream.
void expect_within_ranges(const GrainParams& grain) {
  const auto expect_within = [](int value, int low, int high) {
    EXPECT_GE(value, low);
    EXPECT_LE(value, high);
  };
  expect_within(grain.scaling_shift, 8, 11);
  expect_within(grain.ar_coeff_shift, 6, 9);
  expect_within(grain.grain_scale_shift, 0, 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_LE(grain.points[i].size(), static_cast<std::size_t>(GrainParams::max_points[i]));
    int before = -1;
    for (const ScalingPoint& point : grain.points[i]) {
      expect_within(point.at, before + 1, 255);
      expect_within(point.scale, 0, 255);
      before = point.at;
    }
    for (const int coefficient : grain.ar_coeffs[i]) expect_within(coefficient, -128, 127);
    expect_within(grain.luma_coeff[i], -128, 127);
  }
}

// Frames below 16 samples have no complete block in which grain is measured.
TEST(GrainFit, TinyFramesGiveValidGrainOrNone) {
  for (const auto& [w, h] :
       {std::pair{1, 1}, {2, 2}, {5, 3}, {17, 1}, {16, 40}, {40, 16}, {33, 33}}) {
    SCOPED_TRACE(std::to_string(w) + "x" + std::to_string(h));
    FrameFormat format = yuv(1, 1);
    format.width = w;
    format.height = h;
    GrainStatistics statistics(format);
    for (unsigned seed = 1; seed <= 4; ++seed) {
      const Pair pair = make_pair(format, Kind::white, 8, seed);
      statistics.add(pair.noisy, pair.clean);
    }
    const std::optional<GrainParams> grain = fit_grain(statistics);
    EXPECT_EQ(grain.has_value(), std::min(w, h) >= 16);
    if (grain) expect_within_ranges(*grain);
  }
}

}  // namespace
}  // namespace lull
