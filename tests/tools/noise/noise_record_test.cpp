#include "tools/noise/noise_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "core/error.h"
#include "tools/noise/noise_text.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Autocorrelation> some_correlation() {
  auto lags = std::make_shared<Autocorrelation>();
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx)
      (*lags)[lag_index(dx, dy)] = 1 / (1 + 0.7f * static_cast<float>(dx * dx + 2 * dy * dy));
  return lags;
}

std::shared_ptr<const NoiseCurve> rising_curve() {
  auto curve = std::make_shared<NoiseCurve>();
  for (int i = 0; i < NoiseCurve::knots; ++i) curve->sigma[i] = 2 + 0.1f * static_cast<float>(i);
  curve->low = 0;
  return curve;
}

NoiseRecord coloured_record(bool opponents) {
  NoiseRecord record{.layout = opponents ? Layout::rgb : Layout::yuv, .unit = 0, .scenes = {}};
  SceneNoise scene;
  NoiseEstimate& estimate = scene.estimate;
  const PlaneNoise plane{.sigma = 4.1f, .correlation = some_correlation(), .curve = {}};
  if (opponents) {
    estimate.noise = NoiseModel::of_opponents({plane, {3, nullptr, nullptr}, plane});
  } else {
    estimate.noise.plane(0) = plane;
    estimate.noise.plane(1).sigma = 1.0f / 3;
  }
  estimate.noise.plane(0).curve = rising_curve();
  estimate.level = {6.1f, 4, 4.4f};
  estimate.coarse = 3.9f;
  record.scenes = {scene, scene};
  record.scenes[1].half = estimate;
  record.scenes[1].from_s = 1234567.0625;
  record.scenes[1].estimate.certain = false;
  record.scenes[1].estimate.confidence = 0.25f;
  record.scenes[1].estimate.why = "all is \"texture\"";
  return record;
}

void expect_equal(const PlaneNoise& a, const PlaneNoise& b) {
  EXPECT_EQ(a.sigma, b.sigma);
  ASSERT_EQ(a.correlation == nullptr, b.correlation == nullptr);
  if (a.correlation) {
    EXPECT_EQ(*a.correlation, *b.correlation);
  }
  ASSERT_EQ(a.curve == nullptr, b.curve == nullptr);
  if (!a.curve) return;
  EXPECT_EQ(a.curve->sigma, b.curve->sigma);
  EXPECT_EQ(a.curve->low, b.curve->low);
  EXPECT_EQ(a.curve->high, b.curve->high);
}

TEST(NoiseRecord, SurvivesWritingAndParsing) {
  for (const bool opponents : {false, true}) {
    const NoiseRecord record = coloured_record(opponents);
    const NoiseRecord again = parse_noise(to_json(record), "a");
    EXPECT_EQ(to_json(again), to_json(record));
    EXPECT_EQ(again.layout, record.layout);
    ASSERT_EQ(again.scenes.size(), 2u);
    EXPECT_EQ(again.scenes[1].from_s, 1234567.0625);
    EXPECT_FALSE(again.scenes[1].estimate.certain);
    EXPECT_EQ(again.scenes[1].estimate.confidence, 0.25f);
    EXPECT_EQ(again.scenes[1].estimate.why, record.scenes[1].estimate.why);
    EXPECT_FALSE(again.scenes[0].half);
    ASSERT_TRUE(again.scenes[1].half);
    EXPECT_EQ(again.scenes[1].half->coarse, 3.9f);
    const NoiseModel &a = record.scenes[0].estimate.noise, &b = again.scenes[0].estimate.noise;
    EXPECT_EQ(b.is_of_opponents(), opponents);
    for (int i = 0; i < 3; ++i) {
      expect_equal(a.plane(i), b.plane(i));
      expect_equal(a.in_opponent_space().plane(i), b.in_opponent_space().plane(i));
    }
  }
}

TEST(NoiseRecord, HasOnePlaneForGrey) {
  NoiseRecord record{.layout = Layout::gray, .unit = 2.5, .scenes = {{}}};
  record.scenes[0].estimate.noise.plane(0).sigma = 7;
  const NoiseRecord again = parse_noise(to_json(record), "a");
  EXPECT_EQ(again.unit, 2.5);
  EXPECT_EQ(again.scenes[0].estimate.noise.sigmas(), (std::array<float, 3>{7, 0, 0}));
}

