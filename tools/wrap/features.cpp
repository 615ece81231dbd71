#include "tools/wrap/features.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"
#include "io/layers.h"

namespace lull::tools {
namespace {

using LayerNames = std::span<const std::string_view>;
using ChannelNames = std::vector<std::string>;

/// LayerNames of layers, without what stands before the last dot (a view layer), in any case: those
/// that OIDN's loader knows, and Blender, Arnold and RenderMan write.
constexpr std::string_view albedo_names[] = {"albedo", "denoising albedo", "diffcol",
                                             "denoise_albedo", "diffuse_albedo"};
constexpr std::string_view normal_names[] = {"normal", "denoising normal", "n", "normals",
                                             "denoise_normal"};
constexpr std::string_view depth_names[] = {"depth", "denoising depth", "zfiltered", "z"};
constexpr std::string_view variance_names[] = {"variance", "denoising variance", "mse"};
constexpr std::string_view half_a_names[] = {"halfa", "half_a"};
constexpr std::string_view half_b_names[] = {"halfb", "half_b"};
constexpr std::array<LayerNames, feature_count> known_names = {
    albedo_names, normal_names, depth_names, variance_names, half_a_names, half_b_names};

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

bool has_channels(const io::LayerName& layer, const ChannelNames& channels) {
  return std::ranges::all_of(channels, [&](const std::string& wanted) {
    return std::ranges::any_of(layer.channels, [&](const std::string& channel) {
      return lower_case(channel) == lower_case(wanted);
    });
  });
}

/// The channels of a layer that a feature is made of; empty: it has none.
ChannelNames channels_of(const io::LayerName& layer, Feature feature) {
  if (feature == Feature::depth) {
    for (const char* one : {"Z", "V", "Y", "R"})
      if (has_channels(layer, {one})) return {one};
  } else {
    if (feature == Feature::normal && has_channels(layer, {"X", "Y", "Z"})) return {"X", "Y", "Z"};
    if (has_channels(layer, {"R", "G", "B"})) return {"R", "G", "B"};
    if (has_channels(layer, {"X", "Y", "Z"})) return {"X", "Y", "Z"};
  }
  if (layer.channels.size() == 1 && feature != Feature::normal) return layer.channels;
  return {};
}

/// The layer of a name that renderers give to this feature; null: there is none.
const io::LayerName* find_by_names(const std::vector<io::LayerName>& layers, Feature feature) {
  for (const std::string_view name : known_names[static_cast<std::size_t>(feature)])
    for (const io::LayerName& layer : layers)
      if (lower_case(layer.name.substr(layer.name.rfind('.') + 1)) == name &&
          !channels_of(layer, feature).empty())
        return &layer;
  if (feature != Feature::depth) return nullptr;
  for (const io::LayerName& layer : layers)  // Z beside R, G and B
    if (layer.name.empty() && has_channels(layer, {"Z"}) && layer.channels.size() > 1)
      return &layer;
  return nullptr;
}

/// As it was given.
std::string text_of(const Beside& file) { return file.name + "=" + file.path; }

/// A frame of any samples as floats on the scale of its file.
Frame as_floats(const Frame& frame) {
  if (frame.format.sample == SampleType::f32) return frame;
  FrameFormat format = frame.format;
  format.sample = SampleType::f32;
  format.bits = 32;
  format.white = 1;
  Frame floats = FramePool(format).acquire();
  for (int i = 0; i < format.planes(); ++i) {
    const PlaneView<float> to = floats.plane<float>(i);
    load_plane(frame, i, to);
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x) to(x, y) /= 255;
  }
  return floats;
}

class FeatureGiver final : public Denoiser {
 public:
  FeatureGiver(std::unique_ptr<Denoiser> denoiser, FeatureSources sources, std::int64_t from)
      : denoiser_(std::move(denoiser)), sources_(std::move(sources)) {
    for (FeatureSources::One& one : sources_.given)
      for (std::int64_t i = one.file ? one.file->early + from : 0; i > 0; --i) (void)next_of(one);
  }

