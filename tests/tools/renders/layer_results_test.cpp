// lull denoise of the layers and views of OpenEXR files: their features and noise, over time, and
// the properties of the file that are kept.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/renders/layer_test.h"

namespace lull::tools {
namespace {

class LayerResults : public LayerTest {};

TEST_F(LayerResults, ViewsUseTheirOwnFeatures) {
  const ExrChannels left = render("", "albedo.", 0, 1);
  const ExrChannels right = render("right.", "right.albedo.", 2, 2);
  const Words with_features{"--guide", "auto"};
  write("in.exr", joined({left, right}));
  const ExrChannels both = denoised("in.exr", with_features);
  // Each view equals a file with this view only.
  write("left.exr", left);
  write("right.exr", render("", "albedo.", 2, 2));
  const ExrChannels left_only = denoised("left.exr", with_features),
                    right_only = denoised("right.exr", with_features);
  for (const std::string c : colours) {
    EXPECT_EQ(both.at(c), left_only.at(c));
    EXPECT_EQ(both.at("right." + c), right_only.at(c));
  }
  // Surfaces of the left view are at other positions, so its albedo does not serve the right view.
  ExrChannels without = right;
  for (const char* c : colours) without.erase("right.albedo." + std::string(c));
  write("in.exr", joined({left, without}));
  const ExrChannels plain = denoised("in.exr", with_features);
  ExrChannels other = left;
  for (const char* c : colours)
    for (float& v : other.at("albedo." + std::string(c)).samples) v = 1.2f - v;
  write("in.exr", joined({other, without}));
  const ExrChannels changed = denoised("in.exr", with_features);
  for (const std::string c : colours) {
    EXPECT_NE(plain.at(c), changed.at(c));
    EXPECT_EQ(plain.at("right." + c), changed.at("right." + c));
    EXPECT_NE(plain.at("right." + c), without.at("right." + c));
    EXPECT_NE(plain.at("right." + c), both.at("right." + c));
  }
}

TEST_F(LayerResults, LayersUseFeaturesOfTheFileAndTheirOwnVariance) {
  const ExrChannels beauty = render("", "albedo.", 0, 1);
  ExrChannels diffuse = render("diffuse.", "unused.", 0, 2), variance;
  std::erase_if(diffuse, [](const auto& one) { return one.first.starts_with("unused"); });
  for (const char* c : colours)
    for (const float a : beauty.at("albedo." + std::string(c)).samples)
      variance[c].samples.push_back(0.09f * a * a);
  const auto with_variance = [&](const std::string& layer, float factor) {
    ExrChannels all = joined({beauty, diffuse});
    for (const auto& [c, channel] : variance)
      for (const float v : channel.samples) all[layer + c].samples.push_back(factor * v);
    return all;
  };
  const auto error = [&](const ExrChannels& channels, const std::string& layer) {
    double sum = 0;
    for (const std::string c : colours)
      for (std::size_t i = 0; i < layer_width * layer_height; ++i)
        sum += std::pow(channels.at(layer + c).samples[i] - beauty.at("albedo." + c).samples[i], 2);
    return sum;
  };
  write("in.exr", joined({beauty, diffuse}));
  const ExrChannels plain = denoised("in.exr", {"--guide", "auto"});
  EXPECT_LT(error(plain, "diffuse."), 0.1 * error(diffuse, "diffuse."));
  // The variance of the picture is not that of another layer.
  write("in.exr", with_variance("variance.", 100));
  const ExrChannels foreign = denoised("in.exr", {"--guide", "auto"});
  EXPECT_EQ(foreign.at("diffuse.G"), plain.at("diffuse.G"));
  EXPECT_NE(foreign.at("G"), plain.at("G"));
  for (const std::string own : {"diffuse_variance.", "diffuse_mse.", "diffuse.variance."}) {
    write("in.exr", with_variance(own, 1));
    const ExrChannels better = denoised("in.exr", {"--guide", "auto"});
    EXPECT_EQ(better.at("G"), plain.at("G")) << own;
    EXPECT_LT(error(better, "diffuse."), 0.97 * error(plain, "diffuse.")) << own;
  }
}

/// Light that the albedo has not coloured keeps no texture of it.
TEST_F(LayerResults, ReflectionsAreNotDividedByTheAlbedo) {
  const ExrChannels beauty = render("", "albedo.", 0, 1);
  const std::vector<std::string> names = {"specular.", "directSpecular.", "ViewLayer.GlossInd.",
                                          "coat_indirect."};
  ExrChannels all = joined({beauty, noisy("custom.")});
  for (const std::string& name : names) all.merge(noisy(name));
  write("in.exr", all);
  const ExrChannels clean = denoised("in.exr", {"--guide", "auto"});
  for (const std::string& name : names) {
    EXPECT_LT(error_of(clean, name), 0.2 * 0.05 * 0.05) << name;
    EXPECT_LT(error_of(clean, name), 0.8 * error_of(clean, "custom.")) << name;
  }
}

TEST_F(LayerResults, SequencesFilterEachLayerOverTime) {
  for (unsigned n = 0; n < 4; ++n) {
    const std::string number = std::to_string(n);
    write("in." + number + ".exr",
          joined({noisy("", {.seed = n}), noisy("right.", {.seed = n + 9})}));
    write("right." + number + ".exr", noisy("", {.seed = n + 9}));
  }
  for (const Words& more : {Words{"--sigma", "12.75"}, Words{}}) {
    const auto run = [&](const std::string& name, const char* radius) {
      Words all = more;
      all.insert(all.end(), {"--temporal", radius});
      const Outcome outcome = denoise(name + ".%d.exr", "out." + name + ".%d.exr", all);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      return read_exr_parts(folder_ / ("out." + name + ".2.exr")).at(0).channels;
    };
    const ExrChannels single = run("in", "0"), both = run("in", "1"), alone = run("right", "1");
    for (const std::string layer : {"", "right."})
      EXPECT_LT(error_of(both, layer), (more.empty() ? 1.1 : 0.8) * error_of(single, layer));
    for (const std::string c : colours) EXPECT_EQ(both.at("right." + c), alone.at(c));
  }
  // A part of the sequence has the same frames as the complete one.
  const Outcome complete =
      denoise("in.%d.exr", "out.%d.exr", {"--sigma", "12.75", "--temporal", "1"});
  ASSERT_EQ(complete.code, 0) << complete.err;
  const std::string expected = bytes_of(folder_ / "out.2.exr");
  const Outcome part = denoise("in.%d.exr", "part.%d.exr",
                               {"--sigma", "12.75", "--temporal", "1", "--frames", "2-2"});
  ASSERT_EQ(part.code, 0) << part.err;
  EXPECT_EQ(bytes_of(folder_ / "part.2.exr"), expected);
  const Outcome kept =
      denoise("in.%d.exr", "kept.exr", {"--sigma", "12.75", "--temporal", "1", "--keep", "2"});
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(bytes_of(folder_ / "kept.exr"), expected);
}

/// Parts of different sizes, types and compressions.
std::vector<ExrPart> varied_parts() {
  const ExrChannels half = noisy("", {.type = Imf::HALF});
  ExrPart beauty = part_of(half);
  beauty.name = "beauty";
  beauty.compression = Imf::DWAA_COMPRESSION;
  beauty.attributes = {{"artist", "a test"}, {"comments", "kept"}};
  ExrPart diffuse = part_of(noisy("", {.seed = 2, .type = Imf::HALF}));
  diffuse.name = "diffuse";
  diffuse.tiled = true;
  diffuse.compression = Imf::PIZ_COMPRESSION;
  diffuse.channels["A"] = {Imf::HALF, std::vector<float>(layer_width * layer_height, 0.5f)};
  diffuse.channels["id"] = {Imf::UINT, std::vector<float>(layer_width * layer_height, 77)};
  ExrPart specular = part_of(noisy("", {.seed = 3}));
  specular.name = "specular";  // it lies elsewhere
  specular.x = -8;
  specular.y = 5;
  specular.compression = Imf::PXR24_COMPRESSION;
  ExrPart depth = part_of({{"Z", noisy("", {.seed = 4}).at("R")}});
  depth.name = "depth";
  depth.compression = Imf::ZIPS_COMPRESSION;
  std::vector<ExrPart> parts{beauty, diffuse, specular, depth};
  for (ExrPart& part : parts) {  // all parts of a file have one display window
    part.shown_width = 80;
    part.shown_height = 50;
  }
  return parts;
}

TEST_F(LayerResults, PartsKeepTypesCompressionWindowsAndAttributes) {
  const std::vector<ExrPart> given = varied_parts();
  write_exr_parts(folder_ / "in.exr", given);
  const std::vector<ExrPart> before = read_exr_parts(folder_ / "in.exr");
  const Outcome outcome = denoise("in.exr", "clean.exr");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(last_text(outcome.err, "layers denoised: "),
            "beauty, diffuse, specular; copied: diffuse.id, depth");
  const std::vector<ExrPart> after = read_exr_parts(folder_ / "clean.exr");
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const ExrPart &a = before[i], &b = after[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.compression, b.compression) << a.name;
    EXPECT_EQ(a.tiled, b.tiled) << a.name;
    EXPECT_EQ(a.attributes, b.attributes) << a.name;
    EXPECT_EQ((std::vector{a.x, a.y, a.width, a.height, a.shown_width, a.shown_height}),
              (std::vector{b.x, b.y, b.width, b.height, b.shown_width, b.shown_height}));
    ASSERT_EQ(a.channels.size(), b.channels.size());
    for (const auto& [name, channel] : a.channels) {
      EXPECT_EQ(channel.type, b.channels.at(name).type) << a.name << name;
      const bool is_colour = name == "R" || name == "G" || name == "B";
      EXPECT_EQ(channel.samples != b.channels.at(name).samples, is_colour) << a.name << name;
    }
    if (i == 3) continue;
    EXPECT_LT(error_of(b.channels, ""), 0.3 * 0.05 * 0.05) << a.name;
  }
}

/// Compression with loss is kept only where it changes no copied channel.
TEST_F(LayerResults, LossyCompressionDoesNotChangeCopiedChannels) {
  for (const Imf::Compression compression :
       {Imf::DWAA_COMPRESSION, Imf::DWAB_COMPRESSION, Imf::B44_COMPRESSION}) {
    ExrPart part = part_of(
        joined({noisy("", {.type = Imf::HALF}), noisy("albedo.", {.seed = 2, .type = Imf::HALF})}));
    part.compression = compression;
    write_exr_parts(folder_ / "in.exr", {part});
    const ExrChannels before = read_exr_parts(folder_ / "in.exr").at(0).channels;
    const ExrChannels after = denoised("in.exr", {"--sigma", "12"});
    for (const std::string c : colours)
      EXPECT_EQ(after.at("albedo." + c), before.at("albedo." + c));
    EXPECT_LT(error_of(after, ""), 0.3 * 0.05 * 0.05);
  }
}

}  // namespace
}  // namespace lull::tools
