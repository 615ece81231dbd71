#include "tools/wrap/layer_sessions.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "io/layers.h"
#include "tools/repair/repair_plan.h"
#include "tools/sessions/memory_need.h"
#include "tools/wrap/bursts.h"
#include "tools/wrap/feature_layers.h"

namespace lull::tools {
namespace {

/// Returns the options of the run for a layer other than the main layer `picture`. The feature
/// buffers and the guide apply only to layers with the view and the data window of the main layer.
DenoiseOptions options_for(const DenoiseOptions& run, const io::LayerInfo& layer,
                           const io::LayerInfo& picture) {
  DenoiseOptions options = run;
  options.input.layers = {layer.label};
  options.noise.map.clear();
  const bool has_same_planes = layer.colours.size() == picture.colours.size();
  const bool has_same_place = layer.view == picture.view && layer.window == picture.window;
  if (uses_features(options.method)) {
    options.method.guide = "auto";
    std::erase_if(options.method.features, [&](const FeatureChoice& choice) {
      return !has_same_place || is_noise_feature(choice.feature);
    });
  } else if (!has_same_place || !has_same_planes) {
    options.method.guide.clear();
  }
  if (!has_same_planes) {
    options.noise.file.clear();
    options.noise.known.reset();
  }
  return options;
}

/// A denoiser that repairs the defects of a layer before the session filters the layer.
class RepairingDenoiser final : public Denoiser {
 public:
  RepairingDenoiser(std::unique_ptr<Denoiser> denoiser, const RepairPlan& plan,
                    const FrameFormat& format)
      : denoiser_(std::move(denoiser)), repairer_(plan, format) {}

  int latency() const noexcept override { return denoiser_->latency(); }
  std::optional<Frame> push(Frame noisy) override {
    return denoiser_->push(repairer_(std::move(noisy)));
  }
  std::optional<Frame> next() override { return denoiser_->next(); }
  std::optional<Frame> drain() override { return denoiser_->drain(); }

 private:
  std::unique_ptr<Denoiser> denoiser_;
  FrameRepairer repairer_;
};

}  // namespace

io::LayerChoice layers_to_read(const DenoiseOptions& options) {
  return [options](const std::vector<io::LayerInfo>& all) {
    std::vector<io::LayerName> names;
    const auto add_features = [&](const DenoiseOptions& of_layer) {
      if (const io::LayerChoice features = FeatureLayers(of_layer).choice())
        std::ranges::copy(features(all), std::back_inserter(names));
    };
    const auto picture = std::ranges::find_if(all, &io::LayerInfo::is_picture);
    if (options.input.layers.empty() && picture != all.end() && !picture->has_colours()) {
      add_features(options);  // if reading the picture fails, its error says more than a plan's
      return names;
    }
    const std::string& output = options.output.file;
    const std::string& format = options.output.format;
    const bool keeps = io::is_exr_name(format.empty() ? output : "." + format);
    const LayerPlan plan =
        plan_layers(all, options.input.layers, keeps || !options.input.layers.empty(),
                    options.input.file, options.output.file);
    for (std::size_t i = 0; i < plan.denoised.size(); ++i) {
      const io::LayerInfo& layer = plan.denoised[i];
      if (i > 0) names.push_back({layer.name, layer.colours});
      add_features(i > 0 ? options_for(options, layer, plan.denoised.front()) : options);
    }
    return names;
  };
}

LayerSession::LayerSession(const DenoiseOptions& options, const io::LayerInfo& layer,
                           const io::LayerInfo& picture)
    : options_(options_for(options, layer, picture)),
      layer_(layer),
      noise_(options_,
             [this](const std::string& text) { info_("layer " + layer_.label + ": " + text); }) {}

FrameFormat LayerSession::filtered_format() const {
  return tools::filtered_format(options_, format_);
}

void LayerSession::find_noise(const std::vector<bm3d::Backend>& backends, const Notify& info) {
  info_ = info;
  io::SourceOptions reading = source_options(options_, backends);
  reading.gpu.reset();
  source_ = io::open_source(options_.input.file, reading);
  format_ = source_->format();
  for (const std::string& note : source_->info().notes)
    info_("layer " + layer_.label + ": " + note);
  rescale_sigma(options_, source_->info().values);
  side_inputs_ = SideInputs(options_, reading, *source_);
  noise_.find(*source_);
  noise_.use_known_scenes(source_->info());
  if (!has_guide_file(options_.method) && !options_.method.align) source_.reset();
}

double LayerSession::memory(const std::vector<bm3d::Backend>& backends) const {
  return static_cast<double>(host_memory({noise_.plan().method(), format_, backends}));
}

void LayerSession::open(const std::vector<bm3d::Backend>& backends, const Notify& notify) {
  opened_ = open_sessions(options_, noise_.plan(), filtered_format(), backends, notify);
}

void LayerSession::select_frames(const std::vector<io::FrameRange>& ranges, ContextEnd* context_end,
                                 std::size_t first_session, const Notify& notify) {
  tools::select_frames(opened_, ranges, noise_.plan(), filtered_format(), context_end, notify,
                       first_session);
}

LayerDenoiser LayerSession::denoiser() {
  auto denoiser = merge_fields(std::move(opened_), noise_.plan(), format_);
  if (options_.method.align)
    denoiser = aligned(std::move(denoiser), options_, noise_.plan().method(), *source_);
  denoiser = side_inputs_.attach_to(std::move(denoiser));
  source_.reset();
  if (!noise_.repair().none())
    denoiser = std::make_unique<RepairingDenoiser>(std::move(denoiser), noise_.repair(), format_);
  return {{layer_.name, layer_.colours}, format_, std::move(denoiser)};
}

LayerSessions::LayerSessions(const DenoiseOptions& options, const LayerPlan& plan) {
  for (std::size_t i = 1; i < plan.denoised.size(); ++i)
    layers_.push_back(
        std::make_unique<LayerSession>(options, plan.denoised[i], plan.denoised.front()));
}

void LayerSessions::find_noise(const std::vector<bm3d::Backend>& backends, const Notify& info) {
  for (const auto& layer : layers_) layer->find_noise(backends, info);
}

double LayerSessions::memory(const std::vector<bm3d::Backend>& backends) const {
  double bytes = 0;
  for (const auto& layer : layers_) bytes += layer->memory(backends);
  return bytes;
}

void LayerSessions::open(const std::vector<bm3d::Backend>& backends, const Notify& notify) {
  for (const auto& layer : layers_) layer->open(backends, notify);
}

std::size_t LayerSessions::sessions() const {
  std::size_t count = 0;
  for (const auto& layer : layers_) count += layer->sessions();
  return count;
}

void LayerSessions::select_frames(const std::vector<io::FrameRange>& ranges,
                                  ContextEnd* context_end, std::size_t first_session,
                                  const Notify& notify) {
  for (const auto& layer : layers_) {
    layer->select_frames(ranges, context_end, first_session, notify);
    first_session += layer->sessions();
  }
}

std::unique_ptr<Denoiser> LayerSessions::attach_to(std::unique_ptr<Denoiser> picture) {
  std::vector<LayerDenoiser> denoisers;
  for (const auto& layer : layers_) denoisers.push_back(layer->denoiser());
  return layered(std::move(picture), std::move(denoisers));
}

}  // namespace lull::tools
