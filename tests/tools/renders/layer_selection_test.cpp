// lull denoise of the layers and views of OpenEXR files: which ones are denoised, and which ones
// the user selects.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/renders/layer_test.h"
#include "tools/support/clips.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

class LayerSelection : public LayerTest {};

TEST_F(LayerSelection, ViewsAndLayersAreDenoisedWithTheirOwnNoise) {
  ExrPart part = part_of(
      joined({noisy("", {.noise = 0.04f}), noisy("right.", {.noise = 0.08f, .shift = 3, .seed = 2}),
              noisy("diffuse.", {.noise = 0.02f, .seed = 3})}));
  part.views = {"left", "right"};
  write_exr_parts(folder_ / "in.exr", {part});
  for (const Words& more : {Words{}, Words{"--sigma", "10"}, Words{"--method", "nlm"}}) {
    const ExrChannels clean = denoised("in.exr", more);
    EXPECT_LT(error_of(clean, ""), 0.2 * 0.04 * 0.04);
    // A given level of 10/255 is half of the noise of this view.
    const double least = more.size() > 1 && more[0] == "--sigma" ? 0.8 : 0.2;
    EXPECT_LT(error_of(clean, "right.", 3), least * 0.08 * 0.08);
    EXPECT_LT(error_of(clean, "diffuse."), 0.5 * 0.02 * 0.02);
  }
  const Outcome outcome = denoise("in.exr", "clean.exr");
  EXPECT_EQ(last_text(outcome.err, "layers denoised: "), "left, diffuse, right");
}

TEST_F(LayerSelection, ViewsAreFoundByNamesAndByAttributes) {
  const ExrChannels left = noisy(""), right = noisy("", {.shift = 3, .seed = 2});
  for (const bool has_attributes : {true, false}) {
    ExrPart a = part_of(right), b = part_of(left);
    a.name = "rgba.right";
    b.name = "rgba.left";
    if (has_attributes) {
      a.view = "right";
      b.view = "left";
    }
    write_exr_parts(folder_ / "in.exr", {b, a});
    const Outcome outcome = denoise("in.exr", "clean.exr");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(last_text(outcome.err, "layers denoised: "), "rgba.left, rgba.right");
    const std::vector<ExrPart> parts = read_exr_parts(folder_ / "clean.exr");
    EXPECT_LT(error_of(parts.at(0).channels, ""), 0.2 * 0.05 * 0.05);
    EXPECT_LT(error_of(parts.at(1).channels, "", 3), 0.2 * 0.05 * 0.05);
    EXPECT_EQ(parts[1].view, a.view);
    // The name of a view selects its layers.
    const Outcome right = denoise("in.exr", "clean.exr", {"--layer", "Right"});
    ASSERT_EQ(right.code, 0) << right.err;
    EXPECT_EQ(last_text(right.err, "layers denoised: "), "rgba.right; copied: rgba.left");
  }
}

