// Series of volumes from the user's view: lull denoise --series, --residuals, and lull noise.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <thread>

#include "io/media.h"
#include "io/support/volumes.h"
#include "tools/support/pages.h"
#include "tools/support/program.h"
#include "tools/volumes/series_store.h"

namespace lull::tools {
namespace {

using io::test::samples_of;
using io::test::volume;
using io::test::VolumeSpec;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int width = 28, height = 26, slices = 16, volumes = 12;
constexpr int voxels = width * height * slices, samples = voxels * volumes;
constexpr double sigma = 30;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

bool inside(int i) {
  const double x = (i % width - 13.5) / 12, y = (i / width % height - 12.5) / 11;
  return x * x + y * y < 1;
}

/// A head with two tissues and a smooth contrast that differs from volume to volume; 0 in air.
double clean(int i) {
  const int v = i / voxels, x = i % width, y = i / width % height,
            z = i / (width * height) % slices;
  if (!inside(i)) return 0;
  const double tissue = (x + 2 * y + z) % 16 < 8 ? 500 : 800;
  const double contrast = std::sin(0.15 * x + 0.1 * y + 0.3 * z);
  return tissue * (v < 3 ? 1 : 0.5) + 150 * std::cos(1.1 * v) * contrast;
}

std::vector<float> noisy_series(bool rician = false) {
  std::mt19937 rng{3};
  std::normal_distribution<double> normal{0, sigma};
  std::vector<float> values;
  for (int i = 0; i < samples; ++i) {
    const double real = clean(i) + normal(rng);
    values.push_back(static_cast<float>(rician ? std::hypot(real, normal(rng)) : real));
  }
  return values;
}

template <class T>
VolumeSpec spec_of(int count = volumes) {
  return {.dim = {width, height, slices, count},
          .datatype = io::test::code_of<T>(),
          .bitpix = 8 * sizeof(T)};
}

class SeriesCommand : public ::testing::Test {
 protected:
  template <class T>
  void write(const std::string& name, const VolumeSpec& spec, const std::vector<T>& values) {
    const auto file = volume(spec, values);
    write_bytes(folder_ / name, {file.begin(), file.end()});
  }
  template <class T = float>
  std::vector<T> read(const std::string& name, const VolumeSpec& spec = spec_of<float>()) {
    const std::string bytes = bytes_of(folder_ / name);
    return samples_of<T>({bytes.begin(), bytes.end()}, spec);
  }
  Outcome run(std::vector<std::string> more = {}, const std::string& in = "in.nii",
              const std::string& out = "out.nii") {
    more.insert(more.begin(), {"denoise", "-y", folder_ / in, folder_ / out, "-d", "cpu",
                               "--profile", "fast", "--progress", "none"});
    return run_lull(more);
  }
  std::string denoise(const std::vector<std::string>& more = {}, const std::string& in = "in.nii",
                      const std::string& out = "out.nii") {
    const Outcome outcome = run(more, in, out);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.err;
  }
  void expect_refusal(const Outcome& outcome, const std::string& part, int code = 2) {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(part));
  }
  Folder folder_;
};

/// Root mean square error inside the head.
double error_of(const std::vector<float>& values, int first = 0, int last = volumes - 1) {
  double sum = 0;
  int count = 0;
  for (int i = first * voxels; i < (last + 1) * voxels; ++i)
    if (inside(i) && std::isfinite(values[i])) {
      sum += std::pow(static_cast<double>(values[i]) - clean(i), 2);
      ++count;
    }
  return std::sqrt(sum / count);
}

TEST_F(SeriesCommand, ComponentsAreBetterThanSingleVolumes) {
  for (const bool rician : {false, true}) {
    write("in.nii", spec_of<float>(), noisy_series(rician));
    const std::string lines = denoise();
    EXPECT_THAT(lines, HasSubstr(rician ? "Rician" : "Gaussian"));
    EXPECT_THAT(lines, HasSubstr("of 12 components of the volumes"));
    const double together = error_of(read("out.nii"));
    EXPECT_THAT(denoise({"--series", "each"}), Not(HasSubstr("components")));
    EXPECT_LT(together, 0.8 * error_of(read("out.nii"))) << rician;
    EXPECT_LT(together, 0.35 * sigma) << rician;
  }
}

TEST_F(SeriesCommand, NoiseIsReportedWithComponentsAndLevels) {
  write("in.nii", spec_of<float>(), noisy_series());
  const Outcome text = run_lull({"noise", folder_ / "in.nii"});
  EXPECT_THAT(text.out, HasSubstr("signal in "));
  const Outcome json = run_lull({"noise", folder_ / "in.nii", "--json"});
  const auto record = nlohmann::json::parse(json.out);
  const auto& scene = record["scenes"][0];
  const int components = scene["series"]["components"];
  EXPECT_GE(components, 2);
  EXPECT_LE(components, 6);
  ASSERT_EQ(scene["series"]["levels"].size(), 12u);
  const double unit = record["unit"];
  EXPECT_NEAR(scene["series"]["levels"][7].get<double>() * unit, sigma, 0.06 * sigma);
  const Outcome each = run_lull({"noise", folder_ / "in.nii", "--series", "each", "--json"});
  EXPECT_FALSE(nlohmann::json::parse(each.out)["scenes"][0].contains("series"));
}

TEST_F(SeriesCommand, NoiseOfAFileIsUsed) {
  write("in.nii", spec_of<float>(), noisy_series());
  denoise();
  const auto estimated = read("out.nii");
  ASSERT_EQ(run_lull({"noise", folder_ / "in.nii", "-o", folder_ / "noise.json"}).code, 0);
  denoise({"--noise", folder_ / "noise.json"});
  const auto given = read("out.nii");
  EXPECT_NEAR(error_of(given), error_of(estimated), 0.02 * sigma);
  // The estimate for the input would give that result, too. The levels of this file are too high.
  auto record = nlohmann::json::parse(bytes_of(folder_ / "noise.json"));
  for (auto& level : record["scenes"][0]["series"]["levels"]) level = 3 * level.get<double>();
  for (const char* key : {"sigma", "level"}) {
    auto& value = record["scenes"][0]["volume"][key];
    value = 3 * value.get<double>();
  }
  write_bytes(folder_ / "strong.json", record.dump());
  denoise({"--noise", folder_ / "strong.json"});
  EXPECT_NE(read("out.nii"), given);
  const std::string lines = denoise({"--sigma", "30", "--noise", "gaussian"});
  EXPECT_THAT(lines, HasSubstr("series: filtering 12 components of 12 volumes"));
  EXPECT_NEAR(error_of(read("out.nii")), error_of(estimated), 0.02 * sigma);
}

TEST_F(SeriesCommand, ReportShowsSpectrumResidualAndRepeatedVolumes) {
  const auto page_of = [&](const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"--report", folder_ / "page.html"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    denoise(arguments);
    const std::string html = bytes_of(folder_ / "page.html");
    expect_self_contained(html);
    return html;
  };
  const auto number_in = [](const std::string& html, const std::string& before) {
    std::smatch found;
    const bool matches =
        std::regex_search(html, found, std::regex(before + "(?:<[^>]*>)*([0-9.]+)"));
    EXPECT_TRUE(matches) << before;
    return matches ? std::stod(found[1].str()) : 0;
  };
  write("in.nii", spec_of<float>(), noisy_series());
  const std::string plain = page_of();
  EXPECT_THAT(plain, HasSubstr("eigenvalues of the covariance"));
  EXPECT_THAT(plain, HasSubstr("edge of the noise"));
  EXPECT_THAT(plain, HasSubstr("cut across x at 14, all volumes"));
  EXPECT_THAT(plain, Not(HasSubstr("b = 0")));
  const double components = number_in(plain, "components with signal");
  EXPECT_GE(components, 2);
  EXPECT_LE(components, 6);
  EXPECT_NEAR(number_in(plain, "removed in the object, root mean square"), 0.9, 0.15);

  // Volumes 0, 4 and 8 differ in the phantom, so the result is less different than the input.
  write_bytes(folder_ / "in.bval", "0 1000 1000 1000 5 1000 1000 1000 0 1000 1000 1000\n");
  const std::string repeated = page_of();
  EXPECT_THAT(repeated, HasSubstr("volume 4, b = 0"));
  EXPECT_THAT(repeated, Not(HasSubstr("volume 1, b = 0")));
  std::smatch found;
  ASSERT_TRUE(std::regex_search(
      repeated, found,
      std::regex("voxels of the object in the cuts</th><td[^>]*>([0-9.]+)</td><td[^>]*>([0-9.]+)")))
      << repeated.substr(repeated.find("repeated volumes"), 400);
  EXPECT_LT(std::stod(found[2].str()), std::stod(found[1].str()));

  write_bytes(folder_ / "in.bval", "0 1000\n");  // not one number per volume
  EXPECT_THAT(page_of(), Not(HasSubstr("b = 0")));
  EXPECT_THAT(page_of({"--series", "each"}), Not(HasSubstr("eigenvalues")));
}

TEST_F(SeriesCommand, ReportShowsTheNoiseMapOfALargerVolume) {
  write("in.nii", spec_of<float>(), noisy_series());
  const std::string path = folder_ / "noise.json";
  ASSERT_EQ(run_lull({"noise", folder_ / "in.nii", "-o", path}).code, 0);
  auto record = nlohmann::json::parse(bytes_of(path));
  auto& found = record["scenes"][0]["volume"];
  const float level = found["level"];
  found["map"] = {{"voxels", {9 * width, 9 * height, 9 * slices}},
                  {"nodes", {1, 1, 2}},
                  {"levels", {level, 1.5f * level}}};
  write_bytes(path, record.dump());
  denoise({"--noise", path, "--report", folder_ / "page.html"});
  EXPECT_THAT(bytes_of(folder_ / "page.html"), HasSubstr("<h3>Noise map</h3>"));
}

TEST_F(SeriesCommand, BytesDoNotDependOnThreads) {
  write("in.nii", spec_of<float>(), noisy_series(true));
  denoise({"--threads", "1"});
  const std::string bytes = bytes_of(folder_ / "out.nii");
  denoise({"--threads", "4"});
  EXPECT_TRUE(bytes_of(folder_ / "out.nii") == bytes);
}

TEST_F(SeriesCommand, SamplesBeyondTheMemoryAreInATemporaryFile) {
  write("in.nii", spec_of<float>(), noisy_series());
  const auto source = io::open_source(folder_ / "in.nii", {});
  SeriesStore in_memory(*source, volumes, 0, folder_ / ""),
      in_file(*source, volumes, 1, folder_ / "");
  while (const std::optional<Frame> slice = source->read())
    in_memory.add(*slice), in_file.add(*slice);
  for (int v = 0; v < volumes; ++v)
    EXPECT_TRUE(std::equal(in_memory.samples().volume(v), in_memory.samples().volume(v) + voxels,
                           in_file.samples().volume(v)))
        << v;
  EXPECT_THAT(folder_.names(), ::testing::ElementsAre("in.nii"));
}

TEST_F(SeriesCommand, HolesAndConstantVoxelsKeepTheirBits) {
  auto values = noisy_series();
  for (int v = 0; v < volumes; ++v) {
    for (int i = 3000; i < 3020; ++i) values[v * voxels + i] = nan;
    for (int i = 0; i < width * height; ++i) values[v * voxels + i] = 0.1f;  // a slice
  }
  const int hole = 4 * voxels + 5010, outlier = 5 * voxels + 6010;
  values[hole] = nan;
  values[outlier] = 1e9f;
  write("in.nii", spec_of<float>(), values);
  denoise({"--residuals", folder_ / "rest.nii"});
  auto result = read("out.nii");
  const auto rest = read("rest.nii");
  for (int v = 0; v < volumes; ++v) {
    EXPECT_TRUE(std::isnan(result[v * voxels + 3007]));
    EXPECT_EQ(result[v * voxels + 100], 0.1f);
    EXPECT_EQ(rest[v * voxels + 100], 0);
  }
  EXPECT_TRUE(std::isnan(result[hole]));
  EXPECT_EQ(result[outlier], 1e9f);
  EXPECT_EQ(rest[outlier], 0);
  // The other volumes are filtered there.
  EXPECT_NE(result[hole + voxels], values[hole + voxels]);
  EXPECT_NEAR(result[hole + voxels], clean(hole + voxels), 2 * sigma);
  for (int i = 0; i < samples; ++i)
    if (i % voxels < width * height) result[i] = nan;  // error_of() leaves it out
  EXPECT_LT(error_of(result, 0, 3), 0.4 * sigma);
}

TEST_F(SeriesCommand, VolumesWithoutNoiseArePreserved) {
  auto values = noisy_series();
  for (int i = 0; i < voxels; ++i) {
    values[2 * voxels + i] = nan;
    values[6 * voxels + i] = 0.3f;
  }
  write("in.nii", spec_of<float>(), values);
  for (const bool given : {false, true}) {
    SCOPED_TRACE(given);
    EXPECT_THAT(
        denoise(given ? std::vector<std::string>{"--sigma", "30"} : std::vector<std::string>{}),
        HasSubstr("series: filtering 10 components of 12 volumes"));
    const auto result = read("out.nii");
    for (int i = 0; i < voxels; i += 7) {
      EXPECT_TRUE(std::isnan(result[2 * voxels + i]));
      EXPECT_EQ(result[6 * voxels + i], 0.3f);
    }
    EXPECT_LT(error_of(result, 0, 1), 0.4 * sigma);
  }
}

TEST_F(SeriesCommand, SampleTypesAndScalesAreKept) {
  std::vector<std::int16_t> integers;
  for (const float value : noisy_series())
    integers.push_back(static_cast<std::int16_t>(std::round((value + 1000) * 4)));
  VolumeSpec spec = spec_of<std::int16_t>();
  spec.slope = 0.25;
  spec.inter = -1000;
  write("in.nii", spec, integers);
  denoise();
  std::vector<float> result;
  for (const std::int16_t value : read<std::int16_t>("out.nii", spec))
    result.push_back(static_cast<float>(value * 0.25 - 1000));
  EXPECT_LT(error_of(result), 0.35 * sigma);
  EXPECT_EQ(bytes_of(folder_ / "out.nii").substr(0, 352),
            bytes_of(folder_ / "in.nii").substr(0, 352));
}

TEST_F(SeriesCommand, ResidualsAreInputMinusOutput) {
  const auto values = noisy_series();
  write("in.nii", spec_of<float>(), values);
  denoise({"--residuals", folder_ / "rest.nii"});
  const auto result = read("out.nii"), rest = read("rest.nii");
  for (int i = 0; i < samples; ++i) EXPECT_NEAR(rest[i], values[i] - result[i], 1e-3) << i;
  // The file is of floats whatever the type of the input, and is also written for single volumes.
  std::vector<std::uint16_t> integers;
  for (int i = 0; i < voxels; ++i)
    integers.push_back(static_cast<std::uint16_t>(std::max(values[i] + 200, 0.0f)));
  write("one.nii", spec_of<std::uint16_t>(1), integers);
  denoise({"--residuals", folder_ / "rest.nii"}, "one.nii", "two.nii");
  const auto clean_one = read<std::uint16_t>("two.nii", spec_of<std::uint16_t>(1));
  const auto rest_one = read("rest.nii", spec_of<float>(1));
  for (int i = 0; i < voxels; ++i) EXPECT_NEAR(rest_one[i], integers[i] - clean_one[i], 0.51) << i;
}

TEST_F(SeriesCommand, MaskLimitsTheResult) {
  const auto values = noisy_series();
  write("in.nii", spec_of<float>(), values);
  std::vector<std::uint8_t> mask;
  for (int i = 0; i < voxels; ++i) mask.push_back(inside(i));
  write("mask.nii", spec_of<std::uint8_t>(1), mask);
  denoise({"--mask", folder_ / "mask.nii"});
  const auto result = read("out.nii");
  EXPECT_LT(error_of(result), 0.35 * sigma);
  for (int i = 0; i < samples; i += 5)
    if (!inside(i)) {
      EXPECT_EQ(result[i], values[i]);
    }
  denoise({"--mask", folder_ / "mask.nii", "--outside", "zero"});
  EXPECT_EQ(read("out.nii")[0], 0);
}

TEST_F(SeriesCommand, VolumesWithLevelsOfTheirOwnAreFilteredAsAlone) {
  std::mt19937 rng{5};
  std::normal_distribution<double> normal{0, 1};
  std::vector<float> both, alone[2];
  for (int i = 0; i < 2 * voxels; ++i) {
    const int v = i / voxels;
    both.push_back(static_cast<float>(clean(i) + (v == 0 ? 60 : 12) * normal(rng)));
    alone[v].push_back(both.back());
  }
  write("in.nii", spec_of<float>(2), both);
  EXPECT_THAT(denoise({"--noise-map", folder_ / "map.nii"}), HasSubstr("by volume"));
  const auto result = read("out.nii", spec_of<float>(2));
  const auto map = read("map.nii", spec_of<float>(2));
  EXPECT_NEAR(map[100], 60, 15);
  EXPECT_NEAR(map[voxels + 100], 12, 6);
  for (int v = 0; v < 2; ++v) {
    write("one.nii", spec_of<float>(1), alone[v]);
    denoise({}, "one.nii", "two.nii");
    const auto single = read("two.nii", spec_of<float>(1));
    double in_series = 0, by_itself = 0;
    for (int i = 0; i < voxels; ++i) {
      in_series += std::pow(result[v * voxels + i] - clean(v * voxels + i), 2);
      by_itself += std::pow(single[i] - clean(v * voxels + i), 2);
    }
    EXPECT_LT(std::abs(10 * std::log10(in_series / by_itself)), 0.1) << v;
  }
}

TEST_F(SeriesCommand, ChoiceIsCheckedAgainstTheInput) {
  const auto values = noisy_series();
  write<float>("one.nii", spec_of<float>(1), {values.begin(), values.begin() + voxels});
  expect_refusal(run({"--series", "pca"}, "one.nii"), "at least 2 volumes");
  expect_refusal(run({"--series", "some"}, "one.nii"), "must be one of auto, pca, each");
  write("in.nii", spec_of<float>(), values);
  expect_refusal(run({"--series", "pca", "--guide", folder_ / "in.nii", "--method", "bm3d"}),
                 "--series pca with --guide");
  expect_refusal(run({"--residuals", folder_ / "in.nii"}), "--residuals");
  write_bytes(folder_ / "rest.nii", "x");
  const Outcome exists = run_lull({"denoise", folder_ / "in.nii", folder_ / "new.nii",
                                   "--residuals", folder_ / "rest.nii", "-d", "cpu"});
  expect_refusal(exists, "rest.nii", 73);
  EXPECT_THAT(folder_.names(), Not(Contains("new.nii")));
  EXPECT_EQ(bytes_of(folder_ / "rest.nii"), "x");
}

TEST_F(SeriesCommand, FewVolumesAreCombinedOnRequest) {
  const auto values = noisy_series();
  write<float>("in.nii", spec_of<float>(6), {values.begin(), values.begin() + 6 * voxels});
  EXPECT_THAT(denoise(), Not(HasSubstr("components")));
  const double each = error_of(read("out.nii", spec_of<float>(6)), 0, 5);
  EXPECT_THAT(denoise({"--series", "pca"}), HasSubstr("components of 6 volumes"));
  EXPECT_LT(error_of(read("out.nii", spec_of<float>(6)), 0, 5), 0.95 * each);
}

TEST_F(SeriesCommand, StopLeavesNoFile) {
  write("in.nii", spec_of<float>(), noisy_series());
  Program program({"denoise", folder_ / "in.nii", folder_ / "out.nii", "-d", "reference",
                   "--residuals", folder_ / "rest.nii"});
  while (program.running() && program.cpu_time() < std::chrono::milliseconds(1500))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  program.send(15);
  EXPECT_EQ(program.wait().code, 143);
  EXPECT_THAT(folder_.names(), ::testing::ElementsAre("in.nii"));
}

}  // namespace
}  // namespace lull::tools