  int latency() const noexcept override { return denoiser_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    auto features = std::make_shared<Features>();
    if (sources_.by_names) take_by_names(noisy, *features);
    for (FeatureSources::One& one : sources_.given)
      (*features)[one.feature] = std::make_shared<const Frame>(
          one.file ? next_of(one) : layer_of(noisy, one.feature, one.layer));
    noisy.features = std::move(features);
    return denoiser_->push(std::move(noisy));
  }
  std::optional<Frame> next() override { return denoiser_->next(); }
  std::optional<Frame> drain() override { return denoiser_->drain(); }

 private:
  void take_by_names(const Frame& noisy, Features& features) const {
    const std::vector<io::LayerName> layers = io::layers_of(noisy);
    bool any = !sources_.given.empty();
    for (int f = 0; f < feature_count; ++f) {
      const auto feature = static_cast<Feature>(f);
      const io::LayerName* layer = find_by_names(layers, feature);
      if (!layer) continue;
      any = true;
      features[feature] = std::make_shared<const Frame>(
          io::read_layer(noisy, layer->name, channels_of(*layer, feature)));
    }
    if (!any)
      throw BadData("'" + sources_.input +
                    "' has no features that --guide auto knows by name (it " + "has " +
                    io::layers_text(noisy) + "); name them with --feature");
  }

  Frame layer_of(const Frame& noisy, Feature feature, const std::string& wanted) const {
    const std::vector<io::LayerName> layers = io::layers_of(noisy);
    const io::LayerName* found = nullptr;
    for (const io::LayerName& layer : layers)
      if (layer.name == wanted) found = &layer;
    if (!found || channels_of(*found, feature).empty())
      throw BadData("'" + sources_.input + "' has no layer " + wanted + " for " +
                    option_of(feature) + " (it has " + io::layers_text(noisy) +
                    "); name another");
    return io::read_layer(noisy, found->name, channels_of(*found, feature));
  }

  static Frame next_of(FeatureSources::One& one) {
    std::optional<Frame> frame = one.file->source->read();
    if (!frame)
      throw BadData(text_of(*one.file) + " ends after " + std::to_string(one.read) +
                    " frames (the input goes on); give one of the same length");
    ++one.read;
    return as_floats(*frame);
  }

  std::unique_ptr<Denoiser> denoiser_;
  FeatureSources sources_;
};

void check_feature_file(const FeatureSources::One& one, const FrameFormat& input) {
  const FrameFormat& own = one.file->source->format();
  const std::string what = text_of(*one.file);
  if (own.width != input.width || own.height != input.height)
    throw BadData(what + " is of " + std::to_string(own.width) + "x" + std::to_string(own.height) +
                  " pixels, the input of " + std::to_string(input.width) + "x" +
                  std::to_string(input.height) + "; give one of the same size");
  const bool fits = one.feature == Feature::normal  ? own.layout == Layout::rgb
                    : one.feature == Feature::depth ? own.layout == Layout::gray
                                                    : own.layout != Layout::yuv;
  if (!fits)
    throw BadData(what + " has " + (own.planes() == 3 ? "three channels" : "one channel") +
                  (own.layout == Layout::yuv ? " of YCbCr" : "") +
                  " (a normal has three, depth one, others are grey or RGB); convert it");
}

}  // namespace

FeatureSources open_features(const DenoiseOptions& given, const io::SourceOptions& options,
                             const io::MediaSource& input) {
  FeatureSources sources{.by_names = given.guide == "auto", .input = given.input};
  for (const FeatureChoice& choice : given.features) {
    FeatureSources::One one{.feature = choice.feature, .layer = choice.layer};
    if (choice.layer.empty()) {
      io::SourceOptions own = options;
      own.white = 1;
      one.file = open_beside(option_of(choice.feature), choice.file, given, own);
      check_feature_file(one, input.format());
    }
    sources.given.push_back(std::move(one));
  }
  return sources;
}

std::unique_ptr<Denoiser> featured(std::unique_ptr<Denoiser> denoiser, FeatureSources sources,
                                   PartFrom part_from) {
  return std::make_unique<FeatureGiver>(std::move(denoiser), std::move(sources),
                                        part_from.value_or(0));
}

}  // namespace lull::tools
