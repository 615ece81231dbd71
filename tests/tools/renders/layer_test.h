#pragma once
// Pictures with layers for the tests of lull denoise.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tools/support/exr.h"
#include "tools/support/program.h"

namespace lull::tools {

using Words = std::vector<std::string>;

inline constexpr int layer_width = 64, layer_height = 48;
inline constexpr const char* colours[] = {"R", "G", "B"};

inline float clean_at(int x, int y, float shift) {
  return 0.45f + 0.2f * std::sin((static_cast<float>(x) + shift) / 9) +
         0.1f * std::cos(static_cast<float>(y) / 7);
}

inline float checks_at(int x, int y, int shift) {
  return ((x + shift) / 4 + y / 4) % 2 == 0 ? 0.9f : 0.3f;
}

struct Picture {
  float noise = 0.05f, shift = 0;
  unsigned seed = 1;
  Imf::PixelType type = Imf::FLOAT;
};

inline ExrChannels noisy(const std::string& layer, const Picture& picture = {}) {
  std::mt19937 random(picture.seed);
  std::normal_distribution<float> gauss;
  ExrChannels channels;
  for (const char* c : colours) {
    ExrChannel& channel = channels[layer + c];
    channel.type = picture.type;
    for (int i = 0; i < layer_width * layer_height; ++i)
      channel.samples.push_back(clean_at(i % layer_width, i / layer_width, picture.shift) +
                                picture.noise * gauss(random));
  }
  return channels;
}

/// Returns a render of light on a checked surface. `albedo` shows the same surface.
inline ExrChannels render(const std::string& layer, const std::string& albedo, int shift,
                          unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> gauss;
  ExrChannels channels;
  for (const char* c : colours)
    for (int i = 0; i < layer_width * layer_height; ++i) {
      const float a = checks_at(i % layer_width, i / layer_width, shift);
      channels[layer + c].samples.push_back(a + 0.3f * a * gauss(random));
      channels[albedo + c].samples.push_back(a);
    }
  return channels;
}

inline ExrChannels joined(const std::vector<ExrChannels>& all) {
  ExrChannels channels;
  for (const ExrChannels& one : all) channels.insert(one.begin(), one.end());
  return channels;
}

inline ExrPart part_of(ExrChannels channels) {
  return {.name = "",
          .view = "",
          .channels = std::move(channels),
          .width = layer_width,
          .height = layer_height};
}

/// Returns the mean squared error of a layer.
inline double error_of(const ExrChannels& channels, const std::string& layer, float shift = 0) {
  double sum = 0;
  for (const char* c : colours)
    for (int i = 0; i < layer_width * layer_height; ++i) {
      const float d = channels.at(layer + c).samples[static_cast<std::size_t>(i)] -
                      clean_at(i % layer_width, i / layer_width, shift);
      sum += static_cast<double>(d * d);
    }
  return sum / (3 * layer_width * layer_height);
}

/// Returns the text after `key` on the last line of `err`.
inline std::string last_text(const std::string& err, const std::string& key) {
  const std::size_t at = err.rfind(key);
  if (at == std::string::npos) return "none";
  const std::size_t from = at + key.size();
  return err.substr(from, err.find('\n', from) - from);
}

/// Runs the command on files of its folder.
class LayerTest : public ::testing::Test {
 protected:
  Outcome denoise(const std::string& from, const std::string& to, const Words& more = {}) const {
    Words words{"denoise", folder_ / from, folder_ / to, "-y",         "--device",
                "cpu",     "--threads",    "2",          "--progress", "none"};
    words.insert(words.end(), more.begin(), more.end());
    return run_lull(words);
  }
  ExrChannels denoised(const std::string& from, const Words& more = {}) const {
    const Outcome outcome = denoise(from, "clean.exr", more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return read_exr_parts(folder_ / "clean.exr").at(0).channels;
  }
  void expect_refused(const Words& more, int code, const Words& texts,
                      const std::string& to = "refused.exr") const {
    const Outcome outcome = denoise("in.exr", to, more);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    for (const std::string& text : texts) EXPECT_THAT(outcome.err, ::testing::HasSubstr(text));
    for (const std::string& name : folder_.names()) EXPECT_NE(name, to);
  }
  void write(const std::string& name, const ExrChannels& channels) const {
    write_exr_parts(folder_ / name, {part_of(channels)});
  }
  Folder folder_;
};

}  // namespace lull::tools