TEST(NoiseRecord, StoresTheUnitOfEachScene) {
  NoiseRecord record{.layout = Layout::gray, .unit = 0, .scenes = {{}, {}}};
  for (SceneNoise& scene : record.scenes) scene.estimate.noise = NoiseModel({20, 0, 0});
  for (SceneNoise& scene : record.scenes) scene.estimate.level = {20, 0, 0};
  record.scenes[0].name = "channel 1";
  record.scenes[0].unit = 1.0 / 3;
  record.scenes[1].name = "channel 2";
  record.scenes[1].unit = 7;
  const NoiseRecord again = parse_noise(to_json(record), "a");
  EXPECT_EQ(again.scenes[0].unit, 1.0 / 3);
  EXPECT_EQ(again.scenes[1].unit, 7);
  EXPECT_EQ(describe(again)[1], "channel 2: white, 140 (the file's units)");
}

NoiseRecord volume_record() {
  auto map = std::make_shared<NoiseMap>();
  map->voxels = {60, 50, 40};
  map->nodes = {3, 1, 2};
  map->values = {1, 2, 3, 1.0f / 3, 5, 6.5f};
  VolumeEstimate volume{.noise = {NoiseKind::rician, 1.0f / 3, 0, map}, .level = 3};
  volume.air = 2.9f;
  volume.tissue = 3.1f;
  NoiseRecord record{.layout = Layout::gray, .unit = 2, .scenes = {{}}};
  record.scenes[0].estimate.noise.plane(0).sigma = 1.0f / 3;
  record.scenes[0].estimate.level = {3, 3, 3};
  record.scenes[0].volume = volume;
  return record;
}

TEST(NoiseRecord, StoresKindAndMapOfVolumes) {
  const NoiseRecord record = volume_record(), again = parse_noise(to_json(record), "a");
  EXPECT_EQ(to_json(again), to_json(record));
  ASSERT_TRUE(again.scenes[0].volume);
  const VolumeEstimate &a = *record.scenes[0].volume, &b = *again.scenes[0].volume;
  EXPECT_EQ(b.noise.kind, NoiseKind::rician);
  EXPECT_EQ(b.noise.sigma, 1.0f / 3);
  EXPECT_EQ(b.level, 3);
  EXPECT_EQ(b.air, 2.9f);
  EXPECT_EQ(b.tissue, 3.1f);
  ASSERT_NE(b.noise.map, nullptr);
  EXPECT_EQ(*b.noise.map, *a.noise.map);
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string text = to_json(record);
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), instead);
    return text;
  };
  EXPECT_THROW((void)parse_noise(with("\"rician\"", "\"poisson\""), "a"), BadData);
  EXPECT_THROW((void)parse_noise(with("[3,1,2]", "[3,1,3]"), "a"), BadData);
  EXPECT_THROW((void)parse_noise(with("[3,1,2]", "[3,1,-2]"), "a"), BadData);
  EXPECT_THROW((void)parse_noise(with("[3,1,2]", "[3,1,1e30]"), "a"), BadData);
  EXPECT_THROW((void)parse_noise(with("6.5", "-6.5"), "a"), BadData);
  EXPECT_THROW((void)parse_noise(with("[60,50,40]", "7"), "a"), BadData);
}

// If any single byte is missing, the rest is rejected or still a valid record.
TEST(NoiseRecord, DamageIsReportedInOneLine) {
  const std::string text = to_json(coloured_record(false));
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string("[1]"), text.substr(0, text.size() / 2),
        std::string(R"({"lull noise":2,"layout":"yuv","scenes":[]})"),
        std::string(R"({"lull noise":1,"layout":"yuv","scenes":[]})"),
        std::string(R"({"lull noise":1,"layout":"cmyk","scenes":[{}]})"),
        std::string(R"({"lull noise":1,"layout":"yuv","scenes":[{"from":0}]})")}) {
    try {
      (void)parse_noise(bad, "camera.json");
      FAIL() << bad;
    } catch (const BadData& error) {
      EXPECT_THAT(error.what(), HasSubstr("camera.json"));
    }
  }
  for (std::size_t i = 0; i < text.size(); i += 13) {
    std::string cut = text;
    cut.erase(i, 1);
    try {
      (void)parse_noise(cut, "a");
    } catch (const BadData&) {
    }
  }
}

