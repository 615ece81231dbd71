// Complex samples from the user's view: lull denoise --phase and --phase-out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>

#include "io/support/volumes.h"
#include "tools/support/program.h"
#include "tools/volumes/phase_file.h"

namespace lull::tools {
namespace {

using io::test::samples_of;
using io::test::volume;
using io::test::VolumeSpec;
using ::testing::HasSubstr;

constexpr int width = 28, height = 26, slices = 12, volumes = 10;
constexpr int voxels = width * height * slices, samples = voxels * volumes;
constexpr double sigma = 30, turn = 2 * std::numbers::pi;

bool inside(int i) {
  const double x = (i % width - 13.5) / 12, y = (i / width % height - 12.5) / 11;
  return x * x + y * y < 1;
}

/// Signals of 0.3 to 8 noise levels, most of them below 2, which differ from volume to volume.
double clean(int i) {
  const int v = i / voxels, x = i % width, z = i / (width * height) % slices;
  if (!inside(i)) return 0;
  return (v < 2 ? 180 : 30) * (1 + 0.4 * std::sin(0.3 * x + 0.2 * z)) + 10 * std::cos(1.1 * v);
}

/// A smooth phase that differs from volume to volume, and passes through several turns.
double clean_phase(int i) {
  const int v = i / voxels, x = i % width, y = i / width % height;
  return 0.25 * x * std::cos(v) - 0.15 * y + 1.7 * v;
}

struct Pair {
  std::vector<float> magnitudes, phases;  // phases in radians
};

Pair noisy_pair() {
  std::mt19937 rng{11};
  std::normal_distribution<double> normal{0, sigma};
  Pair pair;
  for (int i = 0; i < samples; ++i) {
    const std::complex<double> noise(normal(rng), normal(rng));
    const std::complex<double> sample = std::polar(clean(i), clean_phase(i)) + noise;
    pair.magnitudes.push_back(static_cast<float>(std::abs(sample)));
    pair.phases.push_back(static_cast<float>(std::arg(sample)));
  }
  return pair;
}

VolumeSpec spec_of(int datatype, int bits, int count = volumes) {
  return {.dim = {width, height, slices, count}, .datatype = datatype, .bitpix = bits};
}
constexpr int float32 = 16, int16 = 4;

class PhaseCommand : public ::testing::Test {
 protected:
  template <class T>
  void write(const std::string& name, const VolumeSpec& spec, const std::vector<T>& values) {
    const auto file = volume(spec, values);
    write_bytes(folder_ / name, {file.begin(), file.end()});
  }
  std::vector<float> read(const std::string& name) {
    const std::string bytes = bytes_of(folder_ / name);
    return samples_of<float>({bytes.begin(), bytes.end()}, spec_of(float32, 32));
  }
  Outcome run(const std::vector<std::string>& more, const std::string& out = "out.nii") {
    std::vector<std::string> arguments{"denoise",    "-y",  folder_ / "mag.nii", folder_ / out,
                                       "-d",         "cpu", "--profile",         "fast",
                                       "--progress", "none"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_lull(arguments);
  }
  std::vector<float> denoised(const std::vector<std::string>& more) {
    const Outcome outcome = run(more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return read("out.nii");
  }
  Folder folder_;
};

/// Root mean square error, and mean error, in the object.
std::pair<double, double> errors_of(const std::vector<float>& values) {
  double sum = 0, squares = 0, count = 0;
  for (int i = 0; i < samples; ++i)
    if (inside(i)) {
      const double error = static_cast<double>(values[i]) - clean(i);
      sum += error, squares += error * error, ++count;
    }
  return {std::sqrt(squares / count), sum / count};
}

TEST_F(PhaseCommand, ComplexSamplesAreBetterThanMagnitudesWithoutBias) {
  const Pair pair = noisy_pair();
  write("mag.nii", spec_of(float32, 32), pair.magnitudes);
  write("phase.nii", spec_of(float32, 32), pair.phases);
  const auto alone = errors_of(denoised({"--noise", "rician"}));
  const auto result =
      denoised({"--phase", folder_ / "phase.nii", "--phase-out", folder_ / "clean.nii"});
  const auto together = errors_of(result);
  EXPECT_LT(together.first, alone.first);
  EXPECT_LT(together.first, 0.4 * sigma);
  EXPECT_NEAR(together.second, 0, 0.1 * sigma);
  double air = 0, count = 0, off = 0, off_before = 0, bright = 0;
  const auto phases = read("clean.nii");
  for (int i = 0; i < samples; ++i) {
    if (!inside(i)) air += static_cast<double>(result[i]), ++count;
    if (clean(i) < 4 * sigma) continue;
    off += std::abs(std::remainder(static_cast<double>(phases[i]) - clean_phase(i), turn));
    off_before +=
        std::abs(std::remainder(static_cast<double>(pair.phases[i]) - clean_phase(i), turn));
    ++bright;
    ASSERT_LE(std::abs(phases[i]), 3.1416f);
  }
  EXPECT_LT(air / count, 0.4 * sigma);  // 1.25 sigma in the input
  EXPECT_LT(off / bright, 0.6 * off_before / bright);
}

TEST_F(PhaseCommand, UnitsOfPhaseGiveTheSameResult) {
  const Pair pair = noisy_pair();
  write("mag.nii", spec_of(float32, 32), pair.magnitudes);
  write("phase.nii", spec_of(float32, 32), pair.phases);
  const auto expected = denoised({"--phase", folder_ / "phase.nii"});
  std::vector<std::int16_t> scanner, wide;
  for (const float phase : pair.phases) {
    const double share = static_cast<double>(phase) / turn;  // -0.5..0.5
    scanner.push_back(
        static_cast<std::int16_t>(std::floor((share < 0 ? share + 1 : share) * 4096)));
    wide.push_back(static_cast<std::int16_t>(std::lround(share * 8192)));
  }
  write("scanner.nii", spec_of(int16, 16), scanner);
  write("wide.nii", spec_of(int16, 16), wide);
  for (const std::string name : {"scanner.nii", "wide.nii"}) {
    const auto result = denoised({"--phase", folder_ / name});
    double squares = 0;
    for (int i = 0; i < samples; ++i)
      squares += std::pow(static_cast<double>(result[i]) - static_cast<double>(expected[i]), 2);
    EXPECT_LT(std::sqrt(squares / samples), 0.1 * sigma) << name;
  }
}

TEST_F(PhaseCommand, NoiseIsThatOfTheComplexSamples) {
  const Pair pair = noisy_pair();
  write("mag.nii", spec_of(float32, 32), pair.magnitudes);
  write("phase.nii", spec_of(float32, 32), pair.phases);
  const Outcome outcome =
      run_lull({"noise", folder_ / "mag.nii", "--phase", folder_ / "phase.nii"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Rician, "));
  EXPECT_THAT(outcome.out, HasSubstr("of 20 components"));
  const double level = std::stod(outcome.out.substr(outcome.out.find("Rician, ") + 8));
  EXPECT_NEAR(level, sigma, 0.05 * sigma);
}

TEST_F(PhaseCommand, OneVolumeIsFilteredWithItsPhase) {
  Pair pair = noisy_pair();
  pair.magnitudes.resize(voxels), pair.phases.resize(voxels);
  write("mag.nii", spec_of(float32, 32, 1), pair.magnitudes);
  write("phase.nii", spec_of(float32, 32, 1), pair.phases);
  const Outcome outcome = run({"--phase", folder_ / "phase.nii"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string bytes = bytes_of(folder_ / "out.nii");
  const auto result = samples_of<float>({bytes.begin(), bytes.end()}, spec_of(float32, 32, 1));
  double before = 0, after = 0;
  for (int i = 0; i < voxels; ++i) {
    if (!inside(i)) continue;
    before += std::pow(static_cast<double>(pair.magnitudes[i]) - clean(i), 2);
    after += std::pow(static_cast<double>(result[i]) - clean(i), 2);
  }
  EXPECT_LT(after, 0.25 * before);
}

TEST_F(PhaseCommand, UnsuitablePhasesAreRefused) {
  const Pair pair = noisy_pair();
  write("mag.nii", spec_of(float32, 32), pair.magnitudes);
  const auto refuse = [&](const std::vector<std::string>& more, int code, const std::string& part) {
    const Outcome outcome = run(more, "refused.nii");
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(part));
    for (const std::string& name : folder_.names()) EXPECT_THAT(name, Not(HasSubstr("refused")));
  };
  refuse({"--phase", folder_ / "absent.nii"}, 66, "absent.nii");
  refuse({"--phase-out", folder_ / "refused-phase.nii"}, 2, "--phase-out without --phase");
  std::vector<float> other = pair.phases;
  for (float& phase : other) phase *= 100;
  write("other.nii", spec_of(float32, 32), other);
  refuse({"--phase", folder_ / "other.nii"}, 65, "--phase-turn");
  other.resize(voxels);
  write("other.nii", spec_of(float32, 32, 1), other);
  refuse({"--phase", folder_ / "other.nii"}, 65, "28x26x12 voxels");
  write("phase.nii", spec_of(float32, 32), pair.phases);
  refuse({"--phase", folder_ / "phase.nii", "--phase-turn", "-1"}, 2, "--phase-turn");
}

TEST(PhaseFile, RangeOfValuesDeterminesTheTurn) {
  constexpr double pi = std::numbers::pi;
  EXPECT_EQ(turn_of_range(-3.14, 3.14), 2 * pi);
  EXPECT_EQ(turn_of_range(0, 6.28), 2 * pi);
  EXPECT_EQ(turn_of_range(-1, 1.5), 2 * pi);
  EXPECT_EQ(turn_of_range(0, 4095), 4096);
  EXPECT_EQ(turn_of_range(0, 4096), 4096);
  EXPECT_EQ(turn_of_range(-2048, 2047), 4096);
  EXPECT_EQ(turn_of_range(-4096, 4094), 8192);
  EXPECT_EQ(turn_of_range(-4096, 4096), 8192);
  EXPECT_EQ(turn_of_range(-3141, 3142), 2000 * pi);
  EXPECT_EQ(turn_of_range(-180, 179.9), 360);
  EXPECT_EQ(turn_of_range(0, 1), 0);
  EXPECT_EQ(turn_of_range(0, 0), 0);
  EXPECT_EQ(turn_of_range(0, 1000), 0);
}

}  // namespace
}  // namespace lull::tools
