#include "tools/wrap/features.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"
#include "io/layers.h"

namespace lull::tools {
namespace {

/// Returns the option's argument as on the command line, NAME=FILE, for messages.
std::string text_of(const SideInput& file) { return file.name + "=" + file.path; }

/// Converts the samples of a frame to floats. Integer samples become values of 0..1, and float
/// samples do not change.
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

class FeatureAttacher final : public Denoiser {
 public:
  FeatureAttacher(std::unique_ptr<Denoiser> denoiser, FeatureSources sources, std::int64_t from)
      : denoiser_(std::move(denoiser)), sources_(std::move(sources)) {
    for (FeatureSources::File& one : sources_.files)
      for (std::int64_t i = one.file.leading_frames + from; i > 0; --i) (void)next_of(one);
  }

  int latency() const noexcept override { return denoiser_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    auto features = std::make_shared<Features>();
    const std::vector<io::LayerInfo> all = io::layers_of(noisy);
    for (const FeatureLayer& one : sources_.layers.select(all)) {
      if (one.layer.channels.empty()) refuse_layer(noisy, one);
      (*features)[one.feature] =
          std::make_shared<const Frame>(io::read_layer(noisy, one.layer.name, one.layer.channels));
    }
    for (FeatureSources::File& one : sources_.files)
      (*features)[one.feature] = std::make_shared<const Frame>(next_of(one));
    const bool none = std::ranges::all_of(features->planes, [](const auto& f) { return !f; });
    if (none && !FeatureLayers::any(all)) refuse_names(noisy);
    noisy.features = std::move(features);
    return denoiser_->push(std::move(noisy));
  }
  std::optional<Frame> next() override { return denoiser_->next(); }
  std::optional<Frame> drain() override { return denoiser_->drain(); }

 private:
  [[noreturn]] void refuse_layer(const Frame& noisy, const FeatureLayer& choice) const {
    throw BadData("'" + sources_.input + "' has no layer " + choice.layer.name +
                  " with the channels and the size for " + option_of(choice.feature) + " (it has " +
                  io::layers_text(noisy) + "); give another name");
  }
  [[noreturn]] void refuse_names(const Frame& noisy) const {
    throw BadData("'" + sources_.input +
                  "' has no layer with a well-known name for --guide auto (it has " +
                  io::layers_text(noisy) + "); name them with --feature");
  }

  static Frame next_of(FeatureSources::File& one) {
    std::optional<Frame> frame = one.file.source->read();
    if (!frame)
      throw BadData(text_of(one.file) + " ends after " + std::to_string(one.read) +
                    " frames (the input has more); give a file of the same length");
    ++one.read;
    return as_floats(*frame);
  }

  std::unique_ptr<Denoiser> denoiser_;
  FeatureSources sources_;
};

void check_feature_file(const FeatureSources::File& one, const FrameFormat& input) {
  const FrameFormat& format = one.file.source->format();
  const std::string what = text_of(one.file);
  if (format.width != input.width || format.height != input.height)
    throw BadData(what + " has " + std::to_string(format.width) + "x" +
                  std::to_string(format.height) + " pixels, the input has " +
                  std::to_string(input.width) + "x" + std::to_string(input.height) +
                  "; give a file of the same size");
  const bool fits = one.feature == Feature::normal  ? format.layout == Layout::rgb
                    : one.feature == Feature::depth ? format.layout == Layout::gray
                                                    : format.layout != Layout::yuv;
  if (!fits)
    throw BadData(
        what + " has " + (format.planes() == 3 ? "three channels" : "one channel") +
        (format.layout == Layout::yuv ? " of YCbCr" : "") +
        " (a normal needs three channels, depth one, others are grey or RGB); convert it");
}

}  // namespace

FeatureSources open_features(const DenoiseOptions& given, const io::SourceOptions& options,
                             const io::MediaSource& input) {
  FeatureSources sources{.layers = FeatureLayers(given), .files = {}, .input = given.input.file};
  io::SourceOptions feature_options = options;
  feature_options.white = 1;
  for (const FeatureChoice& choice : given.method.features) {
    if (choice.file.empty()) continue;
    sources.files.push_back({choice.feature, open_side_input(option_of(choice.feature), choice.file,
                                                             given, feature_options)});
    check_feature_file(sources.files.back(), input.format());
  }
  return sources;
}

std::unique_ptr<Denoiser> featured(std::unique_ptr<Denoiser> denoiser, FeatureSources sources,
                                   FirstFrame first_frame) {
  return std::make_unique<FeatureAttacher>(std::move(denoiser), std::move(sources),
                                           first_frame.value_or(0));
}

}  // namespace lull::tools
