#include "raw/raw_session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "raw/demosaic.h"
#include "raw/mosaic_samples.h"
#include "support/raw_scenes.h"

namespace lull::raw {
namespace {

using namespace lull::test_support;

constexpr int width = 176, height = 144;

std::unique_ptr<Denoiser> open_session(const Sensor& sensor, const SensorNoise& noise,
                                       const Frame& mosaic, Result result, int threads = 0) {
  const auto open = [threads](const NoiseModel& model, const FrameFormat& format) {
    return bm3d::open(bm3d::make_params(bm3d::Profile::high, model, 0), format,
                      {.kind = BackendKind::cpu, .threads = threads});
  };
  const RawParams params{
      .sensor = sensor,
      .vst = std::make_shared<SensorVst>(sensor, ColourNoise{noise, noise, noise},
                                         mosaic.plane<std::uint16_t>(0)),
      .result = result};
  return open_raw(params, mosaic.format, {.first = open, .last = open});
}

Frame denoise(const Sensor& sensor, const SensorNoise& noise, const Frame& mosaic, Result result,
              int threads = 0) {
  const auto session = open_session(sensor, noise, mosaic, result, threads);
  auto frame = session->push(mosaic);
  if (!frame) frame = session->drain();
  EXPECT_TRUE(frame);
  return *frame;
}

/// Scaled value of a result's sample.
double value(const Sensor& sensor, const Frame& result, int plane, int x, int y) {
  const std::uint16_t v = result.plane<std::uint16_t>(plane)(x, y);
  if (result.format.planes() == 3) return v / 65535.0;
  const ResultLevels levels = result_levels(sensor);
  const auto black = static_cast<double>(levels.black[(y & 1) * 2 + (x & 1)]);
  return (v - black) / (static_cast<double>(levels.white) - black);
}

/// PSNR of balanced values in the square root, which resembles a display's curve.
template <class Value>
double psnr(const Sensor& sensor, const Value& value_of) {
  double sum = 0;
  int count = 0;
  for (int y = 8; y < height - 8; ++y)
    for (int x = 8; x < width - 8; ++x)
      for (int c = 0; c < 3; ++c) {
        const auto balance = static_cast<double>(sensor.balance[c]);
        const double clean = scene_light(sensor, c, x, y);
        const double error =
            std::sqrt(std::max(balance * value_of(c, x, y), 0.0)) - std::sqrt(balance * clean);
        sum += error * error;
        ++count;
      }
  return -10 * std::log10(sum / count);
}

double psnr_of_demosaiced(const Sensor& sensor, const Frame& mosaic) {
  Plane<float> samples(width, height), r(width, height), g(width, height), b(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      samples.view()(x, y) =
          (static_cast<float>(mosaic.plane<std::uint16_t>(0)(x, y)) - sensor.black_at(x, y)) /
          (sensor.white - sensor.black_at(x, y)) * sensor.balance[sensor.pattern.at(x, y)];
  const std::array<PlaneView<float>, 3> rgb{r.view(), g.view(), b.view()};
  demosaic(samples.view(), sensor.pattern, LinearFilters::malvar, rgb);
  return psnr(sensor, [&](int c, int x, int y) {
    return static_cast<double>(rgb[c](x, y) / sensor.balance[c]);
  });
}

TEST(RawSession, ImprovesOnDemosaicingForAllPatterns) {
  const SensorNoise noise{0.003, 1e-5};
  for (const std::array<std::uint8_t, 4> colours :
       {std::array<std::uint8_t, 4>{0, 1, 1, 2}, {1, 2, 0, 1}}) {
    const Sensor sensor = test_sensor(colours);
    const Frame mosaic = make_scene_mosaic(sensor, noise, width, height);
    const Frame result = denoise(sensor, noise, mosaic, Result::linear);
    const double before = psnr_of_demosaiced(sensor, mosaic);
    const double after =
        psnr(sensor, [&](int c, int x, int y) { return value(sensor, result, c, x, y); });
    EXPECT_GT(after, before + 6) << "from " << before;
  }
}

TEST(RawSession, MosaicHasTheColoursOfTheSites) {
  const SensorNoise noise{0.003, 1e-5};
  const Sensor sensor = test_sensor({1, 0, 2, 1});
  const Frame mosaic = make_scene_mosaic(sensor, noise, width, height);
  const Frame linear = denoise(sensor, noise, mosaic, Result::linear),
              sites = denoise(sensor, noise, mosaic, Result::mosaic);
  ASSERT_EQ(sites.format.planes(), 1);
  int different = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      different += std::abs(value(sensor, sites, 0, x, y) -
                            value(sensor, linear, sensor.pattern.at(x, y), x, y)) > 0.01;
  EXPECT_EQ(different, 0);
}

TEST(RawSession, KeepsTheMeanOfDarkAndBrightAreas) {
  const SensorNoise noise{0.004, 4e-5};
  const Sensor sensor = test_sensor();
  for (const double light : {0.0, 0.004, 0.3}) {
    const Frame mosaic = make_mosaic(sensor, noise, width, height, 7, [&](int c, int, int) {
      return light / static_cast<double>(sensor.balance[c]);
    });
    const Frame result = denoise(sensor, noise, mosaic, Result::linear);
    for (int c = 0; c < 3; ++c) {
      double sum = 0;
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) sum += value(sensor, result, c, x, y);
      const double clean = light / static_cast<double>(sensor.balance[c]);
      // The mean of the noise itself has this standard deviation.
      const double chance = std::sqrt(noise.variance(clean) / (width * height / 4));
      EXPECT_NEAR(sum / (width * height), clean,
                  4 * chance + 0.05 * std::sqrt(noise.variance(clean)))
          << c << " of " << light;
    }
  }
}

TEST(RawSession, ReplacesHotAndDeadSites) {
  const SensorNoise noise{0.001, 1e-6};
  const Sensor sensor = test_sensor();
  const Frame mosaic = make_mosaic(sensor, noise, width, height, 2, [&](int c, int, int) {
    return 0.2 / static_cast<double>(sensor.balance[c]);
  });
  mosaic.plane<std::uint16_t>(0)(60, 60) = 16383;
  mosaic.plane<std::uint16_t>(0)(81, 60) = 9000;
  mosaic.plane<std::uint16_t>(0)(100, 81) = 512;
  const Frame result = denoise(sensor, noise, mosaic, Result::linear);
  for (const auto& [x, y] : {std::pair{60, 60}, {81, 60}, {100, 81}})
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(value(sensor, result, c, x, y), 0.2 / static_cast<double>(sensor.balance[c]),
                  0.01)
          << x << ' ' << y;
}

TEST(RawSession, KeepsClippedSamplesOfAMosaic) {
  const SensorNoise noise{0.002, 1e-6};
  const Sensor sensor = test_sensor();
  const Frame mosaic = make_mosaic(sensor, noise, width, height, 2,
                                   [](int, int x, int) { return x < width / 2 ? 1.4 : 0.3; });
  const Frame sites = denoise(sensor, noise, mosaic, Result::mosaic);
  const auto white = static_cast<std::uint16_t>(result_levels(sensor).white);
  EXPECT_EQ(sites.plane<std::uint16_t>(0)(20, 40), white);
  const Frame linear = denoise(sensor, noise, mosaic, Result::linear);
  for (int c = 0; c < 3; ++c) EXPECT_EQ(linear.plane<std::uint16_t>(c)(20, 40), 65535) << c;
}

TEST(RawSession, RemovesTheDifferenceOfGreens) {
  const SensorNoise noise{0.0004, 1e-6};
  const Sensor sensor = test_sensor();
  const auto light = [&](int c, int, int y) {
    const double ratio = c == 1 && y % 2 == 1 ? 0.96 : 1;
    return 0.25 * ratio / static_cast<double>(sensor.balance[c]);
  };
  const Frame mosaic = make_mosaic(sensor, noise, width, height, 2, light);
  EXPECT_NEAR(green_ratio(mosaic.plane<std::uint16_t>(0), sensor), 1 / 0.96, 2e-3);
  const Frame linear = denoise(sensor, noise, mosaic, Result::linear);
  double even = 0, odd = 0;
  for (int x = 20; x < 120; ++x) {
    even += value(sensor, linear, 1, x, 60);
    odd += value(sensor, linear, 1, x, 61);
  }
  EXPECT_NEAR(even / odd, 1, 3e-3);
  // A mosaic keeps the response of its sites.
  const Frame sites = denoise(sensor, noise, mosaic, Result::mosaic);
  EXPECT_NEAR(value(sensor, sites, 0, 60, 61) / value(sensor, sites, 0, 61, 60), 0.96, 0.01);
}

TEST(RawSession, ResultDoesNotDependOnTheNumberOfThreads) {
  const SensorNoise noise{0.003, 1e-5};
  const Sensor sensor = test_sensor();
  const Frame mosaic = make_scene_mosaic(sensor, noise, width, height);
  const Frame one = denoise(sensor, noise, mosaic, Result::linear, 1),
              two = denoise(sensor, noise, mosaic, Result::linear, 2);
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < height; ++y)
      ASSERT_EQ(std::memcmp(one.plane<std::uint16_t>(c).row(y), two.plane<std::uint16_t>(c).row(y),
                            width * sizeof(std::uint16_t)),
                0);
}

TEST(RawSession, ReturnsAllFramesInOrderAndCanBeUsedAgain) {
  const SensorNoise noise{0.003, 1e-5};
  const Sensor sensor = test_sensor();
  Frame mosaic = make_scene_mosaic(sensor, noise, 64, 48);
  const auto session = open_session(sensor, noise, mosaic, Result::mosaic);
  for (int clip = 0; clip < 2; ++clip) {
    std::vector<std::int64_t> times;
    for (int i = 0; i < 3; ++i) {
      mosaic.pts = i;
      for (auto frame = session->push(mosaic); frame; frame = session->next())
        times.push_back(frame->pts);
    }
    for (auto frame = session->drain(); frame; frame = session->drain())
      times.push_back(frame->pts);
    EXPECT_EQ(times, (std::vector<std::int64_t>{0, 1, 2}));
  }
}

TEST(RawSession, RefusesFramesThatAreNoMosaic) {
  const Sensor sensor = test_sensor();
  const Frame mosaic = make_scene_mosaic(sensor, {0.003, 1e-5}, 64, 48);
  const auto session = open_session(sensor, {0.003, 1e-5}, mosaic, Result::mosaic);
  FramePool pool(mosaic_format(66, 48));
  EXPECT_THROW((void)session->push(pool.acquire()), InvalidArgument);
}

}  // namespace
}  // namespace lull::raw
