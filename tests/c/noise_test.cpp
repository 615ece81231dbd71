// Noise estimates of the C interface.

#include <string>

#include "c/support.h"
#include "noise/estimate/estimate.h"

namespace lull {
namespace {

using namespace lull::test_support;

constexpr int width = 128, height = 96;

Estimator open_estimator(const lull_format& format, const lull_params* params = nullptr) {
  lull_estimator* estimator = nullptr;
  EXPECT_EQ(lull_estimator_open(&format, params, &estimator), LULL_OK) << lull_last_error();
  return Estimator(estimator);
}

NoiseHandle find(const Estimator& estimator) {
  lull_noise* noise = nullptr;
  EXPECT_EQ(lull_estimator_find(estimator.get(), &noise), LULL_OK) << lull_last_error();
  return NoiseHandle(noise);
}

lull_noise_info info_of(const NoiseHandle& noise) {
  lull_noise_info info{};
  info.size = sizeof(info);
  EXPECT_EQ(lull_noise_get(noise.get(), &info), LULL_OK);
  return info;
}

TEST(CNoise, OfFramesIsThatOfTheCppEstimator) {
  const FrameFormat format{.width = width, .height = height};
  for (const bool consecutive : {true, false}) {
    const lull_format given =
        c_format(width, height, LULL_GREY, LULL_U8, consecutive ? LULL_CLIP : LULL_PICTURES);
    const Estimator estimator = open_estimator(given);
    std::vector<Excerpt> excerpts(consecutive ? 1 : 0);
    for (unsigned i = 0; i < 3; ++i) {
      const Frame frame = noisy_frame(format, i + 1);
      if (!consecutive) excerpts.emplace_back();
      excerpts.back().push_back(frame);
      const lull_frame added = c_frame(frame);
      ASSERT_EQ(lull_estimator_add(estimator.get(), &added), LULL_OK);
    }
    const NoiseHandle noise = find(estimator);
    const NoiseEstimate expected = estimate_noise(excerpts);
    const lull_noise_info info = info_of(noise);
    EXPECT_EQ(info.sigma[0], expected.level[0]);
    EXPECT_EQ(info.is_certain != 0, expected.certain);
    EXPECT_EQ(info.why, expected.why);
    EXPECT_EQ(info.kind, LULL_GAUSSIAN);
  }
}

TEST(CNoise, FramesWithConsecutiveNumbersFormAnExcerpt) {
  const FrameFormat format{.width = width, .height = height};
  const Estimator estimator =
      open_estimator(c_format(width, height, LULL_GREY, LULL_U8, LULL_CLIP));
  std::vector<Excerpt> excerpts(2);
  for (const int number : {10, 11, 70, 71}) {
    const Frame frame = noisy_frame(format, static_cast<unsigned>(number));
    excerpts[number < 70 ? 0 : 1].push_back(frame);
    lull_frame added = c_frame(frame);
    added.is_numbered = 1;
    added.number = number;
    ASSERT_EQ(lull_estimator_add(estimator.get(), &added), LULL_OK);
  }
  EXPECT_EQ(info_of(find(estimator)).sigma[0], estimate_noise(excerpts).level[0]);
}

TEST(CNoise, AnEstimateIsUsedByASession) {
  const FrameFormat format{.width = width, .height = height};
  const Frame noisy = noisy_frame(format);
  const lull_format given = c_format(width, height);
  const Estimator estimator = open_estimator(given);
  const lull_frame frame = c_frame(noisy);
  ASSERT_EQ(lull_estimator_add(estimator.get(), &frame), LULL_OK);
  const NoiseHandle noise = find(estimator);
  const Params params = make_c_params({{"profile", "fast"}});
  ASSERT_EQ(lull_params_set_noise(params.get(), noise.get()), LULL_OK);
  lull_session* session = nullptr;
  ASSERT_EQ(lull_session_open(&given, params.get(), nullptr, &session), LULL_OK)
      << lull_last_error();
  const Frame clean = denoised_in_c(noisy, Session(session));
  const Plane<float> original = texture_picture(width, height, 0);
  EXPECT_GT(psnr(plane_of(clean, 0).view(), original.view()),
            psnr(plane_of(noisy, 0).view(), original.view()) + 3);
  ASSERT_EQ(lull_params_set(params.get(), "sigma", "10"), LULL_OK);
  EXPECT_EQ(lull_session_open(&given, params.get(), nullptr, &session), LULL_INVALID_ARGUMENT)
      << "both specify the noise";
}

TEST(CNoise, AGivenSigmaIsKeptAndCompletedByTheClipping) {
  const FrameFormat format{.width = width, .height = height};
  const Frame noisy = noisy_frame(format);
  for (int y = 0; y < height; ++y)  // a clipped dark part
    for (int x = 0; x < width / 2; ++x)
      noisy.plane<std::uint8_t>(0)(x, y) =
          static_cast<std::uint8_t>((x * 7 + y * 13) % 3 == 0 ? 9 : 0);
  const Params params = make_c_params({{"sigma", "20"}});
  const Estimator estimator = open_estimator(c_format(width, height), params.get());
  const lull_frame frame = c_frame(noisy);
  ASSERT_EQ(lull_estimator_add(estimator.get(), &frame), LULL_OK);
  EXPECT_EQ(info_of(find(estimator)).sigma[0], 20);
}

/// A volume of a bright ball in air, as magnitudes with Rician noise of level 8.
std::vector<Frame> rician_volume(int side) {
  const FrameFormat format{.width = side, .height = side};
  std::mt19937 rng{5};
  std::normal_distribution<double> noise{0, 8};
  std::vector<Frame> slices;
  for (int z = 0; z < side; ++z) {
    const Frame& slice = slices.emplace_back(make_frame(format));
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const double r = std::hypot(x - side / 2.0, y - side / 2.0, z - side / 2.0) / side;
        const double value = r < 0.3 ? 120 + 60 * r : 0;
        const double magnitude = std::hypot(value + noise(rng), noise(rng));
        slice.plane<std::uint8_t>(0)(x, y) =
            static_cast<std::uint8_t>(std::min(magnitude, 255.0) + 0.5);
      }
  }
  return slices;
}

TEST(CNoise, OfMagnitudesIsRicianAndASessionUsesIt) {
  constexpr int side = 48;
  const std::vector<Frame> slices = rician_volume(side);
  lull_format format = c_format(side, side, LULL_GREY, LULL_U8, LULL_VOLUME);
  format.frames = side;
  const Estimator estimator = open_estimator(format);
  for (const Frame& slice : slices) {
    const lull_frame frame = c_frame(slice);
    ASSERT_EQ(lull_estimator_add(estimator.get(), &frame), LULL_OK);
  }
  const NoiseHandle noise = find(estimator);
  const lull_noise_info info = info_of(noise);
  EXPECT_EQ(info.kind, LULL_RICIAN);
  EXPECT_NEAR(info.sigma[0], 8, 1.2);
  const Params params = make_c_params({{"profile", "fast"}});
  ASSERT_EQ(lull_params_set_noise(params.get(), noise.get()), LULL_OK);
  lull_session* opened = nullptr;
  ASSERT_EQ(lull_session_open(&format, params.get(), nullptr, &opened), LULL_OK)
      << lull_last_error();
  const Session session(opened);
  const Frame memory = make_frame(slices.front().format);
  lull_frame to = c_frame(memory);
  double air = 0;
  int finished = 0;
  const auto take = [&] {
    if (finished++ == 0) air = plane_of(memory, 0).view()(1, 1);
  };
  for (const Frame& slice : slices) {
    const lull_frame frame = c_frame(slice);
    ASSERT_EQ(lull_push(session.get(), &frame), LULL_OK);
    while (lull_next(session.get(), &to) == LULL_OK) take();
  }
  while (lull_drain(session.get(), &to) == LULL_OK) take();
  EXPECT_EQ(finished, side);
  EXPECT_LT(air, 5) << "the mean of Rayleigh noise of level 8 is 10, and is removed";
}

TEST(CNoise, WithoutFramesAndOfTinyVolumesIsAnError) {
  lull_noise* noise = nullptr;
  EXPECT_EQ(lull_estimator_find(open_estimator(c_format(8, 8)).get(), &noise), LULL_BAD_DATA);
  EXPECT_EQ(noise, nullptr);
  const lull_format volume = c_format(8, 8, LULL_GREY, LULL_U8, LULL_VOLUME);
  EXPECT_EQ(lull_estimator_find(open_estimator(volume).get(), &noise), LULL_BAD_DATA);
  const lull_format colours = c_format(8, 8, LULL_RGB, LULL_U8, LULL_VOLUME);
  lull_estimator* estimator = nullptr;
  EXPECT_EQ(lull_estimator_open(&colours, nullptr, &estimator), LULL_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace lull