TEST(NoiseRecord, RejectsNewerFormatByName) {
  const std::string text = to_json(coloured_record(false));
  ASSERT_TRUE(text.starts_with("{\"lull noise\":1,"));  // the files of all versions so far
  const auto error_of = [&](const std::string& format) {
    try {
      (void)parse_noise("{\"lull noise\":" + format + text.substr(15), "a");
    } catch (const BadData& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(error_of("1"), "none");
  EXPECT_EQ(error_of("2"),
            "'a' has format 2 (this version of lull reads noise files up to format 1); use a newer "
            "version of lull");
  for (const std::string format : {"0", "-1", "1.5", "\"1\"", "null", "\"0.1.0\""})
    EXPECT_THAT(error_of(format), HasSubstr("format number is invalid")) << format;
}

TEST(NoiseRecord, RejectsDeepNesting) {
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  EXPECT_THROW((void)parse_noise(deep, "a"), BadData);
  EXPECT_THROW((void)parse_noise("{\"lull noise\":1,\"x\":" + deep + "}", "a"), BadData);
}

TEST(NoiseRecord, FilesAreCompleteAndNotReplaced) {
  const Folder folder;
  const std::string path = folder / "camera.json";
  write_noise(path, coloured_record(true), false);
  EXPECT_EQ(to_json(read_noise(path)), to_json(coloured_record(true)));
  EXPECT_THROW(write_noise(path, coloured_record(false), false), CannotCreate);
  write_noise(path, coloured_record(false), true);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"camera.json"});
  EXPECT_THROW((void)read_noise(folder / "none.json"), NoInput);
}

TEST(NoiseText, DescribesTheEstimate) {
  NoiseRecord record = coloured_record(false);
  record.scenes.resize(1);
  NoiseEstimate& estimate = record.scenes[0].estimate;
  EXPECT_EQ(describe(record),
            std::vector<std::string>{"coarse (3.9 at 8 px), Y 6.1 Cb 4.0 Cr 4.4 (8-bit levels), "
                                     "rises with brightness"});
  estimate.noise = NoiseModel({6, 4, 4});
  estimate.confidence = 0.62f;
  EXPECT_EQ(describe(record)[0], "white, Y 6.1 Cb 4.0 Cr 4.4 (8-bit levels), confidence 62 %");
  estimate.certain = false;
  estimate.why = "texture everywhere";
  EXPECT_EQ(describe(record)[0],
            "cannot tell (texture everywhere); assumed white, Y 6.1 Cb 4.0 Cr 4.4 (8-bit levels)");
  estimate = {};
  EXPECT_EQ(describe(record)[0], "none to speak of");
  estimate.noise = NoiseModel({20, 0, 0});
  estimate.level = {20, 0, 0};
  record.layout = Layout::gray;
  record.unit = 0.5;
  EXPECT_EQ(describe(record)[0], "white, 10 (the file's units)");
}

TEST(NoiseText, DescribesTheEstimateOfVolumes) {
  NoiseRecord record = volume_record();
  EXPECT_EQ(describe(record)[0],
            "Rician, 6 (the file's units), by background and tissue, 0.667 to 13 over the volume");
  VolumeEstimate& volume = *record.scenes[0].volume;
  volume.noise = {NoiseKind::gaussian, 3, 0, {}};
  volume.air = 0;
  record.unit = 0;
  EXPECT_EQ(describe(record)[0], "Gaussian, 3 (8-bit levels), by tissue");
  volume.certain = false;
  volume.why = "it contains structure everywhere";
  EXPECT_EQ(
      describe(record)[0],
      "cannot tell (it contains structure everywhere); assumed Gaussian, 3 (8-bit levels), by "
      "tissue");
  volume.noise.sigma = 0;
  EXPECT_EQ(describe(record)[0], "none to speak of");
}

TEST(NoiseText, DescribesTheStartOfEachScene) {
  const std::vector<std::string> lines = describe(coloured_record(false));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], HasSubstr("from 0 s: coarse"));
  EXPECT_THAT(lines[1], HasSubstr("s: cannot tell"));
}

TEST(NoisePlot, NamesThePartsOfStacks) {
  NoiseRecord record = coloured_record(false);
  record.scenes[0].name = "channel 1";
  record.scenes[1].name = "channel 2";
  const std::string svg = plot(record, "a.tif");
  EXPECT_THAT(svg, HasSubstr("a.tif, channel 2: level over brightness"));
  EXPECT_EQ(svg.find("from"), std::string::npos);
}

TEST(NoisePlot, IsWellFormedForAnyName) {
  const std::string svg = plot(coloured_record(true), "a<b>&\"c\".png");
  EXPECT_THAT(svg, HasSubstr("a&lt;b&gt;&amp;&quot;c&quot;.png"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme"));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  const Folder folder;
  write_bytes(folder / "plot.svg", svg);
  EXPECT_EQ(
      std::system((python() + " -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' " +
                   (folder / "plot.svg"))
                      .c_str()),
      0);
}

}  // namespace
}  // namespace lull::tools