TEST_F(LayerSelection, DataAreNeverDenoised) {
  const Words names = {"CryptoObject00",
                       "uCryptoAsset01",
                       "cryptomatte",
                       "CRYPTOMATERIAL",
                       "user_name00",
                       "ObjectID",
                       "materialId",
                       "object_id",
                       "IndexOB",
                       "Depth",
                       "Z",
                       "worldPosition",
                       "P",
                       "UV",
                       "MotionVector",
                       "velocity",
                       "VELOCITY",
                       "N",
                       "Normals",
                       "albedo",
                       "variance",
                       "DiffCol",
                       "ViewLayer.Vector",
                       "numbers"};
  ExrChannels channels = noisy("");
  for (const std::string& name : names) {
    ExrChannels data = noisy(name + ".");
    for (auto& [full, channel] : data) {
      if (name != "numbers") continue;
      channel.type = Imf::UINT;
      for (float& v : channel.samples) v = std::round(100 + 100 * v);
    }
    channels.merge(data);
  }
  ExrPart part = part_of(channels);
  part.attributes["cryptomatte/0a1b2c3/name"] = "user_name";
  write_exr_parts(folder_ / "in.exr", {part});
  const Outcome outcome = denoise("in.exr", "clean.exr", {"--sigma", "12"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(last_text(outcome.err, "layers denoised: ").substr(0, 12), "RGB; copied:");
  const ExrChannels clean = read_exr_parts(folder_ / "clean.exr").at(0).channels;
  EXPECT_LT(error_of(clean, ""), 0.2 * 0.05 * 0.05);
  for (const std::string& name : names) {
    EXPECT_THAT(outcome.err, HasSubstr(name));
    for (const char* c : colours) {
      const std::string channel = name + "." + c;
      EXPECT_EQ(clean.at(channel), channels.at(channel)) << channel;
    }
  }
  expect_refused({"--layer", "uCryptoAsset01"}, 65, {"uCryptoAsset01", "not denoised"});
}

TEST_F(LayerSelection, FilesWithoutColoursAreRejected) {
  for (const char* layer : {"crypto00.", "N.", "motion."}) {
    write("in.exr", noisy(layer));
    expect_refused({"--sigma", "10"}, 65, {"in.exr"});
  }
}

TEST_F(LayerSelection, SingleChannelsOfAnyColourAreDenoised) {
  for (const std::string colour : colours) {
    const ExrChannels channels{{colour, noisy("").at(colour)}};
    write("in.exr", channels);
    EXPECT_NE(denoised("in.exr", {"--sigma", "10"}).at(colour), channels.at(colour)) << colour;
  }
}

TEST_F(LayerSelection, LayersAreSelectedByName) {
  const ExrChannels channels = joined({noisy(""),
                                       noisy("right.", {.seed = 2}),
                                       noisy("diffuse.", {.seed = 3}),
                                       {{"Z", noisy("", {.seed = 4}).at("R")}}});
  write("in.exr", channels);
  const auto changed = [&](const Words& more) {
    Words layers;
    const ExrChannels clean = denoised("in.exr", more);
    for (const char* layer : {"", "right.", "diffuse."})
      if (clean.at(layer + std::string("G")) != channels.at(layer + std::string("G")))
        layers.push_back(layer);
    EXPECT_EQ(clean.at("Z"), channels.at("Z"));
    return layers;
  };
  EXPECT_EQ(changed({}), (Words{"", "right.", "diffuse."}));
  EXPECT_EQ(changed({"--layer", "right"}), (Words{"right."}));
  EXPECT_EQ(changed({"--layer", "Diffuse,RGB"}), (Words{"", "diffuse."}));
  EXPECT_EQ(changed({"--layer", "diffuse", "--layer", "right"}), (Words{"right.", "diffuse."}));
  EXPECT_EQ(changed({"--layer", "left"}), (Words{"", "diffuse."}));  // the view
  const Outcome outcome = denoise("in.exr", "clean.exr", {"--layer", "right"});
  EXPECT_EQ(last_text(outcome.err, "layers denoised: "), "right; copied: RGB, diffuse");
  expect_refused({"--layer", "middle"}, 65, {"no layer middle", "RGB, diffuse, right"});
  expect_refused({"--layer", "right,specular"}, 65, {"no layer specular", "RGB, diffuse, right"});
}

TEST_F(LayerSelection, OtherOutputsHoldTheSelectedLayer) {
  write("in.exr", joined({noisy(""), noisy("right.", {.seed = 2})}));
  ASSERT_EQ(denoise("in.exr", "right.pfm", {"--layer", "right", "--sigma", "12"}).code, 0);
  const ExrChannels clean = denoised("in.exr", {"--sigma", "12"});
  const Frame picture = frames_of(folder_ / "right.pfm").at(0);
  for (int i = 0; i < layer_width * layer_height; ++i)
    ASSERT_EQ(picture.plane<float>(1)(i % layer_width, i / layer_width),
              clean.at("right.G").samples[static_cast<std::size_t>(i)]);
  expect_refused({"--layer", "right,RGB"}, 2, {"it holds one picture"}, "refused.pfm");
  write_pnm(folder_ / "in.exr", clean_picture({.width = 32, .height = 32}));
  expect_refused({"--layer", "right"}, 2, {"only OpenEXR files have layers"}, "refused.pgm");
}

TEST_F(LayerSelection, ProbePredictsTheLayers) {
  write("in.exr", joined({noisy(""), noisy("right.", {.seed = 2}), noisy("N.", {.seed = 3})}));
  for (const Words& more : {Words{}, Words{"--layer", "right"}}) {
    Words words{"probe", folder_ / "in.exr", "-o", folder_ / "clean.exr"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome probed = run_lull(words);
    ASSERT_EQ(probed.code, 0) << probed.err;
    const std::string predicted = last_text(probed.out, "layers    denoised: ");
    EXPECT_EQ(last_text(denoise("in.exr", "clean.exr", more).err, "layers denoised: "), predicted);
    EXPECT_EQ(predicted, more.empty() ? "RGB, right; copied: N" : "right; copied: RGB, N");
    words.push_back("--json");
    EXPECT_THAT(run_lull(words).out, HasSubstr(more.empty() ? R"("layers_denoised":["RGB","right"])"
                                                            : R"("layers_denoised":["right"])"));
  }
  const Outcome picture = run_lull({"probe", folder_ / "in.exr", "-o", folder_ / "clean.pfm"});
  EXPECT_THAT(picture.out, HasSubstr("the layer right (only OpenEXR"));
}

TEST_F(LayerSelection, SequencesWithAMissingLayerAreRejected) {
  const ExrChannels picture = render("", "albedo.", 0, 1);
  write("in.0.exr", joined({picture, noisy("right.", {.seed = 2})}));
  write("in.1.exr", picture);
  for (const Words& more : {Words{"--sigma", "10"}, Words{"--guide", "auto"}}) {
    const Outcome outcome = denoise("in.%d.exr", "out.%d.exr", more);
    EXPECT_EQ(outcome.code, 65) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("has no layer right"));
  }
}

TEST_F(LayerSelection, JobsInSegmentsDenoiseTheSelectedLayer) {
  for (unsigned n = 0; n < 6; ++n)
    write("in." + std::to_string(n) + ".exr",
          joined({noisy("", {.seed = n}), noisy("right.", {.seed = n + 9})}));
  const Words base{"--layer", "right", "--sigma", "10", "--pix-fmt", "gbrp12le", "--lossless"};
  ASSERT_EQ(denoise("in.%d.exr", "complete.mkv", base).code, 0);
  Words segments = base;
  segments.insert(segments.end(), {"--segment-frames", "2"});
  const Outcome outcome = denoise("in.%d.exr", "job.mkv", segments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<Frame> expected = frames_of(folder_ / "complete.mkv"),
                           made = frames_of(folder_ / "job.mkv");
  ASSERT_EQ(made.size(), expected.size());
  for (std::size_t i = 0; i < made.size(); ++i)
    for (int y = 0; y < layer_height; ++y)
      for (int x = 0; x < layer_width; ++x)
        ASSERT_EQ(made[i].plane<std::uint16_t>(0)(x, y), expected[i].plane<std::uint16_t>(0)(x, y));
  // The picture is another layer.
  ASSERT_EQ(
      denoise("in.%d.exr", "left.mkv", {"--sigma", "10", "--pix-fmt", "gbrp12le", "--lossless"})
          .code,
      0);
  EXPECT_NE(bytes_of(folder_ / "left.mkv"), bytes_of(folder_ / "complete.mkv"));
  // A job of another layer is not continued.
  const std::string job = folder_ / "other.mkv";
  Words killed{"denoise", folder_ / "in.%d.exr", job, "-y", "--device", "cpu"};
  killed.insert(killed.end(), segments.begin(), segments.end());
  (void)killed_in_job(killed, job);
  Words other{"denoise", folder_ / "in.%d.exr", job, "--device", "cpu", "--resume"};
  other.insert(other.end(), segments.begin() + 2, segments.end());
  const Outcome resumed = run_lull(other);
  EXPECT_EQ(resumed.code, 2) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("--layer"));
}

TEST_F(LayerSelection, NoiseAndPreviewShowTheSelectedLayer) {
  write("in.exr",
        joined({noisy("", {.noise = 0.02f}), noisy("right.", {.noise = 0.08f, .seed = 2})}));
  const Outcome first = run_lull({"noise", folder_ / "in.exr"}),
                right = run_lull({"noise", folder_ / "in.exr", "--layer", "right"});
  EXPECT_EQ(right.code, 0) << right.err;
  EXPECT_NE(first.out, right.out);
  EXPECT_THAT(right.out, ::testing::ContainsRegex("R (19|20|21)"));
  EXPECT_EQ(run_lull({"noise", folder_ / "in.exr", "--layer", "right,RGB"}).code, 2);
  // The first panel of a preview shows the samples before denoising.
  write("right.exr", noisy("", {.noise = 0.08f, .seed = 2}));
  const auto previewed = [&](const std::string& name, const Words& more) {
    Words words{"preview", folder_ / name, "-d", "cpu", "-y", "-o", folder_ / "p.png"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome preview = run_lull(words);
    EXPECT_EQ(preview.code, 0) << preview.err;
    const Frame picture = frames_of(folder_ / "p.png").at(0);
    std::vector<int> samples;
    for (int c = 0; c < 3; ++c)
      for (int y = 0; y < layer_height; ++y)
        for (int x = 0; x < layer_width; ++x)
          samples.push_back(picture.plane<std::uint8_t>(c)(x, y));
    return samples;
  };
  const auto expected = previewed("right.exr", {});
  EXPECT_EQ(previewed("in.exr", {"--layer", "right"}), expected);
  EXPECT_NE(previewed("in.exr", {}), expected);
}

}  // namespace
}  // namespace lull::tools
